import { deprecate } from 'node:util';

import type { TransformerKind } from '../schemas/pipeline/transformer-params.ts';
import { type Column, Table } from '../table/index.ts';

/** Emits a DeprecationWarning, once per process. */
const warnOfIteration = deprecate(
  () => undefined,
  'Unpacking a PipelineResult is deprecated; use result.data, result.metadata and result.sampleWeight.',
  'EVENHAND_PIPELINE_RESULT_ITERATION',
);

/** The changes that one step made to the data. */
export interface StepRecord {
  readonly name: string;
  readonly transformer: TransformerKind;
  /** Columns that the step removed. */
  readonly columnsDropped: readonly string[];
  /** Columns whose values the step changed. */
  readonly columnsChanged: readonly string[];
  /** Whether the step assigned weights to rows. */
  readonly weighs: boolean;
  /** Warnings from fitting the step and from applying it to rows. */
  readonly warnings: readonly string[];
}

/** A description of a pipeline's run. */
export interface PipelineMetadata {
  readonly rows: number;
  readonly columnsIn: readonly string[];
  readonly columnsOut: readonly string[];
  /** Whether the pipeline was fitted on the rows of this result. */
  readonly fittedHere: boolean;
  readonly steps: readonly StepRecord[];
}

/** The output of a pipeline. The object is frozen. */
export class PipelineResult<Data = unknown> {
  /** The transformed rows. The rows have the same order and the same type as the input. */
  readonly data: Data;
  readonly metadata: PipelineMetadata;
  /** One weight per row, with mean 1 over the training rows; null if no step assigns weights. */
  readonly sampleWeight: Float64Array | null;
  /** The names of the steps, in order. */
  readonly transformersApplied: readonly string[];

  constructor(data: Data, metadata: PipelineMetadata, sampleWeight: Float64Array | null) {
    this.data = data;
    this.metadata = metadata;
    this.sampleWeight = sampleWeight;
    this.transformersApplied = Object.freeze(metadata.steps.map(({ name }) => name));
    Object.freeze(this);
  }

  /**
   * Iterates over data and metadata. This method exists because a result was a pair of data and metadata in earlier
   * versions.
   * @yields the data, then the metadata
   * @deprecated use `result.data`, `result.metadata` and `result.sampleWeight`
   */
  *[Symbol.iterator](): IterableIterator<Data | PipelineMetadata> {
    warnOfIteration();
    yield this.data;
    yield this.metadata;
  }
}

/**
 * If there are weights, adds a column of weights to a table. The column is named `sample_weight`. If the table already
 * has a column with that name, a number is appended.
 */
export function withWeights(table: Table, weights: Float64Array | null): Table {
  if (weights === null) return table;
  const column: Column = { kind: 'numeric', values: weights };
  return Table.ofColumns([
    ...table.columnNames.map((own) => [own, table.column(own)] as const),
    [weightColumnName(table.columnNames), column],
  ]);
}

/** Returns the name of the column of weights, which no other column has. */
export function weightColumnName(columns: readonly string[]): string {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let name = 'sample_weight';
  for (let number = 2; taken.has(name); number++) name = `sample_weight_${String(number)}`;
  return name;
}

import type { TransformerKind } from '../schemas/pipeline/transformer-params.ts';
import { type Column, Table } from '../table/index.ts';

/** What has been warned of, so that each is told once. */
const told = new Set<string>();

/** Emits a DeprecationWarning, once per process for each code. */
function deprecate(code: string, message: string): void {
  if (told.has(code)) return;
  told.add(code);
  process.emitWarning(message, 'DeprecationWarning', code);
}

/** What one step did to the data. */
export interface StepRecord {
  readonly name: string;
  readonly transformer: TransformerKind;
  /** Columns that were there before the step and are gone. */
  readonly columnsDropped: readonly string[];
  /** Columns whose values the step changed. */
  readonly columnsChanged: readonly string[];
  /** Whether the step gave rows weights. */
  readonly weighs: boolean;
  /** What a reader should know of the step: of its fit, and of the rows that it was just applied to. */
  readonly warnings: readonly string[];
}

/** What a pipeline did. */
export interface PipelineMetadata {
  readonly rows: number;
  readonly columnsIn: readonly string[];
  readonly columnsOut: readonly string[];
  /** Whether the pipeline was fitted on these very rows. */
  readonly fittedHere: boolean;
  readonly steps: readonly StepRecord[];
}

/** What a pipeline made of rows. Frozen. */
export class PipelineResult<Data = unknown> {
  /** The transformed rows, in the order and of the kind that was given. */
  readonly data: Data;
  readonly metadata: PipelineMetadata;
  /** One weight per row, mean 1 over the rows fitted; null where no step weighs. */
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
   * Data and metadata, as results once were.
   * @yields the data, then the metadata
   * @deprecated use `result.data`, `result.metadata` and `result.sampleWeight`
   */
  *[Symbol.iterator](): IterableIterator<Data | PipelineMetadata> {
    deprecate(
      'EVENHAND_PIPELINE_RESULT_ITERATION',
      'Unpacking a PipelineResult is deprecated; use result.data, result.metadata and result.sampleWeight.',
    );
    yield this.data;
    yield this.metadata;
  }
}

/** A table with a column of weights, where there are any: `sample_weight`, or with a number where that is taken. */
export function withWeights(table: Table, weights: Float64Array | null): Table {
  if (weights === null) return table;
  const taken = new Set(table.columnNames.map((name) => name.toLowerCase()));
  let name = 'sample_weight';
  for (let number = 2; taken.has(name); number++) name = `sample_weight_${String(number)}`;
  const column: Column = { kind: 'numeric', values: weights };
  return Table.ofColumns([...table.columnNames.map((own) => [own, table.column(own)] as const), [name, column]]);
}

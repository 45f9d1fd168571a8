import { DataValidationError, FairnessToolkitError, PipelineExecutionError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions } from '../internal/arguments.ts';
import { type Column, type DanfoDataFrame, readTable, Table, type TableSource } from '../table/index.ts';
import { type PipelineJson, readPipelineJson } from './pipeline-json.ts';
import { type PipelineMetadata, PipelineResult, type StepRecord } from './pipeline-result.ts';
import { transformerFromJson } from './transformers/registry.ts';
import {
  type TransformedRows,
  type Transformer,
  TRANSFORMER_FIT_OPTION_NAMES,
  type TransformerFitOptions,
} from './transformers/transformer.ts';

/** The type of a pipeline's output rows, which matches the type of its input. */
export type DataLike<Source extends TableSource> = Source extends DanfoDataFrame ? DanfoDataFrame : Table;

/** A function that applies a step. The function may fit the step first. */
type ApplyStep = (step: PipelineStep, table: Table, weights: Float64Array | null) => Promise<TransformedRows>;

/** The data between two steps. */
interface Passage {
  readonly table: Table;
  readonly weights: Float64Array | null;
  readonly records: readonly StepRecord[];
}

/**
 * A sequence of steps that change data before training. `fit` learns only from training rows. `transform` applies the
 * fitted steps to any rows with the same columns. The weights from several steps are multiplied. Each step is fitted on
 * rows that have the weights from all earlier steps. The product of the weights has mean 1 over the training rows. A
 * pipeline without steps leaves the data unchanged.
 *
 * The steps limit associations in the data, and information is lost. To find out whether a pipeline brings the
 * decisions of a model closer to parity, measure the decisions with a metric.
 * @example
 * ```ts
 * import { sampleData } from 'evenhand';
 * import { FairnessPipeline, ReweighingTransformer } from 'evenhand/pipeline';
 *
 * const reweigh = new ReweighingTransformer({ sensitive: 'gender', label: 'wage_above_median' });
 * const pipeline = new FairnessPipeline([{ name: 'reweigh', transformer: reweigh }]);
 * const { data, sampleWeight } = await pipeline.fitTransform(sampleData('cps-wages'));
 * console.log(data.rowCount, sampleWeight?.length);
 * // 534 534
 * ```
 */
export class FairnessPipeline {
  readonly steps: readonly PipelineStep[];
  /**
   * The factor by which the product of the steps' weights is multiplied, so that the weights have mean 1; undefined
   * before `fit`.
   */
  #weightScale: number | undefined;

  /** @throws {ValueError} if two steps have the same name */
  constructor(steps: readonly PipelineStep[]) {
    const names = steps.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) {
      throw new ValueError(`The steps parameter must have a unique name for every step. Got '${twice}' twice.`, {
        context: { parameter: 'steps', value: names },
        suggestion: 'Rename one of the two steps.',
      });
    }
    this.steps = Object.freeze(steps.map((step) => Object.freeze({ ...step })));
  }

  /** Whether the pipeline has been fitted. */
  get isFitted(): boolean {
    return this.#weightScale !== undefined;
  }

  /**
   * Warnings about the training rows and about the rows that were transformed last. Each warning includes the name of
   * its step.
   */
  get warnings(): readonly string[] {
    return this.steps.flatMap(({ name, transformer }) => transformer.warnings.map((text) => `${name}: ${text}`));
  }

  /**
   * Fits the steps on training rows. If fitting fails, the pipeline is not fitted.
   * @throws {PipelineExecutionError} if a step fails; the error contains the step's name, its index from 0 and the
   *   cause
   */
  async fit(data: TableSource, options: TransformerFitOptions = {}): Promise<this> {
    assertKnownOptions('FairnessPipeline.fit', options, TRANSFORMER_FIT_OPTION_NAMES);
    await this.#fit(await readTable(data), options);
    return this;
  }

  /**
   * Applies the fitted steps. The result has the same type as the input.
   * @throws {PipelineExecutionError} if the pipeline has not been fitted, or if a step fails
   */
  async transform<Source extends TableSource>(data: Source): Promise<PipelineResult<DataLike<Source>>> {
    const scale = this.#weightScale;
    if (scale === undefined) {
      throw new PipelineExecutionError('The pipeline has not been fitted.', {
        suggestion: 'Call fit with the training rows first.',
      });
    }
    const table = await readTable(data);
    const passage = await this.#pass(table, ({ transformer }, rows) => transformer.transform(rows));
    return this.#result(data, table, passage, scale, false);
  }

  /** Fits the steps on training rows, and transforms the same rows. */
  async fitTransform<Source extends TableSource>(
    data: Source,
    options: TransformerFitOptions = {},
  ): Promise<PipelineResult<DataLike<Source>>> {
    assertKnownOptions('FairnessPipeline.fitTransform', options, TRANSFORMER_FIT_OPTION_NAMES);
    const table = await readTable(data);
    const { passage, scale } = await this.#fit(table, options);
    return this.#result(data, table, passage, scale, true);
  }

  /** Returns the steps and their fitted state as plain data. */
  toJSON(): PipelineJson {
    return {
      kind: 'fairness_pipeline',
      steps: this.steps.map(({ name, transformer }) => ({ name, transformer: transformer.toJSON() })),
      weight_scale: this.#weightScale ?? null,
    };
  }

  /**
   * Restores a pipeline from the output of `toJSON`.
   * @throws {DataValidationError} if the data is not the output of `toJSON`
   */
  static fromJSON(json: unknown): FairnessPipeline {
    const { steps, weight_scale: scale } = readPipelineJson(json);
    const pipeline = new FairnessPipeline(
      steps.map(({ name, transformer }) => ({ name, transformer: transformerFromJson(transformer) })),
    );
    pipeline.#weightScale = scale ?? undefined;
    return pipeline;
  }

  async #fit(table: Table, options: TransformerFitOptions): Promise<{ passage: Passage; scale: number }> {
    this.#weightScale = undefined;
    assertRows(table);
    const passage = await this.#pass(
      table,
      async ({ transformer }, rows, weights) => {
        options.signal?.throwIfAborted();
        await transformer.fit(rows, {
          ...options,
          sampleWeight: multiplyWeights(options.sampleWeight, weights) ?? undefined,
        });
        return transformer.transform(rows);
      },
      options,
    );
    const scale = passage.weights === null ? 1 : scaleOf(passage.weights, options.sampleWeight);
    this.#weightScale = scale;
    return { passage, scale };
  }

  async #pass(table: Table, apply: ApplyStep, { onProgress, signal }: TransformerFitOptions = {}): Promise<Passage> {
    let passage: Passage = { table, weights: null, records: [] };
    for (const [index, step] of this.steps.entries()) {
      const { table: before, weights, records } = passage;
      try {
        const after = await apply(step, before, weights);
        passage = {
          table: after.table,
          weights: multiplyWeights(weights, after.sampleWeight),
          records: [...records, recordOf(step, before, after)],
        };
      } catch (cause) {
        // If the run was aborted, the error is not reported as a failed step.
        if (signal?.aborted === true) throw cause;
        throw stepFailed(step, index, cause);
      }
      onProgress?.({ stage: `pipeline: ${step.name}`, done: index + 1, total: this.steps.length });
    }
    return passage;
  }

  async #result<Source extends TableSource>(
    source: Source,
    before: Table,
    { table, weights, records }: Passage,
    scale: number,
    fittedHere: boolean,
  ): Promise<PipelineResult<DataLike<Source>>> {
    const metadata: PipelineMetadata = Object.freeze({
      rows: table.rowCount,
      columnsIn: before.columnNames,
      columnsOut: table.columnNames,
      fittedHere,
      steps: Object.freeze(records),
    });
    const data = isFrame(source) ? await table.toDanfo() : table;
    return new PipelineResult(data as DataLike<Source>, metadata, weights?.map((weight) => weight * scale) ?? null);
  }
}

function assertRows({ rowCount }: Table): void {
  if (rowCount > 0) return;
  throw new DataValidationError('The data have no rows, so the pipeline cannot be fitted.', {
    code: 'empty-data',
    suggestion: 'Provide at least a few dozen rows.',
  });
}

function isFrame(source: TableSource): source is DanfoDataFrame {
  return !(source instanceof Table) && 'column' in source && typeof source.column === 'function';
}

function stepFailed({ name, transformer }: PipelineStep, index: number, cause: unknown): PipelineExecutionError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const suggestion = FairnessToolkitError.isInstance(cause) ? cause.suggestion : undefined;
  return new PipelineExecutionError(`Step ${String(index + 1)}, '${name}' (${transformer.kind}), failed: ${reason}`, {
    context: { step: name, index, transformer: transformer.kind },
    ...(suggestion === undefined ? {} : { suggestion }),
    cause,
  });
}

/** Multiplies two sets of weights. Returns null if there are no weights. */
function multiplyWeights(a: ArrayLike<number> | null | undefined, b: Float64Array | null): Float64Array | null {
  if (a === null || a === undefined) return b;
  return Float64Array.from(a, (weight, row) => weight * (b === null ? 1 : (b[row] as number)));
}

/**
 * Returns the factor that scales weights to mean 1. If the rows already have weights, the mean is weighted by these.
 */
function scaleOf(weights: Float64Array, own: ArrayLike<number> | undefined): number {
  let [sum, total] = [0, 0];
  for (let row = 0; row < weights.length; row++) {
    const weight = own?.[row] ?? 1;
    sum += weight * (weights[row] as number);
    total += weight;
  }
  return sum > 0 ? total / sum : 1;
}

/** Records how a step changed a table. */
function recordOf(
  { name, transformer }: PipelineStep,
  before: Table,
  { table, sampleWeight }: TransformedRows,
): StepRecord {
  const kept = before.columnNames.filter((column) => table.has(column));
  return Object.freeze({
    name,
    transformer: transformer.kind,
    columnsDropped: Object.freeze(before.columnNames.filter((column) => !table.has(column))),
    columnsChanged: Object.freeze(kept.filter((column) => !sameValues(before.column(column), table.column(column)))),
    weighs: sampleWeight !== null,
    warnings: Object.freeze([...transformer.warnings]),
  });
}

function sameValues(a: Column, b: Column): boolean {
  if (a === b) return true;
  if (a.kind === 'numeric') {
    return b.kind === 'numeric' && a.values.every((value, row) => Object.is(value, b.values[row]));
  }
  return b.kind === 'categorical' && a.codes.every((code, row) => a.labels[code] === b.labels[b.codes[row] as number]);
}

/** A step of a pipeline: a transformer, and its name in errors and reports. */
export interface PipelineStep {
  readonly name: string;
  readonly transformer: Transformer;
}

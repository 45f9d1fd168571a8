import {
  type DanfoDataFrame,
  type ColumnSource,
  type NanPolicy,
  type SensitiveSource,
  Table,
  type TableSource,
} from '../table/index.ts';
import { MetricComputationError } from '../exceptions/index.ts';
import { demographicParityDifferenceOf } from './demographic-parity-difference.ts';
import { equalizedOddsDifferenceOf } from './equalized-odds-difference.ts';
import type { ClassificationStats, RegressionStats } from './group-stats.ts';
import { maeParityDifferenceOf } from './mae-parity-difference.ts';
import { type MetricBackend, metricBackend } from './metric-backend.ts';
import type { MetricResult } from './metric-result.ts';
import type { MetricOptions } from './options.ts';
import { reduceClassificationFile, reduceRegressionFile } from './reduce-file.ts';
import type { RowOptions } from './row-options.ts';

/** Options of {@link FairnessAnalyzer}; the defaults of its metrics. */
export interface FairnessAnalyzerOptions {
  /** @defaultValue 30 */
  readonly minGroupSize?: number | undefined;
  /** @defaultValue 1 */
  readonly minDenominator?: number | undefined;
  /** @defaultValue 'native' */
  readonly backend?: string | undefined;
  /** @defaultValue 'exclude' */
  readonly nanPolicy?: NanPolicy | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

/** The columns of a data frame or file that a {@link BoundAnalyzer} reads. */
export interface BoundColumns {
  readonly yPredCol: string;
  /** One column, or several to cross. */
  readonly sensitiveCol: string | readonly string[];
  readonly yTrueCol?: string | undefined;
  readonly sampleWeightCol?: string | undefined;
  readonly positiveLabel?: string | undefined;
}

/** The metrics of data that are already bound: they take options only. */
export interface BoundAnalyzer {
  demographicParityDifference(options?: MetricOptions): Promise<MetricResult>;
  equalizedOddsDifference(options?: MetricOptions): Promise<MetricResult>;
  maeParityDifference(options?: MetricOptions): Promise<MetricResult>;
}

/**
 * Group fairness metrics of arrays, tensors, tables and files.
 *
 * Tensors are counted where they are; files are counted by one SQL scan that
 * never holds the rows. Every method gives a {@link MetricResult} with its
 * interval, exclusions and, where undefined, the reason.
 * @example
 * ```ts
 * import { FairnessAnalyzer } from 'evenhand';
 *
 * const analyzer = new FairnessAnalyzer({ minGroupSize: 2 });
 * const result = await analyzer.demographicParityDifference([1, 0, 1, 1], ['a', 'a', 'b', 'b']);
 * console.log(result.value, result.ciMethod);
 * // 0.5 simultaneous
 * ```
 */
export class FairnessAnalyzer {
  readonly #backend: MetricBackend;
  readonly #defaults: MetricOptions & Pick<RowOptions, 'nanPolicy'>;

  /** @throws {MetricComputationError} for an unknown backend */
  constructor(options: FairnessAnalyzerOptions = {}) {
    const { backend = 'native', ...defaults } = options;
    this.#backend = metricBackend(backend);
    this.#defaults = defaults;
  }

  /** See {@link demographicParityDifference}. */
  async demographicParityDifference(
    yPred: ColumnSource,
    sensitive: SensitiveSource,
    options: MetricOptions & RowOptions = {},
  ): Promise<MetricResult> {
    const filled = this.#fill(options);
    return demographicParityDifferenceOf(await this.#backend.classification({ ...filled, yPred, sensitive }), filled);
  }

  /** See {@link equalizedOddsDifference}. */
  async equalizedOddsDifference(
    yTrue: ColumnSource,
    yPred: ColumnSource,
    sensitive: SensitiveSource,
    options: MetricOptions & RowOptions = {},
  ): Promise<MetricResult> {
    const filled = this.#fill(options);
    return equalizedOddsDifferenceOf(
      await this.#backend.classification({ ...filled, yTrue, yPred, sensitive }),
      filled,
    );
  }

  /** See {@link maeParityDifference}. */
  async maeParityDifference(
    yTrue: ColumnSource,
    yPred: ColumnSource,
    sensitive: SensitiveSource,
    options: MetricOptions & RowOptions = {},
  ): Promise<MetricResult> {
    const filled = this.#fill(options);
    return maeParityDifferenceOf(await this.#backend.regression({ ...filled, yTrue, yPred, sensitive }), filled);
  }

  /**
   * Binds a table or danfojs DataFrame, so that metrics take options only.
   * @throws {DataValidationError} for a column that is not there
   */
  static fromDataFrame(
    data: TableSource | DanfoDataFrame,
    columns: BoundColumns & FairnessAnalyzerOptions,
  ): BoundAnalyzer {
    const { yPredCol, sensitiveCol, yTrueCol, sampleWeightCol, positiveLabel, ...options } = columns;
    const table = Table.from(data);
    const analyzer = new FairnessAnalyzer(options);
    const names = [sensitiveCol].flat();
    const sensitive =
      typeof sensitiveCol === 'string'
        ? table.column(sensitiveCol)
        : Object.fromEntries(names.map((name) => [name, table.column(name)]));
    const yPred = table.column(yPredCol);
    const yTrue = yTrueCol === undefined ? undefined : table.column(yTrueCol);
    const rowOptions = {
      positiveLabel,
      sampleWeight: sampleWeightCol === undefined ? undefined : table.column(sampleWeightCol),
    };
    const truthFor = (metric: string): ColumnSource => {
      if (yTrue !== undefined) return yTrue;
      throw missingTruth(metric);
    };
    return {
      demographicParityDifference: (metricOptions) =>
        analyzer.demographicParityDifference(yPred, sensitive, { ...rowOptions, ...metricOptions }),
      equalizedOddsDifference: async (metricOptions) =>
        analyzer.equalizedOddsDifference(truthFor('equalized_odds_difference'), yPred, sensitive, {
          ...rowOptions,
          ...metricOptions,
        }),
      maeParityDifference: async (metricOptions) =>
        analyzer.maeParityDifference(truthFor('mae_parity_difference'), yPred, sensitive, {
          ...rowOptions,
          ...metricOptions,
        }),
    };
  }

  /**
   * Binds a CSV or Parquet file; its rows are counted by SQL, at most once per
   * kind of metric, and never loaded.
   */
  static fromFile(path: string, columns: BoundColumns & FairnessAnalyzerOptions): BoundAnalyzer {
    const { yPredCol, sensitiveCol, yTrueCol, sampleWeightCol, positiveLabel, backend: _, ...defaults } = columns;
    const request = {
      attributes: [[sensitiveCol].flat()],
      yPred: yPredCol,
      sampleWeight: sampleWeightCol,
      nanPolicy: defaults.nanPolicy ?? 'exclude',
    } as const;
    let counted: Promise<ClassificationStats> | undefined;
    let summed: Promise<RegressionStats> | undefined;
    const classification = (): Promise<ClassificationStats> =>
      (counted ??= reduceClassificationFile(path, { ...request, yTrue: yTrueCol, positiveLabel }).then(only));
    const regression = (): Promise<RegressionStats> => {
      if (yTrueCol === undefined) throw missingTruth('mae_parity_difference');
      return (summed ??= reduceRegressionFile(path, { ...request, yTrue: yTrueCol }).then(only));
    };
    return {
      demographicParityDifference: async (options) =>
        demographicParityDifferenceOf(await classification(), { ...defaults, ...options }),
      equalizedOddsDifference: async (options) =>
        equalizedOddsDifferenceOf(await classification(), { ...defaults, ...options }),
      maeParityDifference: async (options) => maeParityDifferenceOf(await regression(), { ...defaults, ...options }),
    };
  }

  #fill<T extends MetricOptions & RowOptions>(options: T): T {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    return { ...this.#defaults, ...Object.fromEntries(given) } as T;
  }
}

function only<T>(list: readonly T[]): T {
  return list[0] as T;
}

function missingTruth(metric: string): MetricComputationError {
  return new MetricComputationError(`${metric} needs true labels, and no column of them was named.`, {
    context: { metric },
    suggestion: 'Name it (yTrueCol).',
  });
}

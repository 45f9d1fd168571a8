import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { type CountsSource, readCounts } from '../../io/counted-rows.ts';
import type { SqlEngine } from '../../io/index.ts';
import { type EngineRows, querySource } from '../../io/sql-source.ts';
import {
  type ColumnSource,
  type DanfoDataFrame,
  type SensitiveSource,
  Table,
  type TableSource,
} from '../../table/index.ts';
import { type MetricBackend, metricBackend } from '../backends/metric-backend.ts';
import type { MetricFrame, MetricFrameRows } from '../frame/index.ts';
import { METRIC_FRAME_ROWS_NAMES } from '../frame/metric-frame-of-rows.ts';
import type {
  calibrationDifference,
  demographicParityDifference,
  equalizedOddsDifference,
} from '../metric-functions.ts';
import type { MetricResult } from '../metric-result.ts';
import { refuseAverage } from '../metric-rows.ts';
import { fillMetricOptions, METRIC_OPTION_NAMES, type MetricOptions } from '../options.ts';
import { ARGUMENT_OPTION_NAMES, METRIC_ROWS_NAMES, type MetricRows, type RowOptions } from '../row-options.ts';
import { BoundAnalyzer, withDefaults } from './bound-analyzer.ts';
import { rowsSource } from './rows-source.ts';
import type { DataPaths, FileSource } from '../../schemas/data-source.ts';
import { BOUND_COLUMNS_NAMES, type BoundColumns, sqlStatsSource } from './sql-stats-source.ts';
import { frameFromSource, metricFromSource } from './stats-source.ts';

/** Options of {@link FairnessAnalyzer}. The options are defaults for every metric that the analyzer computes. */
export interface FairnessAnalyzerOptions
  extends Pick<MetricOptions, 'minGroupSize' | 'minDenominator' | 'seed'>, Pick<RowOptions, 'nanPolicy'> {
  /**
   * The backend that counts the rows: `native` (this package; counts tensors on their device), `danfo` (group-by of
   * danfojs) or `duckdb` (SQL).
   * @defaultValue 'native'
   */
  readonly backend?: string | undefined;
}

const FAIRNESS_ANALYZER_OPTION_NAMES: OptionNames<FairnessAnalyzerOptions> = {
  minGroupSize: true,
  minDenominator: true,
  backend: true,
  nanPolicy: true,
  seed: true,
};

const BOUND_OPTION_NAMES: OptionNames<BoundColumns & FairnessAnalyzerOptions> = {
  ...BOUND_COLUMNS_NAMES,
  ...FAIRNESS_ANALYZER_OPTION_NAMES,
};

const COUNTED_OPTION_NAMES: OptionNames<CountedColumns & Omit<FairnessAnalyzerOptions, 'backend'>> = {
  sensitiveCol: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  nanPolicy: true,
  naValues: true,
  minGroupSize: true,
  minDenominator: true,
  seed: true,
};

/** The arguments of a metric that does not need true labels. */
type PredictionArguments = Parameters<typeof demographicParityDifference>;

/** The arguments of a metric that compares predictions with true labels or true values. */
type OutcomeArguments = Parameters<typeof equalizedOddsDifference>;

/** The arguments of a metric that compares scores with true labels. */
type ScoreArguments = Parameters<typeof calibrationDifference>;

/**
 * Computes group fairness metrics of arrays, tensors, tables, files and queries.
 *
 * Statistics of tensors are computed on the device of the tensors. Statistics of files and queries are computed in SQL,
 * without loading the rows. Every method returns a {@link MetricResult} with its interval, its exclusions and, if the
 * value is undefined, the reason.
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
  readonly #loadBackend: () => Promise<MetricBackend>;
  readonly #defaults: MetricOptions & Pick<RowOptions, 'nanPolicy'>;

  /**
   * @throws {MetricComputationError} if the backend is unknown
   * @throws {ValueError} if a number is out of range
   */
  constructor(options: FairnessAnalyzerOptions = {}) {
    assertKnownOptions('FairnessAnalyzer', options, FAIRNESS_ANALYZER_OPTION_NAMES);
    const { backend = 'native', ...defaults } = options;
    this.#loadBackend = metricBackend(backend);
    this.#defaults = defaults;
    fillMetricOptions(defaults);
  }

  /**
   * Computes any metric by its name: `equalized_odds_ratio`, or a measure followed by `_difference` or `_ratio`.
   * @throws {ValueError} if the metric or an option is unknown
   */
  metric(name: string, rows: MetricRows, options: MetricOptions & RowOptions = {}): Promise<MetricResult> {
    assertKnownOptions('FairnessAnalyzer.metric', rows, METRIC_ROWS_NAMES);
    assertKnownOptions('FairnessAnalyzer.metric', options, ARGUMENT_OPTION_NAMES);
    const filled = withDefaults<MetricOptions & RowOptions>(this.#defaults, options);
    return metricFromSource(this.#sourceOf(rows, filled), name, filled, filled.average ?? rows.average);
  }

  /** See {@link metricFrame}. */
  metricFrame(rows: MetricFrameRows, options: MetricOptions = {}): Promise<MetricFrame> {
    assertKnownOptions('FairnessAnalyzer.metricFrame', rows, METRIC_FRAME_ROWS_NAMES);
    assertKnownOptions('FairnessAnalyzer.metricFrame', options, METRIC_OPTION_NAMES);
    refuseAverage(rows.average);
    const filled = withDefaults<MetricOptions & RowOptions>(this.#defaults, options);
    return frameFromSource(this.#sourceOf(rows, filled), rows.metrics, rows.control, filled);
  }

  /** Returns the rows as a source of statistics. Options that `rows` does not contain are taken from `filled`. */
  #sourceOf(rows: MetricRows, filled: RowOptions): ReturnType<typeof rowsSource> {
    const given = withDefaults<Partial<MetricRows>>(filled, rows);
    return rowsSource(this.#loadBackend, { ...given, sensitive: rows.sensitive });
  }

  /** See {@link demographicParityDifference}. */
  demographicParityDifference(...[yPred, sensitive, options]: PredictionArguments): Promise<MetricResult> {
    return this.metric('demographic_parity_difference', { yPred, sensitive }, options);
  }

  /** See {@link demographicParityRatio}. */
  demographicParityRatio(...[yPred, sensitive, options]: PredictionArguments): Promise<MetricResult> {
    return this.metric('demographic_parity_ratio', { yPred, sensitive }, options);
  }

  /** See {@link equalizedOddsDifference}. */
  equalizedOddsDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('equalized_odds_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link equalizedOddsRatio}. */
  equalizedOddsRatio(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('equalized_odds_ratio', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link equalOpportunityDifference}. */
  equalOpportunityDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('equal_opportunity_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link falsePositiveRateDifference}. */
  falsePositiveRateDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('false_positive_rate_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link predictiveParityDifference}. */
  predictiveParityDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('predictive_parity_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link accuracyParityDifference}. */
  accuracyParityDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('accuracy_parity_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link calibrationDifference}. */
  calibrationDifference(...[yTrue, yScore, sensitive, options]: ScoreArguments): Promise<MetricResult> {
    return this.metric('calibration_difference', { yTrue, yScore, sensitive }, options);
  }

  /** See {@link rocAucDifference}. */
  rocAucDifference(...[yTrue, yScore, sensitive, options]: ScoreArguments): Promise<MetricResult> {
    return this.metric('roc_auc_difference', { yTrue, yScore, sensitive }, options);
  }

  /** See {@link maeParityDifference}. */
  maeParityDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('mae_parity_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link rmseParityDifference}. */
  rmseParityDifference(...[yTrue, yPred, sensitive, options]: OutcomeArguments): Promise<MetricResult> {
    return this.metric('rmse_parity_difference', { yTrue, yPred, sensitive }, options);
  }

  /** See {@link meanPredictionDifference}. */
  meanPredictionDifference(...[yPred, sensitive, options]: PredictionArguments): Promise<MetricResult> {
    return this.metric('mean_prediction_difference', { yPred, sensitive }, options);
  }

  /**
   * Selects the columns of a table or danfojs DataFrame. The metrics of the returned analyzer need only options.
   * @throws {DataValidationError} if a column does not exist
   */
  static fromDataFrame(
    data: TableSource | DanfoDataFrame,
    columns: BoundColumns & FairnessAnalyzerOptions,
  ): BoundAnalyzer {
    assertKnownOptions('FairnessAnalyzer.fromDataFrame', columns, BOUND_OPTION_NAMES);
    const { yPredCol, sensitiveCol, yTrueCol, yScoreCol, sampleWeightCol, positiveLabel, ...others } = columns;
    const { clusterCol, strataCol, ...options } = others;
    const { backend = 'native', nanPolicy, naValues, yTruePositiveLabel, ...defaults } = options;
    const table = Table.from(data);
    const column = (name: string | undefined): ColumnSource | undefined =>
      name === undefined ? undefined : table.column(name);
    const crossed = (names: readonly string[]): SensitiveSource =>
      Object.fromEntries(names.map((name) => [name, table.column(name)]));
    fillMetricOptions(defaults);
    const source = rowsSource(metricBackend(backend), {
      yPred: column(yPredCol),
      yTrue: column(yTrueCol),
      yScore: column(yScoreCol),
      sampleWeight: column(sampleWeightCol),
      cluster: column(clusterCol),
      strata: column(strataCol),
      sensitive: crossed([sensitiveCol].flat()),
      positiveLabel,
      yTruePositiveLabel,
      nanPolicy,
      naValues,
    });
    return new BoundAnalyzer(
      { ...source, crossed: (request, names) => source.crossed(request, crossed(names)) },
      defaults,
    );
  }

  /**
   * Creates an analyzer of CSV or Parquet files: a path, a glob or a folder, or a list of paths. SQL counts the rows
   * once for each kind of statistics, without loading the rows into memory.
   * @param columns the columns, the options of metrics, and `decimal`, the decimal separator of numbers in text files
   * (`.` or `,`)
   */
  static fromFile(
    source: DataPaths,
    columns: BoundColumns & FairnessAnalyzerOptions & Pick<FileSource, 'decimal'>,
  ): BoundAnalyzer {
    assertKnownOptions('FairnessAnalyzer.fromFile', columns, { ...BOUND_OPTION_NAMES, decimal: true });
    const { decimal, ...others } = columns;
    return bindSql({ paths: source, decimal }, others);
  }

  /**
   * Creates an analyzer of a table or a query on a SQL engine: `openDuckDb()`, or `createSqlEngine(url)` for other
   * databases. The engine counts the rows once for each kind of statistics. Only counts and sums leave the engine.
   * Engines other than DuckDB count scores in bins of width 2^-14.
   * @param source one SELECT statement, `{ query }`, or `{ table }`
   * @example
   * ```ts
   * import { FairnessAnalyzer, openDuckDb } from 'evenhand';
   *
   * const query = "SELECT * FROM (VALUES (1, 'a'), (0, 'a'), (1, 'b'), (1, 'b')) AS t(approved, sex)";
   * const columns = { yPredCol: 'approved', sensitiveCol: 'sex', minGroupSize: 2 };
   * const bound = FairnessAnalyzer.fromSql(openDuckDb(), query, columns);
   * console.log((await bound.demographicParityDifference()).value);
   * // 0.5
   * ```
   */
  static fromSql(
    engine: SqlEngine,
    source: string | EngineRows,
    columns: BoundColumns & FairnessAnalyzerOptions,
  ): BoundAnalyzer {
    assertKnownOptions('FairnessAnalyzer.fromSql', columns, BOUND_OPTION_NAMES);
    return bindSql(querySource('FairnessAnalyzer.fromSql', engine, source), columns);
  }

  /**
   * Creates an analyzer of rows that somebody has counted already, for example with the statement that `evenhand sql`
   * prints. Each sensitive attribute and control feature has a column with its own name; `n` is the number of rows,
   * `decision` and `truth` are labels, `weight` and `weight_squared` are sums.
   * @param source files with counts (a path, a glob or a folder, or a list of paths), or counts as a table
   * @throws {DataValidationError} if a file cannot be read, or counts are missing or impossible
   * @example
   * ```ts
   * import { FairnessAnalyzer } from 'evenhand';
   *
   * const counts = { sex: ['f', 'f', 'm', 'm'], decision: [0, 1, 0, 1], n: [600, 400, 500, 500] };
   * const bound = await FairnessAnalyzer.fromCounts(counts, { sensitiveCol: 'sex' });
   * console.log((await bound.demographicParityDifference()).value.toFixed(2));
   * // 0.10
   * ```
   */
  static async fromCounts(
    source: CountsSource,
    columns: CountedColumns & Omit<FairnessAnalyzerOptions, 'backend'>,
  ): Promise<BoundAnalyzer> {
    assertKnownOptions('FairnessAnalyzer.fromCounts', columns, COUNTED_OPTION_NAMES);
    const counts = await readCounts(source);
    const has = (name: string): boolean => counts.counted.has(name);
    return bindSql(counts, {
      ...columns,
      yPredCol: has('prediction_sum') ? 'prediction' : 'decision',
      yTrueCol: has('truth') || has('truth_sum') ? 'truth' : undefined,
      yScoreCol: has('score') || has('score_bin') ? 'score' : undefined,
      sampleWeightCol: has('weight') ? 'weight' : undefined,
    });
  }
}

/** Options of {@link FairnessAnalyzer.fromCounts}. The names of the other columns of counts are fixed. */
export type CountedColumns = Omit<
  BoundColumns,
  'yPredCol' | 'yTrueCol' | 'yScoreCol' | 'sampleWeightCol' | 'clusterCol' | 'strataCol'
>;

function bindSql(
  source: Parameters<typeof sqlStatsSource>[0],
  columns: BoundColumns & FairnessAnalyzerOptions,
): BoundAnalyzer {
  // The source determines the backend, but an unknown backend name is still rejected.
  const { backend = 'duckdb', minGroupSize, minDenominator, seed } = columns;
  metricBackend(backend);
  const defaults = { minGroupSize, minDenominator, seed };
  fillMetricOptions(defaults);
  return new BoundAnalyzer(sqlStatsSource(source, columns), defaults);
}

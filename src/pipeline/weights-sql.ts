import { ConfigValidationError, DataValidationError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { capital, formatCount } from '../internal/format.ts';
import { type WeightedCase, weightedRowsStatement } from '../io/counting-sql.ts';
import { columnsOnEngine, countOnEngine, titleOf } from '../io/engines/count-on-engine.ts';
import type { QuerySource } from '../io/sql-source.ts';
import type { PipelineConfig } from '../schemas/pipeline/pipeline-document.ts';
import { readTexts, type Table, unknownColumn } from '../table/index.ts';
import { parsePipelineConfig } from './config/load-config.ts';
import type { PipelineConfigInput } from './config/pipeline-config-input.ts';
import type { FairnessPipeline } from './fairness-pipeline.ts';
import { type StepRecord, weightColumnName } from './pipeline-result.ts';
import { assemblePipeline } from './run-pipeline.ts';
import { type SensitiveColumns, sensitiveNames } from './transformers/read-columns.ts';

/** The largest number of combinations of groups and labels in one statement. */
const MAX_CASES = 1000;

/** Options of {@link weightsSql}. */
export interface WeightsSqlOptions {
  /** Stops the work, also in the database. */
  readonly signal?: AbortSignal | undefined;
}

const WEIGHTS_SQL_OPTION_NAMES: OptionNames<WeightsSqlOptions> = { signal: true };

/** Weights for the rows of a database. */
export interface WeightsSql {
  /** One SELECT statement: all rows and columns, and a further column with the weights. */
  readonly sql: string;
  /** The name of the column with the weights: `sample_weight`, with a number if the data have such a column. */
  readonly weightColumn: string;
  /** The number of rows that were counted. */
  readonly rows: number;
  /** What the steps did, with their warnings. */
  readonly steps: readonly StepRecord[];
  /** The fitted pipeline. */
  readonly pipeline: FairnessPipeline;
}

/**
 * Computes the weights of rows in a database, and returns a statement that adds them to the rows. The database counts
 * the rows by group and label; no row leaves it. The steps of the configuration must be weights: `InstanceReweighting`
 * (with `minCount` 1) and `ReweighingTransformer`. The weights are the same as for rows in memory.
 *
 * The statement contains the weight of each combination of groups and labels that occurs. Rows with other combinations
 * get the weight 1.
 * @throws {ConfigValidationError} if the configuration has errors, or steps that are not weights
 * @throws {DataValidationError} if a column does not exist, or if there are more than 1,000 combinations
 * @example
 * ```ts
 * import { createSqlEngine } from 'evenhand/io';
 * import { weightsSql } from 'evenhand/pipeline';
 *
 * const engine = createSqlEngine('duckdb:');
 * const query = "SELECT * FROM (VALUES ('f', 0), ('m', 0), ('m', 1), ('f', 1), ('m', 1)) AS t(sex, hired)";
 * const pipeline = [{ transformer: 'ReweighingTransformer', params: { label: 'hired' } }];
 * const { sql } = await weightsSql({ engine, query }, { sensitive: ['sex'], pipeline });
 * const { rows } = await engine.query(`SELECT sex, hired, round(sample_weight, 2) FROM (${sql})`);
 * console.log(rows[0], rows[1]);
 * // [ 'f', 0, 0.8 ] [ 'm', 0, 1.2 ]
 * await engine.close();
 * ```
 */
export async function weightsSql(
  source: QuerySource,
  config: PipelineConfigInput,
  options: WeightsSqlOptions = {},
): Promise<WeightsSql> {
  assertKnownOptions('weightsSql', options, WEIGHTS_SQL_OPTION_NAMES);
  const parsed = parsePipelineConfig(config);
  const { engine, table, query } = source;
  const rows: QuerySource = { ...source, signal: options.signal ?? source.signal };
  const pipeline = assemblePipeline(parsed);
  const columns = columnsOfWeights(pipeline, parsed);
  const known = (await columnsOnEngine(rows)).map(({ name }) => name);
  const missing = columns.find((name) => !known.includes(name));
  if (missing !== undefined) throw unknownColumn(missing, known, capital(titleOf(source)));
  const weightColumn = weightColumnName(known);
  const [{ counts } = { counts: undefined }] = await countOnEngine(rows, { attributes: [columns] });
  const counted = counts?.counted as Table;
  if (counted.rowCount > MAX_CASES) throw tooMany(columns, counted.rowCount);
  const n = counted.numeric('n').values;
  const { sensitive, training, naValues } = parsed;
  const { table: cells } = readTexts(counted.select(columns), {
    groups: sensitive,
    target: training?.targetColumn,
    positiveLabel: training?.positiveLabel,
    others: columns,
    naValues,
  });
  const { sampleWeight, metadata } = await pipeline.fitTransform(cells, { sampleWeight: n });
  const texts = columns.map((name) => counted.categorical(name));
  // Large combinations come first, so that few conditions are tested for most rows.
  const cases = Array.from(n.keys())
    .sort((a, b) => (n[b] as number) - (n[a] as number))
    .map((row): WeightedCase => ({
      texts: texts.map(({ codes, labels }) => labels[codes[row] as number] ?? null),
      weight: sampleWeight?.[row] ?? 1,
    }))
    .filter(({ weight }) => weight !== 1);
  return Object.freeze({
    sql: weightedRowsStatement(engine.dialect, { table, query }, columns, cases, weightColumn),
    weightColumn,
    rows: n.reduce((sum, count) => sum + count, 0),
    steps: metadata.steps,
    pipeline,
  });
}

/**
 * Returns the columns on which the weights of a pipeline depend.
 * @throws {ConfigValidationError} if a step is not a weight that counts determine
 */
function columnsOfWeights({ steps }: FairnessPipeline, { sensitive }: PipelineConfig): string[] {
  if (steps.length === 0) throw notWeights('The pipeline has no step, so there are no weights.');
  const columns = steps.flatMap(({ name, transformer }) => {
    const { kind, params } = transformer.toJSON();
    if (kind !== 'InstanceReweighting' && kind !== 'ReweighingTransformer')
      throw notWeights(`The step '${name}' (${kind}) changes rows, and rows stay in the database.`);
    if ((params['min_count'] ?? 1) !== 1)
      throw notWeights(`The step '${name}' has min_count ${String(params['min_count'])}; in a database it must be 1.`);
    const label = params['label'] as string | undefined;
    return [...sensitiveNames(params['sensitive'] as SensitiveColumns), ...(label === undefined ? [] : [label])];
  });
  return [...new Set([...sensitive.filter((name) => columns.includes(name)), ...columns])];
}

function notWeights(problem: string): ConfigValidationError {
  return new ConfigValidationError(problem, {
    context: { parameter: 'pipeline' },
    suggestion:
      'Use the steps InstanceReweighting and ReweighingTransformer, or write the rows to a Parquet file and run the pipeline on it.',
  });
}

function tooMany(columns: readonly string[], count: number): DataValidationError {
  return new DataValidationError(
    `The columns '${columns.join("', '")}' have ${formatCount(count)} combinations of values, more than the ${formatCount(MAX_CASES)} that one statement may have.`,
    {
      code: 'too-many-groups',
      context: { columns },
      suggestion: 'Choose columns with fewer values, or give a query that joins them to fewer groups.',
    },
  );
}

import { ConfigValidationError, DataValidationError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../internal/arguments.ts';
import { freezeDeep, isMapping, sumOf } from '../internal/values.ts';
import { isOnEngine, type SqlSource, withRelation } from '../io/sql-source.ts';
import { quoteIdentifier } from '../io/sql-engine.ts';
import { isKnown, numberExpression } from '../io/value-sql.ts';
import { fisherExactTest } from '../stats/distances/fisher-exact-test.ts';
import { holm } from '../stats/multipletests/adjust-p-values.ts';
import { quantileSorted } from '../stats/quantile.ts';
import {
  type BinaryValues,
  type CategoricalColumn,
  encodeGroups,
  readTable,
  type TableSource,
  toBinary,
} from '../table/index.ts';
import { assertSameLength, toFiniteNumbers } from './reduce/row-arguments.ts';
import { reduceClassificationSource, type SourceStats } from './reduce/reduce-source.ts';
import { droppedPerGroup } from './statistics/rows-per-group.ts';
import { CELLS_BY_DECISION, type ClassificationStats, sumCells } from './statistics/group-stats.ts';

/** The columns of sex and of race or ethnicity, and of the outcome: `selected` or `score`. */
export interface ImpactRatioOptions {
  /** The column of decisions: 1 if the person was selected, 0 if not. */
  readonly selected?: string | undefined;
  /** The column of scores, instead of decisions. Scores above the median of all scores are counted. */
  readonly score?: string | undefined;
  readonly sex: string;
  readonly raceEthnicity: string;
  /** The label of `selected` that counts as 1, if decisions are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
  /**
   * Texts that mean a missing value, such as `Unknown`. People without a known sex or race are counted as unknown.
   * @defaultValue `MISSING_TEXTS` in the outcome, and the empty text in the other columns
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * Categories with a smaller share of the rows have no impact ratio, and are never the most selected category. Their
   * numbers and rates are shown. Needs a `justification`.
   * @defaultValue 0: all categories have an impact ratio
   */
  readonly excludeBelow?: number | undefined;
  /** The reason why small categories are excluded. It is part of the result. */
  readonly justification?: string | undefined;
}

const IMPACT_RATIO_OPTION_NAMES: OptionNames<ImpactRatioOptions> = {
  selected: true,
  score: true,
  sex: true,
  raceEthnicity: true,
  positiveLabel: true,
  naValues: true,
  excludeBelow: true,
  justification: true,
};

/** The rule allows to exclude categories with less than this share of the data (6 RCNY 5-301 (d)). */
const MAX_EXCLUDED_SHARE = 0.02;

/** A category of applicants: their numbers, their rate, and the ratio of this rate to the highest one. */
export interface ImpactCategory {
  /** The values of the category: a sex, a race or ethnicity, or both. */
  readonly category: readonly string[];
  /** The number of rows with an outcome. Each row counts as one applicant. */
  readonly applicants: number;
  /** The number of these rows that are selected, or whose score is above the median. */
  readonly selected: number;
  /** The number of rows of this category without an outcome. They are not among the applicants. */
  readonly withoutOutcome: number;
  /** The selection rate or scoring rate, selected / applicants. */
  readonly rate: number;
  /** The share of this category in all rows with an outcome, with those of unknown categories. */
  readonly share: number;
  /** Whether the category is excluded from impact ratios because of its small share. */
  readonly isExcluded: boolean;
  /** The rate divided by the rate of the most selected category; null if excluded, or nobody was selected. */
  readonly impactRatio: number | null;
  /** Whether the impact ratio is below four fifths (29 CFR 1607.4 D); null if there is no impact ratio. */
  readonly isBelowFourFifths: boolean | null;
  /**
   * The two-sided p-value of Fisher's exact test of equal rates of this category and of the most selected one; null for
   * the most selected category, and without an impact ratio.
   */
  readonly pValue: number | null;
  /** The p-value after Holm's adjustment for all comparisons of the same table. */
  readonly adjustedPValue: number | null;
}

/** The categories of one characteristic, or of both together. */
export interface ImpactTable {
  readonly by: 'sex' | 'race_ethnicity' | 'sex_and_race_ethnicity';
  readonly categories: readonly ImpactCategory[];
  /** The category with the highest rate, to which the others are compared; null if nobody was selected. */
  readonly mostSelected: readonly string[] | null;
  /** The number of rows with an outcome whose category is unknown. They are in no category. */
  readonly unknown: number;
  /** The categories in which no row has an outcome. They have no rate, and are not in `categories`. */
  readonly unmeasured: readonly (readonly string[])[];
}

/** The result of {@link impactRatios}. */
export interface ImpactRatios {
  /** `selection` for decisions, `scoring` for scores. */
  readonly kind: 'selection' | 'scoring';
  /** The number of rows with an outcome. */
  readonly n: number;
  /** The number of rows without an outcome, which are not counted anywhere. */
  readonly nWithoutOutcome: number;
  /** The median of all scores; null for decisions. */
  readonly medianScore: number | null;
  readonly excludeBelow: number;
  readonly justification: string | null;
  /** By sex, by race or ethnicity, and by both together. */
  readonly tables: readonly ImpactTable[];
}

/** Counted rows. */
interface CountedTable {
  readonly by: ImpactTable['by'];
  readonly categories: readonly Pick<ImpactCategory, 'category' | 'applicants' | 'selected' | 'withoutOutcome'>[];
  readonly unknown: number;
  readonly unmeasured: ImpactTable['unmeasured'];
}

interface CountedPeople extends Pick<ImpactRatios, 'n' | 'nWithoutOutcome' | 'medianScore'> {
  readonly tables: readonly CountedTable[];
}

/**
 * Computes selection rates (or scoring rates) and impact ratios by sex, by race or ethnicity and by both together, as
 * the rules of New York City's Local Law 144 describe them (6 RCNY 5-300 to 5-304). The impact ratio of a category is
 * its rate divided by the rate of the most selected category of the same table. For scores, the rate is the share of
 * rows with a score above the median of all rows. Each row counts as one applicant.
 *
 * Beside it are the four-fifths rule of the uniform guidelines (29 CFR 1607.4 D) and Fisher's exact test against the
 * most selected category. A number does not decide whether a law is met.
 *
 * Rows whose sex or race is unknown are counted in `unknown`. Rows without an outcome are counted in
 * `nWithoutOutcome`. With `excludeBelow`, small categories have no impact ratio, but their numbers are in the table.
 * @param source CSV or Parquet files, a query on an engine, or anything that can be read as a table. Files and DuckDB
 *   count the rows without loading them.
 * @throws {DataValidationError} if a file or column is missing, a value is invalid, or nobody can be counted
 * @throws {ConfigValidationError} if there is neither `selected` nor `score`, or both
 * @see the rules of New York City, title 6, sections 5-300 to 5-304 (2023)
 * @example
 * ```ts
 * import { impactRatios } from 'evenhand/metrics';
 *
 * const people = {
 *   selected: [1, 1, 0, 1, 0, 0],
 *   sex: ['male', 'male', 'male', 'female', 'female', 'female'],
 *   race: ['Asian', 'White', 'White', 'Asian', 'White', ''],
 * };
 * const { tables } = await impactRatios(people, { selected: 'selected', sex: 'sex', raceEthnicity: 'race' });
 * console.log(tables[0]?.categories.map(({ category, impactRatio }) => `${category[0]} ${impactRatio}`).join(', '));
 * console.log(tables[1]?.unknown);
 * // female 0.5, male 1
 * // 1
 * ```
 */
export async function impactRatios(
  source: SqlSource | TableSource,
  options: ImpactRatioOptions,
): Promise<ImpactRatios> {
  assertKnownOptions('impactRatios', options, IMPACT_RATIO_OPTION_NAMES);
  const { excludeBelow = 0, justification } = checkOptions(options);
  const counted = isSource(source, options) ? await countSource(source, options) : await countRows(source, options);
  if (counted.n === 0) {
    throw new DataValidationError('There is no row with an outcome.', {
      code: 'empty-data',
      context: { parameter: 'source' },
      suggestion: 'Check the column of the outcome, and the texts that mean a missing value.',
    });
  }
  return freezeDeep({
    kind: options.score === undefined ? 'selection' : 'scoring',
    n: counted.n,
    nWithoutOutcome: counted.nWithoutOutcome,
    medianScore: counted.medianScore,
    excludeBelow,
    justification: justification ?? null,
    tables: counted.tables.map((table) => impactTable(table, counted.n, excludeBelow)),
  });
}

function checkOptions(options: ImpactRatioOptions): Pick<ImpactRatioOptions, 'excludeBelow' | 'justification'> {
  const { selected, score, sex, raceEthnicity, excludeBelow, justification = '' } = options;
  if ((selected === undefined) === (score === undefined)) {
    throw new ConfigValidationError('Impact ratios need a column of decisions or a column of scores, and not both.', {
      context: { parameters: ['selected', 'score'] },
      suggestion: 'Give one of selected and score.',
    });
  }
  for (const [parameter, name] of Object.entries({ sex, raceEthnicity, outcome: selected ?? score })) {
    if (typeof name !== 'string' || name === '') throw invalidParameter(parameter, 'be the name of a column', name);
  }
  if (sex === raceEthnicity) throw invalidParameter('raceEthnicity', 'be another column than sex', raceEthnicity);
  if (excludeBelow === undefined || excludeBelow === 0) {
    if (justification === '') return {};
    throw new ValueError('There is a justification, but no category is excluded.', {
      context: { parameter: 'excludeBelow' },
      suggestion: 'Set excludeBelow, or leave out the justification.',
    });
  }
  if (!(excludeBelow > 0 && excludeBelow <= MAX_EXCLUDED_SHARE)) {
    throw invalidParameter('excludeBelow', `be a share from 0 to ${String(MAX_EXCLUDED_SHARE)}`, excludeBelow);
  }
  if (justification.trim() !== '') return { excludeBelow, justification };
  throw new ValueError('Categories are excluded from impact ratios without a justification.', {
    context: { parameter: 'justification' },
    suggestion: 'State the reason in justification. The rule asks for it in the summary of results.',
  });
}

/** Returns whether a source is files or a query, and not rows. */
function isSource(source: SqlSource | TableSource, { sex }: ImpactRatioOptions): source is SqlSource {
  if (typeof source === 'string') return true;
  if (Array.isArray(source)) return source.length > 0 && source.every((path) => typeof path === 'string');
  if (!isMapping(source) || sex in source) return false;
  const { paths, query, table } = source;
  return 'engine' in source
    ? typeof query === 'string' || typeof table === 'string'
    : typeof paths === 'string' || Array.isArray(paths);
}

/** Counts files, or rows on an engine. */
async function countSource(source: SqlSource, options: ImpactRatioOptions): Promise<CountedPeople> {
  const { selected, score, sex, raceEthnicity, positiveLabel, naValues } = options;
  const median = score === undefined ? null : await medianOf(source, score, naValues);
  const reductions = await reduceClassificationSource(source, {
    attributes: [[sex], [raceEthnicity], [sex, raceEthnicity]],
    yPred: selected ?? score ?? '',
    scoreThreshold: median?.threshold,
    positiveLabel,
    naValues,
    nanPolicy: 'exclude',
  });
  const tables = reductions.map((part, index) => tableOfStats(part, BY[index] as ImpactTable['by']));
  const [first] = reductions as [SourceStats<ClassificationStats>];
  const [{ categories, unknown }] = tables as [CountedTable];
  return {
    n: unknown + sumOf(categories.map(({ applicants }) => applicants)),
    // The rows that the first table drops have no outcome, or no sex.
    nWithoutOutcome: first.stats.nDropped - unknown,
    medianScore: median?.median ?? null,
    tables,
  };
}

const BY: readonly ImpactTable['by'][] = ['sex', 'race_ethnicity', 'sex_and_race_ethnicity'];

function tableOfStats({ stats, parts }: SourceStats<ClassificationStats>, by: ImpactTable['by']): CountedTable {
  const positive = sumCells(stats.counts, CELLS_BY_DECISION.positive);
  const negative = sumCells(stats.counts, CELLS_BY_DECISION.negative);
  const undecided = droppedPerGroup(stats, false);
  const categories = parts.map((category, group) => {
    const selected = positive[group] as number;
    const applicants = selected + (negative[group] as number);
    return { category, applicants, selected, withoutOutcome: undecided[group] as number };
  });
  return {
    by,
    ...measuredOf(categories),
    unknown: sumOf(stats.ungrouped.counts),
  };
}

/** Divides categories into those with an outcome and those with rows, of which none has an outcome. */
function measuredOf(all: CountedTable['categories']): Pick<CountedTable, 'categories' | 'unmeasured'> {
  return {
    categories: all.filter(({ applicants }) => applicants > 0),
    unmeasured: all
      .filter(({ applicants, withoutOutcome }) => applicants === 0 && withoutOutcome > 0)
      .map(({ category }) => category),
  };
}

/**
 * Returns the median of the scores of a source, and the smallest score above it. A decision by a threshold includes the
 * threshold, so this score is the threshold. If no score is above the median, the threshold is above all scores.
 */
async function medianOf(
  source: SqlSource,
  score: string,
  naValues: readonly string[] | undefined,
): Promise<{ readonly median: number; readonly threshold: number }> {
  if (isOnEngine(source)) {
    throw new ConfigValidationError('The median of scores can only be computed for files, and in DuckDB.', {
      context: { parameter: 'score' },
      suggestion: 'Decide in the query: SELECT *, score > (SELECT median …) AS selected, and name selected.',
    });
  }
  const numbers = (naValues ?? []).map(Number).filter((value) => Number.isFinite(value));
  const [row = []] = await withRelation(source, (session, relation) => {
    const missing = numbers.length === 0 ? '' : ` AND x NOT IN (${numbers.map(String).join(', ')})`;
    // An unknown column gets its error from the scan that counts the rows.
    const value = relation.columns.has(score) ? numberExpression(relation, score) : quoteIdentifier(score);
    return session.rows(`WITH s AS (SELECT x FROM (SELECT ${value} AS x FROM ${relation.relation}) WHERE ${isKnown('x')}${missing}),
      m AS (SELECT median(x) AS m FROM s)
      SELECT m, (SELECT min(x) FROM s WHERE x > m), (SELECT max(x) FROM s) FROM m`);
  });
  const [median, next, largest] = row.map((value) => (value === null ? NaN : Number(value)));
  const above = next === undefined || Number.isNaN(next) ? 2 * Math.abs(largest ?? 0) + 1 : next;
  return { median: median ?? NaN, threshold: Number.isNaN(above) ? 1 : above };
}

/** Counts rows in memory. */
async function countRows(source: TableSource, options: ImpactRatioOptions): Promise<CountedPeople> {
  const { selected, score, positiveLabel, naValues } = options;
  const table = await readTable(source);
  const codes = (name: string): CategoricalColumn => encodeGroups(table.column(name), 'exclude', naValues);
  const sex = codes(options.sex);
  const race = codes(options.raceEthnicity);
  const scores = score === undefined ? undefined : toFiniteNumbers(table.column(score), 'score', naValues);
  const median = scores === undefined ? null : quantileSorted(scores.filter((one) => !Number.isNaN(one)).sort(), 0.5);
  const outcomes: BinaryValues =
    scores === undefined
      ? toBinary(table.column(selected ?? ''), 'selected', positiveLabel, naValues)
      : Int8Array.from(scores, (one) => (Number.isNaN(one) ? -1 : Number(one > (median as number))));
  assertSameLength({ outcome: outcomes.length, sex: sex.codes.length, raceEthnicity: race.codes.length });
  const width = race.labels.length;
  const both = sex.codes.map((code, row) => {
    const other = race.codes[row] as number;
    return code < 0 || other < 0 ? -1 : code * width + other;
  });
  const pairs = sex.labels.flatMap((one) => race.labels.map((other) => [one, other]));
  let n = 0;
  for (const outcome of outcomes) n += Number(outcome >= 0);
  return {
    n,
    nWithoutOutcome: outcomes.length - n,
    medianScore: median,
    tables: [
      tableOfCodes(
        'sex',
        sex.codes,
        sex.labels.map((label) => [label]),
        outcomes,
      ),
      tableOfCodes(
        'race_ethnicity',
        race.codes,
        race.labels.map((label) => [label]),
        outcomes,
      ),
      tableOfCodes('sex_and_race_ethnicity', both, pairs, outcomes),
    ],
  };
}

function tableOfCodes(
  by: ImpactTable['by'],
  codes: Int32Array,
  labels: readonly (readonly string[])[],
  outcomes: BinaryValues,
): CountedTable {
  const applicants = new Float64Array(labels.length);
  const selected = new Float64Array(labels.length);
  const withoutOutcome = new Float64Array(labels.length);
  let unknown = 0;
  for (let row = 0; row < codes.length; row++) {
    const outcome = outcomes[row] as number;
    const code = codes[row] as number;
    if (outcome < 0) {
      if (code >= 0) withoutOutcome[code] = (withoutOutcome[code] as number) + 1;
      continue;
    }
    if (code < 0) {
      unknown++;
      continue;
    }
    applicants[code] = (applicants[code] as number) + 1;
    selected[code] = (selected[code] as number) + outcome;
  }
  const categories = labels.map((category, code) => ({
    category,
    applicants: applicants[code] as number,
    selected: selected[code] as number,
    withoutOutcome: withoutOutcome[code] as number,
  }));
  return { by, ...measuredOf(categories), unknown };
}

/** Returns whether a rate is below four fifths of another. Whole numbers are compared, because quotients are rounded. */
function isBelow(one: Counted, most: Counted): boolean {
  return 5 * one.selected * most.applicants < 4 * most.selected * one.applicants;
}

type Counted = CountedTable['categories'][number];

/** Computes rates, impact ratios and tests from counts. */
function impactTable(
  { by, categories, unknown, unmeasured }: CountedTable,
  n: number,
  excludeBelow: number,
): ImpactTable {
  const rated = categories.map((one) => {
    const share = one.applicants / n;
    return { ...one, rate: one.selected / one.applicants, share, isExcluded: share < excludeBelow };
  });
  const compared = rated.filter(({ isExcluded }) => !isExcluded);
  // Among equal rates, the first category is the most selected one.
  const most = compared.reduce<(typeof rated)[number] | undefined>(
    (best, one) => (one.rate > (best?.rate ?? 0) ? one : best),
    undefined,
  );
  const pValues = rated.map((one) =>
    most === undefined || one.isExcluded || one === most
      ? NaN
      : fisherExactTest([
          [one.selected, one.applicants - one.selected],
          [most.selected, most.applicants - most.selected],
        ]).pValue,
  );
  const [adjusted, order] = holm(pValues);
  const adjustedOf = new Map(order.map((index, rank) => [index, adjusted[rank] as number]));
  return {
    by,
    categories: rated.map((one, index): ImpactCategory => {
      const impactRatio = most === undefined || one.isExcluded ? null : one.rate / most.rate;
      const pValue = pValues[index] as number;
      return {
        ...one,
        impactRatio,
        isBelowFourFifths: impactRatio === null || most === undefined ? null : isBelow(one, most),
        pValue: Number.isNaN(pValue) ? null : pValue,
        adjustedPValue: Number.isNaN(pValue) ? null : (adjustedOf.get(index) ?? null),
      };
    }),
    mostSelected: most?.category ?? null,
    unknown,
    unmeasured,
  };
}

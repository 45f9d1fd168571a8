import { DataValidationError } from '../exceptions/index.ts';
import { capital, formatCount } from '../internal/format.ts';
import { canonicalLabel } from '../internal/label-text.ts';
import type { DataPaths, FileSource } from '../schemas/data-source.ts';
import {
  absentLabelError,
  type CategoricalColumn,
  type ColumnReading,
  type ColumnRole,
  findAbsentLabel,
  labelValue,
  missingGroups,
  notBinary,
  readingOfGroups,
  readingOfLabels,
  readLabels,
  readTable,
  type SearchedColumn,
  Table,
  type TableSource,
} from '../table/index.ts';
import type { DecisionCell } from './count-decisions.ts';
import type { ScoreCell, ScoreReduction } from './count-scores.ts';
import { droppedRows, indexGroups, type SourceReduction } from './group-by.ts';
import type { DecisionRequest, NumberRequest, ScoreRequest, SourceRequest } from './sql-engine.ts';
import type { NumberReduction, NumberSums } from './sum-moments.ts';
import type { WeightSums } from './value-sql.ts';

/**
 * The columns of counts. Every other column is a sensitive attribute or a control feature. One row contains the counts
 * and sums of the data's rows with the same values of these features and the same `truth`, `decision` and `score_bin`.
 */
export const COUNT_COLUMNS = {
  n: 'number of rows',
  min_cell: 'counts below this number were left out',
  invalid: 'number of rows with a number that is not finite, or with a negative weight',
  truth: 'true label',
  decision: 'decision',
  weight: 'sum of weights; empty for rows without a weight',
  weight_squared: 'sum of squared weights',
  score: 'score',
  score_bin: 'number of the bin of a score; score_bin times score_step is the rounded score',
  score_step: 'width of a bin, a power of two',
  score_threshold: 'scores of at least this value are positive decisions',
  loss_positive: 'sum of -ln(score)',
  loss_positive_squared: 'sum of squares of -ln(score)',
  loss_negative: 'sum of -ln(1 - score)',
  loss_negative_squared: 'sum of squares of -ln(1 - score)',
  pivot: 'number that is subtracted from predictions and true values before they are summed',
  prediction_sum: 'sum of predictions',
  prediction_squared: 'sum of squared predictions',
  prediction_cubed: 'sum of cubed predictions',
  truth_sum: 'sum of true values',
  truth_squared: 'sum of squared true values',
  truth_cubed: 'sum of cubed true values',
  error_sum: 'sum of errors: prediction minus true value',
  error_cubed: 'sum of cubed errors',
  absolute_error: 'sum of absolute errors',
  absolute_error_cubed: 'sum of cubed absolute errors',
  squared_error: 'sum of squared errors',
  error_fourth: 'sum of fourth powers of errors',
  error_sixth: 'sum of sixth powers of errors',
} as const;

/** The name of a column of counts. */
export type CountColumn = keyof typeof COUNT_COLUMNS;

/** Rows of data that somebody has counted already. */
export interface CountedRows {
  /** The name of the counts in errors. */
  readonly title: string;
  /** The columns of {@link COUNT_COLUMNS}, and one column for each sensitive attribute and control feature. */
  readonly counted: Table;
  /**
   * The names of decisions and true labels in the data that were counted, for messages.
   * @defaultValue those of the columns of counts
   */
  readonly names?: Readonly<Partial<Record<'decision' | 'truth', string | undefined>>>;
  /**
   * The number below which counts were left out.
   * @defaultValue none: all counts are there
   */
  readonly minCell?: number | undefined;
  /**
   * What to consider about the counts before the numbers are quoted.
   * @defaultValue none
   */
  readonly notes?: readonly string[] | undefined;
}

/**
 * A source of counts: CSV, Parquet or JSON-lines files (one or several paths, globs or folders) whose rows are added, or
 * a table.
 */
export type CountsSource = DataPaths | FileSource | TableSource | CountedRows;

/**
 * Reads counts.
 * @throws {DataValidationError} if a file cannot be read, there is no column `n`, a number is missing or impossible, or
 *   rows are invalid
 */
export async function readCounts(source: CountsSource): Promise<CountedRows> {
  if (isCounted(source)) return source;
  const counts = countedRows(
    isTable(source) ? { title: 'the table of counts', counted: await readTable(source) } : await loadCounts(source),
  );
  return { ...counts, notes: [...(counts.notes ?? []), ...percentageNotes(counts)] };
}

/** Notes an attribute whose groups have 100 rows each: usually, each count is a percentage. */
function percentageNotes({ counted }: CountedRows): string[] {
  const { values: n } = counted.numeric('n');
  const attributes = counted.columnNames.filter((name) => !Object.hasOwn(COUNT_COLUMNS, name));
  const ofHundred = attributes.filter((name) => {
    const { codes, labels } = counted.categorical(name);
    const sums = labels.map(() => 0);
    codes.forEach((code, row) => {
      if (code >= 0) sums[code] = (sums[code] as number) + (n[row] as number);
    });
    return labels.length > 1 && sums.every((sum) => sum === 100);
  });
  return ofHundred.map(
    (name) => `every group of '${name}' has 100 rows. If the counts are percentages, intervals and p-values are wrong: give numbers of rows`, // prettier-ignore
  );
}

/**
 * Returns counts after a check of the counts and sums that every kind of statistics uses.
 * @throws {DataValidationError} if there is no column `n`, a number is missing or impossible, or rows are invalid
 */
export function countedRows(counts: CountedRows): CountedRows {
  checkCounts(counts);
  const { counted } = counts;
  const minCell = counts.minCell ?? minCellOf(counts);
  const columns = counted.columnNames.map((name) => {
    const column = counted.column(name);
    const isLabel = name === 'truth' || name === 'decision';
    return [name, isLabel && column.kind === 'categorical' ? canonicalColumn(column) : column] as const;
  });
  return { ...counts, counted: Table.ofColumns(columns), minCell };
}

/**
 * Returns the number below which counts were left out; undefined if all counts are there.
 * @throws {DataValidationError} if parts were counted with different numbers, or a count occurs twice
 */
function minCellOf({ counted, title }: CountedRows): number | undefined {
  if (!counted.has('min_cell') || counted.rowCount === 0) return undefined;
  const { values } = counted.numeric('min_cell');
  const [minCell = NaN] = values;
  const n = counted.numeric('n').values;
  const row = values.findIndex((value, index) => value !== minCell || (n[index] as number) < minCell);
  if (row >= 0 || !(minCell >= 1)) {
    throw wrongNumber(
      title,
      `must have the same min_cell as the other rows, and a count that is not smaller`,
      Math.max(0, row),
      'Count all rows with one statement. The numbers of suppressed counts cannot be added.',
    );
  }
  const keys = counted.columnNames
    .filter((name) => name === 'truth' || name === 'decision' || !Object.hasOwn(COUNT_COLUMNS, name))
    .map((name) => counted.categorical(name).codes);
  const seen = new Set(Array.from(n, (_, index) => keys.map((codes) => codes[index]).join(' ')));
  if (seen.size === n.length) return minCell;
  throw new DataValidationError(`${capital(title)} counts the same rows twice, and has counts that were left out.`, {
    code: 'invalid-data',
    context: { columns: counted.columnNames },
    suggestion: 'Counts that were left out cannot be added. Count all rows with one statement.',
  });
}

/**
 * Checks that counts without small cells hold only the columns of one attribute. With others, each count is divided
 * further, and the sums of what was left out have no bounds.
 * @throws {DataValidationError} if there are further columns
 */
export function assertOneAttribute({ counted, minCell, title }: CountedRows, attribute: readonly string[]): void {
  if (minCell === undefined) return;
  const other = counted.columnNames.find((name) => !Object.hasOwn(COUNT_COLUMNS, name) && !attribute.includes(name));
  if (other === undefined) return;
  throw new DataValidationError(
    `${capital(title)} leaves out counts below ${String(minCell)}, and also has the column '${other}', which is not part of '${attribute.join("', '")}'.`,
    {
      code: 'invalid-data',
      context: { column: other, attribute },
      suggestion: 'Count each attribute with a statement of its own (evenhand sql --min-cell, with one --sensitive).',
    },
  );
}

/** Returns a column of labels in which each number has one text. Engines write the same number as 1, 1.0 or 1.00. */
function canonicalColumn({ codes, labels }: CategoricalColumn): CategoricalColumn {
  const texts = labels.map(canonicalLabel);
  const distinct = [...new Set(texts)];
  const codeOf = new Map(distinct.map((text, code) => [text, code]));
  const mapped = texts.map((text) => codeOf.get(text) as number);
  return { kind: 'categorical', codes: codes.map((code) => mapped[code] ?? code), labels: distinct };
}

function isTable(source: Exclude<CountsSource, CountedRows>): source is TableSource {
  if (typeof source === 'string' || 'paths' in source) return false;
  return !Array.isArray(source) || typeof source[0] === 'object';
}

async function loadCounts(source: DataPaths | FileSource): Promise<CountedRows> {
  const [{ findFiles, sameContentNotes }, { loadData }] = await Promise.all([
    import('./find-files.ts'),
    import('./load-data.ts'),
  ]);
  const files = await findFiles(source);
  const { columnNames } = await loadData(files, { maxRows: 1 });
  const labels = columnNames.filter((name) => ['truth', 'decision'].includes(name) || !Object.hasOwn(COUNT_COLUMNS, name)); // prettier-ignore
  return {
    title: files.files.length === 1 ? `'${files.title}'` : files.title,
    counted: await loadData(files, { labels }),
    notes: await sameContentNotes(files),
  };
}

/** Returns whether a source of rows is counts. */
export function isCounted(source: unknown): source is CountedRows {
  if (typeof source !== 'object' || source === null || !('counted' in source && 'title' in source)) return false;
  // A table has columns, not a text.
  return typeof source.title === 'string';
}

function checkCounts({ counted, title }: CountedRows): void {
  assertColumns({ counted, title }, ['n'], 'Count with the statement that `evenhand sql` prints, or add a column n.');
  requireNumbers(counted, title, 'n', 'be a whole number from 0 to 9007199254740991', (n) => n >= 0 && Number.isSafeInteger(n)); // prettier-ignore
  const { values: n } = counted.numeric('n');
  if (counted.has('invalid')) {
    const invalid = counted.numeric('invalid').values.reduce((sum, count) => sum + (count || 0), 0);
    if (invalid > 0) throw invalidRows(title, invalid);
  }
  for (const name of Object.keys(COUNT_COLUMNS) as CountColumn[]) {
    const holds = (value: number): boolean => Number.isNaN(value) || Math.abs(value) < Infinity;
    if (!['truth', 'decision', 'n'].includes(name) && counted.has(name)) {
      requireNumbers(counted, title, name, 'be finite, or empty', holds);
    }
  }
  if (!counted.has('weight')) return;
  assertColumns({ counted, title }, ['weight_squared'], 'Add the sum of squared weights, which intervals need.');
  for (const name of ['weight', 'weight_squared'] as const) {
    requireNumbers(counted, title, name, 'be 0 or more, or empty', (sum) => Number.isNaN(sum) || sum >= 0); // prettier-ignore
  }
  const [weights, squares] = [counted.numeric('weight').values, counted.numeric('weight_squared').values];
  // The sum of n squares is at least the squared sum divided by n, and at most the squared sum.
  const impossible = weights.findIndex((sum, row) => {
    const [square, count] = [squares[row] as number, n[row] as number];
    return Number.isNaN(sum) !== Number.isNaN(square) || square * count < sum ** 2 * BELOW || square * BELOW > sum ** 2;
  });
  if (impossible < 0) return;
  throw wrongNumber(
    title,
    `has ${String(n[impossible])} rows with a sum of weights of ${String(weights[impossible])} and a sum of squared weights of ${String(squares[impossible])}, which no weights have`,
    impossible,
    'Check that weight is the sum of the weights, and weight_squared the sum of their squares.',
  );
}

/** @throws {DataValidationError} if counts lack one of the columns */
function assertColumns({ counted, title }: CountedRows, names: readonly CountColumn[], suggestion: string): void {
  const missing = names.find((name) => !counted.has(name));
  if (missing === undefined) return;
  throw new DataValidationError(`${capital(title)} has no column '${missing}' (${COUNT_COLUMNS[missing]}).`, {
    code: 'unknown-column',
    context: { column: missing, columns: counted.columnNames },
    suggestion,
  });
}

/** Sums of float64 may be too large or too small by this factor. */
const BELOW = 1 - 1e-6;

function requireNumbers(
  counted: Table,
  title: string,
  name: CountColumn,
  requirement: string,
  holds: (value: number) => boolean,
): void {
  const { values } = counted.numeric(name);
  const row = values.findIndex((value) => !holds(value));
  if (row < 0) return;
  const held = Number.isNaN(values[row]) ? 'nothing' : String(values[row]);
  throw wrongNumber(title, `must ${requirement} in column '${name}', but holds ${held}`, row, 'Correct the number.');
}

function wrongNumber(title: string, problem: string, row: number, suggestion: string): DataValidationError {
  return new DataValidationError(`Row ${String(row + 1)} of ${title} ${problem}.`, {
    code: 'invalid-value',
    context: { row: row + 1 },
    suggestion,
  });
}

function invalidRows(title: string, rows: number): DataValidationError {
  return new DataValidationError(
    `${formatCount(rows)} of the rows counted in ${title} hold a number that is not finite, or a negative weight.`,
    {
      code: 'invalid-value',
      context: { rows },
      suggestion: 'Exclude these rows before counting, or replace the numbers by NULL, which means missing.',
    },
  );
}

/**
 * Returns the counts of {@link countDecisions} from counts.
 * @throws {DataValidationError} if a column is unknown, or a label is not 0 or 1
 */
export function countedDecisions(source: CountedRows, request: DecisionRequest): SourceReduction<DecisionCell>[] {
  const { yTrue, sampleWeight, scoreThreshold } = request;
  const areScores = scoreThreshold !== undefined;
  if (areScores) assertThreshold(source, scoreThreshold);
  const decision = readOutcome(source, 'decision', areScores ? { ...request, positiveLabel: undefined } : request);
  const truth = yTrue === undefined ? undefined : readOutcome(source, 'truth', request);
  if (request.isOneOfMany !== true) assertLabels(source, request, truth, areScores ? undefined : decision);
  const sums = sumsOf(source, sampleWeight !== undefined);
  return reduceCounts(source, request, [decision, truth], (groupOf) => ({
    parts: sums.map((own, row): DecisionCell => {
      const hasWeight = !Number.isNaN(own.weight);
      const state = decision.states[row] as number;
      const label = truth?.states[row] ?? -1;
      return {
        group: groupOf(row),
        truth: (label < 0 ? 2 : label) as DecisionCell['truth'],
        decision: state < 0 || !hasWeight ? null : (state as 0 | 1),
        hasWeight,
        ...(hasWeight ? own : { count: own.count, weight: 0, squaredWeight: 0 }),
      };
    }),
  }));
}

/** Checks that the decisions were made with the requested score threshold. */
function assertThreshold({ counted, title }: CountedRows, requested: number): void {
  if (!counted.has('score_threshold')) return;
  const made = counted.numeric('score_threshold').values.find((value) => value !== requested);
  if (made === undefined) return;
  throw new DataValidationError(
    `The decisions in ${title} were made with a score threshold of ${String(made)}, not ${String(requested)}.`,
    {
      code: 'invalid-value',
      context: { parameter: 'scoreThreshold', expected: made, received: requested },
      suggestion: `Use the threshold ${String(made)}, or count again with the other threshold.`,
    },
  );
}

/**
 * Returns the counts of {@link countScores} from counts. The scores are those of the bins.
 * @throws {DataValidationError} if a column is unknown, or a true label is not 0 or 1
 */
export function countedScores(source: CountedRows, request: ScoreRequest): ScoreReduction[] {
  const { counted } = source;
  const truth = readOutcome(source, 'truth', request);
  assertLabels(source, request, truth, undefined);
  const sums = sumsOf(source, request.sampleWeight !== undefined);
  const isExact = counted.has('score');
  if (!isExact) assertColumns(source, BIN_COLUMNS, 'Count scores: use `evenhand sql` with --score.');
  const step = isExact ? 0 : stepOf(source);
  const scores =
    step === 0 ? counted.numeric('score').values : counted.numeric('score_bin').values.map((bin) => bin * step);
  const losses = step === 0 ? undefined : lossesOf(counted);
  const isKnown = (row: number): boolean =>
    (truth.states[row] as number) >= 0 && !Number.isNaN(scores[row]) && !Number.isNaN(sums[row]?.weight);
  const cellOf = (group: number, row: number): ScoreCell => {
    const label = truth.states[row] as 0 | 1;
    const { count, weight, squaredWeight } = sums[row] as WeightSums;
    const pair = (value: number): [number, number] => (label === 1 ? [0, value] : [value, 0]);
    return {
      group,
      score: scores[row] as number,
      counts: pair(count),
      weights: pair(weight),
      squaredWeights: pair(squaredWeight),
      loss: losses?.[label].sums[row] ?? 0,
      squaredLoss: losses?.[label].squares[row] ?? 0,
    };
  };
  return reduceCounts(source, request, [truth], (groupOf, groups) => ({
    step,
    ...splitKnown(sums, { groupOf, groups, isKnown, partOf: cellOf }),
  }));
}

/** How to make the parts of {@link splitKnown}. */
interface KnownParts<Part> {
  readonly groupOf: (row: number) => number;
  readonly groups: number;
  readonly isKnown: (row: number) => boolean;
  readonly partOf: (group: number, row: number) => Part;
}

/** Returns the parts of rows of counts with all values, and the number of data rows without a value, by group. */
function splitKnown<Part>(
  sums: readonly WeightSums[],
  { groupOf, groups, isKnown, partOf }: KnownParts<Part>,
): { readonly parts: readonly Part[]; readonly dropped: Float64Array } {
  const rows = sums.flatMap(({ count }, row) => (count > 0 ? [{ row, count, group: groupOf(row) }] : []));
  return {
    parts: rows.flatMap(({ row, group }) => (group >= 0 && isKnown(row) ? [partOf(group, row)] : [])),
    dropped: droppedRows(
      groups,
      rows.filter(({ row }) => !isKnown(row)),
    ),
  };
}

const BIN_COLUMNS = [
  'score_bin',
  'score_step',
  'loss_positive',
  'loss_positive_squared',
  'loss_negative',
  'loss_negative_squared',
] as const satisfies readonly CountColumn[];

function stepOf({ counted, title }: CountedRows): number {
  const steps = counted.numeric('score_step').values;
  const step = steps[0] ?? 1;
  const odd = steps.findIndex((value) => value !== step || !(value > 0) || !Number.isInteger(Math.log2(value)));
  if (odd < 0) return step;
  throw wrongNumber(
    title,
    `must hold one power of two above 0 in column 'score_step', but holds ${String(steps[odd])}`,
    odd,
    'Count all scores with bins of the same width.',
  );
}

/** The sums of losses and of their squares of each row of counts, for the true labels 0 and 1. */
function lossesOf(counted: Table): Record<0 | 1, { readonly sums: Float64Array; readonly squares: Float64Array }> {
  const sums = (name: CountColumn): Float64Array => counted.numeric(name).values;
  return {
    0: { sums: sums('loss_negative'), squares: sums('loss_negative_squared') },
    1: { sums: sums('loss_positive'), squares: sums('loss_positive_squared') },
  };
}

/**
 * Returns the moments of {@link sumMoments} from counts: m2 = S2 - S1^2 / W and m3 = S3 - 3 S1 S2 / W + 2 S1^3 / W^2,
 * with the sums S1, S2 and S3 of the powers of a quantity, and the sum W of the weights.
 * @throws {DataValidationError} if a column is unknown
 */
export function countedMoments(source: CountedRows, request: NumberRequest): NumberReduction[] {
  const { counted } = source;
  const hasTruth = request.yTrue !== undefined;
  const sums = sumsOf(source, request.sampleWeight !== undefined);
  const quantities = ['prediction', ...(hasTruth ? TRUE_QUANTITIES : [])] as const;
  const needed = ['pivot', ...quantities.flatMap((quantity) => POWER_SUMS[quantity])] as const;
  assertColumns(source, needed, 'Count numbers: use `evenhand sql` with --regression.');
  const pivots = counted.numeric('pivot').values;
  const powers = quantities.map(
    (quantity) => [quantity, POWER_SUMS[quantity].map((name) => counted.numeric(name).values)] as const,
  );
  const momentsOf = (row: number, weight: number): NumberSums['moments'] =>
    Object.fromEntries(
      powers.map(([quantity, own]) => {
        const [s1 = 0, s2 = 0, s3 = 0] = own.map((values) => values[row] as number);
        const pivot = quantity === 'prediction' || quantity === 'truth' ? (pivots[row] as number) : 0;
        const mean = s1 / weight;
        return [
          quantity,
          weight === 0
            ? { mean: 0, m2: 0, m3: 0 }
            : { mean: pivot + mean, m2: Math.max(0, s2 - s1 * mean), m3: s3 - 3 * mean * s2 + 2 * s1 * mean ** 2 },
        ];
      }),
    );
  const isKnown = (row: number): boolean =>
    !Number.isNaN(sums[row]?.weight) && powers.every(([, own]) => own.every((values) => !Number.isNaN(values[row])));
  const sumsOfGroup = (group: number, row: number): NumberSums => {
    const own = sums[row] as WeightSums;
    return { group, ...own, moments: momentsOf(row, own.weight) };
  };
  return reduceCounts(source, request, [], (groupOf, groups) =>
    splitKnown(sums, { groupOf, groups, isKnown, partOf: sumsOfGroup }),
  );
}

const TRUE_QUANTITIES = ['truth', 'error', 'absoluteError', 'squaredError'] as const;

/** The columns with the sums of the first three powers of each quantity. */
const POWER_SUMS = {
  prediction: ['prediction_sum', 'prediction_squared', 'prediction_cubed'],
  truth: ['truth_sum', 'truth_squared', 'truth_cubed'],
  error: ['error_sum', 'squared_error', 'error_cubed'],
  absoluteError: ['absolute_error', 'squared_error', 'absolute_error_cubed'],
  squaredError: ['squared_error', 'error_fourth', 'error_sixth'],
} as const satisfies Record<string, readonly CountColumn[]>;

/** Returns the labels of the decisions and true labels of counts that do not mean a missing value. */
export function countedLabels({ counted }: CountedRows, columns: readonly string[]): string[] {
  const labels = columns.flatMap((name) => counted.categorical(name).labels);
  return [...new Set(labels)].filter((label) => label !== '').sort();
}

/** The decisions or true labels of counts. */
interface Outcome {
  readonly name: string;
  /** The value of each row: 0, 1, or -1 for a missing value. */
  readonly states: Int8Array;
  readonly labels: readonly string[];
  readonly searched: SearchedColumn;
  readonly reading: ColumnReading | undefined;
}

function readOutcome(
  { counted, title, names = {} }: CountedRows,
  column: 'truth' | 'decision',
  request: Pick<DecisionRequest, 'positiveLabel' | 'yTruePositiveLabel' | 'isOneOfMany' | 'naValues'>,
): Outcome {
  const role: ColumnRole = column === 'truth' ? 'true labels' : 'predictions';
  const name = names[column] ?? column;
  const { naValues, isOneOfMany, yTruePositiveLabel, positiveLabel } = request;
  const given = column === 'truth' ? (yTruePositiveLabel ?? positiveLabel) : positiveLabel;
  assertColumns({ counted, title }, [column], `Count ${role}: use \`evenhand sql\` with ${column === 'truth' ? '--y-true' : '--y-pred'}.`); // prettier-ignore
  const { column: labelled, rule } = readLabels(counted.column(column), column, given, naValues);
  const values = labelled.labels.map((label) => labelValue(label, rule));
  const states = Int8Array.from(labelled.codes, (code, row) => {
    if (code < 0) return -1;
    const value = values[code];
    if (value !== undefined) return value;
    const label = labelled.labels[code] as string;
    const place = `in ${names[column] === undefined ? `row ${String(row + 1)} of ` : ''}${title}`;
    throw notBinary(name, place, rule.isNumeric === true ? Number(label) : label, {
      values: labelled.labels.filter((one) => !rule.missing.has(one)),
      role,
      column: name,
    });
  });
  const counts = countsByCode(labelled.codes, counted.numeric('n').values, values.length);
  const read = labelled.labels.map((label, code) => ({
    label,
    count: counts[code] as number,
    value: values[code] as number,
  }));
  const unread = read.filter(({ label, value }) => value < 0 && label !== '');
  const isPlain = rule.positiveLabel === undefined && unread.length === 0;
  return {
    name,
    states,
    labels: labelled.labels,
    searched: {
      hasPositive: states.includes(1),
      hasNegative: states.includes(0),
      isRead: rule.positiveLabel !== undefined,
    },
    reading:
      isOneOfMany === true
        ? readingOfLabels(role, unread)
        : isPlain
          ? undefined
          : readingOfLabels(role, read.filter(({ label }) => label !== ''), { positiveLabel: rule.positiveLabel }), // prettier-ignore
  };
}

/** Checks that the positive label occurs, as for rows. */
function assertLabels(
  { title }: CountedRows,
  request: Pick<DecisionRequest, 'positiveLabel' | 'yTruePositiveLabel'>,
  truth: Outcome | undefined,
  decision: Outcome | undefined,
): void {
  const absent = findAbsentLabel(request, truth?.searched, decision?.searched);
  if (absent === undefined) return;
  const found = absent.column === 'yTrue' ? truth : decision;
  const known = new Set(truth?.labels);
  if (absent.column === 'yPred' && absent.isShared && decision?.labels.every((label) => known.has(label)) === true)
    return;
  throw absentLabelError(absent, { data: title, column: found?.name ?? '' }, found?.labels ?? []);
}

/** Returns the counts and the sums of weights of each row of counts; `weight` is NaN for rows without a weight. */
function sumsOf({ counted }: CountedRows, isWeighted: boolean): readonly WeightSums[] {
  const { values: n } = counted.numeric('n');
  if (!isWeighted) return Array.from(n, (count) => ({ count, weight: count, squaredWeight: count }));
  const [weights, squares] = [counted.numeric('weight').values, counted.numeric('weight_squared').values];
  return Array.from(n, (count, row) => ({
    count,
    weight: weights[row] as number,
    squaredWeight: squares[row] as number,
  }));
}

/**
 * Groups the rows of counts by each attribute.
 * @param make makes the rest of a reduction from the group of each row of counts (-1 for none) and the number of groups
 */
function reduceCounts<Rest>(
  { counted }: CountedRows,
  { attributes, nanPolicy, naValues }: SourceRequest,
  outcomes: readonly (Outcome | undefined)[],
  make: (groupOf: (row: number) => number, groups: number) => Rest,
): (Rest & Omit<SourceReduction<never>, 'parts'>)[] {
  const { values: n } = counted.numeric('n');
  const rowCount = n.reduce((sum, count) => sum + count, 0);
  const columns = new Map(
    [...new Set(attributes.flat())].map((name) => [name, readGroupColumn(counted, name, naValues)]),
  );
  return attributes.map((attribute) => {
    const own = attribute.map((name) => columns.get(name) as GroupColumn);
    const tuples = Array.from(n, (_, row) => own.map(({ labelOf }) => labelOf(row)));
    const index = indexGroups(tuples, nanPolicy);
    const readings = [...outcomes.map((outcome) => outcome?.reading), ...own.flatMap(({ reading }) => reading)];
    return {
      groups: index.groups,
      rowCount,
      readings: readings.filter((reading) => reading !== undefined),
      ...make((row) => index.find(tuples[row] as readonly (string | undefined)[]), index.groups.length),
    };
  });
}

/** A sensitive attribute or a control feature of counts. */
interface GroupColumn {
  /** Returns the label of a row of counts; undefined if it is missing. */
  readonly labelOf: (row: number) => string | undefined;
  readonly reading: readonly ColumnReading[];
}

function readGroupColumn(counted: Table, name: string, naValues: readonly string[] | undefined): GroupColumn {
  const missing = missingGroups(naValues);
  const { codes, labels } = counted.categorical(name);
  const { values: n } = counted.numeric('n');
  const counts = countsByCode(codes, n, labels.length);
  const read = labels.map((label, code) => ({ label, count: counts[code] as number, value: missing.has(label) ? -1 : 1 })); // prettier-ignore
  const known = read.map(({ label, value }) => (value < 0 ? undefined : canonicalLabel(label)));
  return {
    labelOf: (row) => known[codes[row] as number],
    reading: readingOfGroups(
      name,
      read.filter(({ label }) => label !== ''),
      naValues,
    ),
  };
}

/** Returns the number of data rows with each code. */
function countsByCode(codes: Int32Array, n: Float64Array, size: number): Float64Array {
  const counts = new Float64Array(size);
  codes.forEach((code, row) => {
    if (code >= 0) counts[code] = (counts[code] as number) + (n[row] as number);
  });
  return counts;
}

import { ConfigValidationError, DataValidationError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames, suggestNames } from '../internal/arguments.ts';
import { MAX_LABEL_LENGTH, nameOf, tooLongLabel, tooManyGroups } from '../io/assert-few-groups.ts';
import { rowsSource } from '../metrics/analyzer/rows-source.ts';
import { metricBackend } from '../metrics/backends/metric-backend.ts';
import { countRows } from '../metrics/compute-metric.ts';
import { type ControlCell, crossControl } from '../metrics/frame/index.ts';
import { rowsRead } from '../metrics/metric-rows.ts';
import { toFiniteNumbers } from '../metrics/reduce/row-arguments.ts';
import { groupReadings, outcomeReadings } from '../metrics/reduce/row-readings.ts';
import type { MetricRows } from '../metrics/row-options.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import { parseBy } from '../schemas/parse.ts';
import { type MeasureOptionsInput, rowOptionsSchema } from '../schemas/validate-values.ts';
import { isColumn } from '../table/column-source.ts';
import {
  type CategoricalColumn,
  type ColumnReading,
  type ColumnSource,
  encodeGroups,
  INTERSECTION_SEPARATOR,
  type NanPolicy,
} from '../table/index.ts';
import {
  type AttributeStatistics,
  binaryTruth,
  decideScores,
  type FileValidation,
  type KindStatistics,
  measureAttributes,
  type MeasureRequest,
  type NeededStatistics,
  neededStatistics,
} from './measure-attributes.ts';
import { atOnce, inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';

/** Rows as arrays, and how they are measured and judged. */
export interface ValidateRowsInput extends MeasureOptionsInput {
  /** Decisions, 0 or 1, or labels with `positiveLabel`; numbers for a metric of numbers. NaN, null and undefined are missing. */
  readonly yPred?: ColumnSource | undefined;
  /** Scores, decided at `scoreThreshold` where there is no yPred. */
  readonly yScore?: ColumnSource | undefined;
  /** True labels, or true numbers; adds equalized odds. */
  readonly yTrue?: ColumnSource | undefined;
  /** One attribute, which is called `sensitive`; or several by their names, each analysed apart. */
  readonly sensitive: ColumnSource | Readonly<Record<string, ColumnSource>>;
  /**
   * Attributes to cross, beside each by itself.
   * @defaultValue none
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** Weights of rows, 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** A feature inside whose levels groups are compared too; several columns are crossed. */
  readonly control?: ColumnSource | Readonly<Record<string, ColumnSource>> | undefined;
  /**
   * What counts the rows: native, danfo or duckdb; the numbers are the same.
   * @defaultValue 'native'
   */
  readonly backend?: 'native' | 'danfo' | 'duckdb' | undefined;
}

const COLUMN_NAMES: OptionNames<Omit<ValidateRowsInput, keyof typeof rowOptionsSchema.shape>> = {
  yPred: true,
  yScore: true,
  yTrue: true,
  sensitive: true,
  intersections: true,
  sampleWeight: true,
  control: true,
};

/** The options are those of the schema, which reads them beside columns and so cannot refuse other names itself. */
const VALIDATE_ROWS_INPUT_NAMES: Readonly<Record<string, true>> = {
  ...COLUMN_NAMES,
  ...Object.fromEntries(Object.keys(rowOptionsSchema.shape).map((name) => [name, true as const])),
};

/**
 * Measures the decisions (or predictions, or scores) in arrays for every attribute asked for, and puts the result before
 * the gate: what `validateFile` does of a file, with the same numbers. A threshold without a metric is for
 * `demographic_parity_difference`. O(rows) for each attribute.
 *
 * `bounds` say what it may cost and what stops it, which a service sets; nothing bounds it where they are left out.
 *
 * Intervals are left out unless `withCi` asks for them, as are effect sizes and p-values.
 * @throws {DataValidationError} for values that cannot be used, with the argument and the first bad index, no row left, or more than the bounds allow
 * @throws {ConfigValidationError} for an option out of range
 * @throws {ValueError} for an unknown metric, or one whose columns were not given
 * @example
 * ```ts
 * import { validateRows, validationToJson } from 'evenhand/integration';
 *
 * const validation = await validateRows({
 *   yPred: [1, 1, 1, 0],
 *   sensitive: { sex: ['f', 'f', 'm', 'm'] },
 *   minGroupSize: 2,
 *   threshold: 0.2,
 * });
 * console.log(validation.passed, validation.attributes.sex?.demographic_parity_difference?.value);
 * // false 0.5
 * console.log(Object.keys(validationToJson(validation)).join(' '));
 * // passed verdict threshold gates metrics
 * ```
 */
export async function validateRows(input: ValidateRowsInput, bounds: ValidateBounds = {}): Promise<FileValidation> {
  assertKnownOptions('validateRows', bounds, VALIDATE_BOUNDS_NAMES);
  const { mostGroups, signal } = bounds;
  if (mostGroups !== undefined) assertFewRowGroups(input, mostGroups);
  const plan = planRows(input);
  const { backend } = plan;
  if (backend === 'native') return inTurns(measureSteps(plan, bounds), signal);
  const loadBackend = metricBackend(backend);
  const byKind: KindStatistics[] = [];
  for (const needed of neededStatistics(plan.request)) {
    signal?.throwIfAborted();
    const request = { ...needed, metric: 'validate' };
    const count = async (rows: AttributeRows['own']): ReturnType<ReturnType<typeof rowsSource>['statistics']> =>
      rowsSource(loadBackend, rows).statistics(request);
    const counted = attributeRows(plan.columns, needed).map(
      async ({ own, crossed, readings }): Promise<AttributeStatistics> => ({
        stats: { ...(await count(own)), readings },
        crossed: crossed === undefined ? undefined : { stats: await count(crossed.rows), cells: crossed.cells },
      }),
    );
    byKind.push([needed.kind, await Promise.all(counted)]);
  }
  return inTurns(measureAttributes(plan.request, byKind, bounds), signal);
}

/**
 * {@link validateRows} at once, on the host: for few rows a promise would cost more than the work.
 * @throws {ValueError} for another backend than native
 */
export function validateRowsNow(input: ValidateRowsInput): FileValidation {
  const plan = planRows(input);
  const { backend } = plan;
  if (backend === 'native') return atOnce(measureSteps(plan, {}));
  throw new ValueError(`The backend parameter must be native where no promise is given. Got '${backend}' instead.`, {
    context: { parameter: 'backend', value: backend },
    suggestion: 'Use validateRows.',
  });
}

/** What is measured of which columns. */
interface RowPlan {
  readonly backend: 'native' | 'danfo' | 'duckdb';
  readonly request: MeasureRequest;
  readonly columns: DecisionColumns;
}

function* measureSteps({ request, columns }: RowPlan, bounds: ValidateBounds): Generator<void, FileValidation, void> {
  const byKind: KindStatistics[] = [];
  for (const needed of neededStatistics(request)) byKind.push([needed.kind, yield* countSteps(columns, needed)]);
  return yield* measureAttributes(request, byKind, bounds);
}

function* countSteps(
  columns: DecisionColumns,
  { kind, needsTruth }: NeededStatistics,
): Generator<void, AttributeStatistics[], void> {
  const count = (rows: AttributeRows['own']): AttributeStatistics['stats'] =>
    countRows(kind, rowsRead(rows, needsTruth), 'validate');
  const counted: AttributeStatistics[] = [];
  for (const { own, crossed, readings } of attributeRows(columns, { kind, needsTruth })) {
    yield;
    counted.push({
      stats: { ...count(own), readings },
      crossed: crossed === undefined ? undefined : { stats: count(crossed.rows), cells: crossed.cells },
    });
  }
  return counted;
}

function planRows(input: ValidateRowsInput): RowPlan {
  assertKnownOptions('validateRows', input, VALIDATE_ROWS_INPUT_NAMES);
  const options = parseBy(rowOptionsSchema, input, 'validateRows');
  const { yPred, yScore, yTrue, sampleWeight, control } = input;
  assertDecisions(input);
  if (options.yTruePositiveLabel !== undefined && yTrue === undefined) {
    throw new ConfigValidationError('A positive label of the truth (yTruePositiveLabel) needs true labels.', {
      context: { parameter: 'yTruePositiveLabel' },
      suggestion: 'Give yTrue too, or leave it out.',
    });
  }
  const sensitive = columnsByName(input.sensitive, 'sensitive', options.naValues);
  const attributes = attributesOf([...sensitive.columns.keys()], input.intersections ?? []);
  const request: MeasureRequest = {
    ...options,
    metric: options.metric ?? (options.threshold === undefined ? undefined : 'demographic_parity_difference'),
    names: attributes.map((parts) => parts.join(INTERSECTION_SEPARATOR)),
    hasTruth: yTrue !== undefined,
    hasPredictions: yPred !== undefined,
    hasScores: yScore !== undefined,
  };
  const columns: DecisionColumns = {
    yPred,
    yScore,
    yTrue,
    sampleWeight,
    sensitive,
    attributes,
    control: control === undefined ? undefined : columnsByName(control, 'control', options.naValues),
    nanPolicy: options.nanPolicy,
    naValues: options.naValues,
    positiveLabel: options.positiveLabel,
    yTruePositiveLabel: options.yTruePositiveLabel,
    scoreThreshold: options.scoreThreshold,
  };
  return { backend: options.backend, request, columns };
}

function assertDecisions({ yPred, yScore, threshold, comparator }: ValidateRowsInput): void {
  if (yPred === undefined && yScore === undefined) {
    throw new DataValidationError('There are neither decisions (yPred) nor scores (yScore) to measure.', {
      context: { argument: 'yPred' },
      suggestion: 'Give one of them.',
    });
  }
  if (comparator === undefined || threshold !== undefined) return;
  throw new ConfigValidationError('A comparator needs a threshold.', { context: { parameter: 'comparator' } });
}

/** Each attribute by itself, then those that are crossed. */
function attributesOf(names: readonly string[], intersections: readonly (readonly string[])[]): string[][] {
  for (const name of intersections.flat()) {
    if (names.includes(name)) continue;
    throw new DataValidationError(`intersections names '${name}', which is no attribute of sensitive.`, {
      context: { argument: 'intersections', value: name },
      suggestion: suggestNames(name, names, 'attributes'),
    });
  }
  return [...names.map((name) => [name]), ...intersections.map((parts) => [...parts])];
}

/** A column, or several by their names. */
type Columns = ColumnSource | Readonly<Record<string, ColumnSource>>;

/** The columns of arrays that name groups. */
interface GroupColumns {
  readonly sensitive: Columns;
  readonly control?: Columns | undefined;
  readonly intersections?: readonly (readonly string[])[] | undefined;
}

/** Codes of a column's rows, and how many there are. */
interface Codes {
  readonly name: string;
  readonly codes: ArrayLike<number>;
  readonly count: number;
}

/**
 * Checks that the attributes of arrays have few groups, by themselves, crossed, and inside the levels of a control
 * feature. Fewer rows than groups may be need no counting; counting stops at the limit.
 * @throws {DataValidationError} for an attribute of more groups, or a label of more than 1,000 characters
 */
function assertFewRowGroups({ sensitive, control, intersections = [] }: GroupColumns, mostGroups: number): void {
  const encode = ([name, column]: readonly [string, unknown]): Codes => encodeColumn(name, column, mostGroups);
  const own = new Map(columnsOf(sensitive, 'sensitive').map((entry) => [entry[0], encode(entry)]));
  const levels = control === undefined ? [] : columnsOf(control, 'control').map(encode);
  const crossings = [...[...own.keys()].map((name) => [name]), ...intersections];
  for (const names of crossings) {
    const parts = names.map((name) => own.get(name)).filter((part) => part !== undefined);
    // An unknown name is refused where it is read.
    if (parts.length < names.length) continue;
    assertFewCrossed(parts, mostGroups);
    if (levels.length > 0) assertFewCrossed([...levels, ...parts], mostGroups);
  }
}

function columnsOf(given: unknown, argument: string): (readonly [string, unknown])[] {
  const prototype: unknown = typeof given === 'object' && given !== null ? Object.getPrototypeOf(given) : undefined;
  const isNamed = (prototype === Object.prototype || prototype === null) && !('kind' in (given as object));
  return isNamed ? Object.entries(given as object) : [[argument, given]];
}

function encodeColumn(name: string, column: unknown, mostGroups: number): Codes {
  const rows = Array.isArray(column) ? (column as readonly unknown[]) : undefined;
  if (rows === undefined) {
    const { codes, labels } = encodeGroups(column as Parameters<typeof encodeGroups>[0]);
    for (const label of labels) assertShort(name, label);
    if (labels.length > mostGroups) throw tooManyGroups(name, mostGroups);
    return { name, codes, count: labels.length + 1 };
  }
  for (const label of rows) assertShort(name, label);
  // Of few rows there are few groups, and few combinations.
  if (rows.length <= mostGroups) return { name, codes: [], count: 1 };
  const codeOf = new Map<unknown, number>();
  const codes = new Int32Array(rows.length);
  for (const [row, label] of rows.entries()) {
    const code = codeOf.get(label) ?? codeOf.size;
    if (code === codeOf.size) {
      if (code === mostGroups && label !== null && label !== undefined) throw tooManyGroups(name, mostGroups);
      codeOf.set(label, code);
    }
    codes[row] = code;
  }
  return { name, codes, count: codeOf.size };
}

function assertShort(name: string, label: unknown): void {
  if (typeof label === 'string' && label.length > MAX_LABEL_LENGTH) throw tooLongLabel(name, label.length);
}

function assertFewCrossed(parts: readonly Codes[], mostGroups: number): void {
  if (parts.length === 1 || parts.reduce((product, { count }) => product * count, 1) <= mostGroups) return;
  const found = new Set<string>();
  const rows = Math.min(...parts.map(({ codes }) => codes.length));
  for (let row = 0; row < rows; row++) {
    found.add(parts.map(({ codes }) => codes[row]).join());
    if (found.size > mostGroups) throw tooManyGroups(nameOf(parts.map(({ name }) => name)), mostGroups);
  }
}

/** Rows as columns, and which of them are attributes. */
interface DecisionColumns {
  readonly yPred: ColumnSource | undefined;
  readonly yScore: ColumnSource | undefined;
  readonly yTrue: ColumnSource | undefined;
  readonly sampleWeight: ColumnSource | undefined;
  readonly sensitive: NamedGroups;
  /** Names of `sensitive`; several are crossed. */
  readonly attributes: readonly (readonly string[])[];
  readonly control: NamedGroups | undefined;
  readonly nanPolicy: NanPolicy;
  readonly naValues: readonly string[] | undefined;
  readonly positiveLabel: string | undefined;
  readonly yTruePositiveLabel: string | undefined;
  readonly scoreThreshold: number | undefined;
}

/** Columns of groups by their names, and what their labels were read as. */
interface NamedGroups {
  readonly columns: ReadonlyMap<string, CategoricalColumn>;
  readonly readings: readonly ColumnReading[];
}

/** The rows of one attribute, and crossed with the control feature. */
interface AttributeRows {
  readonly own: MetricRows;
  /** What labels and texts were read as. */
  readonly readings: readonly ColumnReading[];
  readonly crossed: { readonly rows: MetricRows; readonly cells: readonly ControlCell[] } | undefined;
}

/** The rows that statistics of a kind are made of, for each attribute. */
function attributeRows(columns: DecisionColumns, { kind, needsTruth }: NeededStatistics): AttributeRows[] {
  const { attributes, sensitive, control, nanPolicy, naValues } = columns;
  const common: Omit<MetricRows, 'sensitive'> = { ...outcomes(columns, kind), nanPolicy, naValues };
  const outcome = outcomeReadings(readKind(columns, kind), {
    ...columns,
    yTrue: needsTruth ? columns.yTrue : undefined,
  });
  return attributes.map((names): AttributeRows => {
    const own = pick(sensitive.columns, names);
    const rows = { ...common, sensitive: own };
    const groups = sensitive.readings.filter(({ name }) => names.includes(name ?? ''));
    const readings = [...outcome, ...groups, ...(control?.readings ?? [])];
    if (control === undefined) return { own: rows, readings, crossed: undefined };
    const levels = pick(control.columns, [...control.columns.keys()]);
    const { column, cells } = crossControl(own, levels, nanPolicy, naValues);
    return { own: rows, readings, crossed: { rows: { ...common, sensitive: column }, cells } };
  });
}

/** Scores that are decided at a threshold are read as scores. */
function readKind({ yPred, yScore }: DecisionColumns, kind: GroupStats['kind']): GroupStats['kind'] {
  return kind === 'classification' && yPred === undefined && yScore !== undefined ? 'scores' : kind;
}

/**
 * Columns by their names, as codes, so that none is encoded twice. One without a name has the argument's.
 * @throws {DataValidationError} where there is none, or one is no column
 */
function columnsByName(
  given: ColumnSource | Readonly<Record<string, ColumnSource>>,
  argument: string,
  naValues: readonly string[] | undefined,
): NamedGroups {
  const named = isNamed(given) ? Object.entries(given) : [[argument, given] as const];
  if (named.length === 0) {
    throw new DataValidationError(`${argument} names no column.`, {
      context: { argument },
      suggestion: 'Give at least one column, as in { sex: [...] }.',
    });
  }
  const encoded = named.map(([name, column]) => [name, encodeGroups(column)] as const);
  return {
    columns: new Map(encoded.map(([name, column]) => [name, encodeGroups(column, 'exclude', naValues)])),
    readings: groupReadings(Object.fromEntries(encoded), naValues),
  };
}

/** Whether columns have names: a plain object that is no column itself. */
function isNamed(
  given: ColumnSource | Readonly<Record<string, ColumnSource>>,
): given is Readonly<Record<string, ColumnSource>> {
  if (typeof given !== 'object' || (isColumn(given) && typeof given.kind === 'string')) return false;
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === Object.prototype || prototype === null;
}

function pick(columns: ReadonlyMap<string, CategoricalColumn>, names: readonly string[]): MetricRows['sensitive'] {
  const [first = '', ...others] = names;
  // An object of one column is read as several would be, which takes longer.
  if (others.length === 0) return columns.get(first) as CategoricalColumn;
  return Object.fromEntries(names.map((name) => [name, columns.get(name) as CategoricalColumn]));
}

/** Decisions made of scores are 0 and 1, and the truth beside them too. */
function outcomes(columns: DecisionColumns, kind: GroupStats['kind']): Omit<MetricRows, 'sensitive' | 'nanPolicy'> {
  const { yPred, yScore, yTrue, sampleWeight, positiveLabel, yTruePositiveLabel, naValues, scoreThreshold } = columns;
  if (yPred !== undefined || yScore === undefined || kind !== 'classification') {
    return { yPred, yScore, yTrue, sampleWeight, positiveLabel, yTruePositiveLabel };
  }
  return {
    yPred: decideScores(toFiniteNumbers(yScore, 'yScore', naValues), scoreThreshold),
    yTrue: yTrue === undefined ? undefined : binaryTruth(yTrue, columns),
    sampleWeight,
  };
}

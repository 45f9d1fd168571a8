import type { z } from 'zod';

import { ConfigValidationError, DataValidationError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames, suggestNames } from '../internal/arguments.ts';
import { MAX_LABEL_LENGTH, nameOf, tooLongLabel, tooManyGroups } from '../io/group-limits.ts';
import { rowsSource } from '../metrics/analyzer/rows-source.ts';
import { metricBackend } from '../metrics/backends/metric-backend.ts';
import { countRows } from '../metrics/compute-metric.ts';
import { type ControlCell, crossControl } from '../metrics/frame/index.ts';
import { classNamesOf, rowsRead } from '../metrics/metric-rows.ts';
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
  onHost,
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
  ofClasses,
  type OutcomeClasses,
} from './measure-attributes.ts';
import { assertFewClasses, atOnce, inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';

/** Input of {@link validateRows}: the rows as arrays, the metrics and the gate. */
export interface ValidateRowsInput extends MeasureOptionsInput {
  /**
   * Decisions: 0 or 1, or labels with `positiveLabel`. For a regression metric, predicted numbers. NaN, null and
   * undefined are missing values.
   */
  readonly yPred?: ColumnSource | undefined;
  /** Scores. If `yPred` is missing, `scoreThreshold` turns the scores into decisions. */
  readonly yScore?: ColumnSource | undefined;
  /** True labels, or true numbers. With true labels, equalized odds is measured too. */
  readonly yTrue?: ColumnSource | undefined;
  /**
   * One attribute, which gets the name `sensitive`, or an object with several attributes by name. Each attribute is
   * analysed separately.
   */
  readonly sensitive: ColumnSource | Readonly<Record<string, ColumnSource>>;
  /**
   * Combinations of attributes to cross, in addition to each attribute by itself.
   * @defaultValue none
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** Weights of rows, 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The cluster of each row, such as a person; see the option `cluster` of metrics. */
  readonly cluster?: ColumnSource | undefined;
  /** The stratum of each row; see the option `strata` of metrics. */
  readonly strata?: ColumnSource | undefined;
  /** A control feature: groups are also compared within each of its levels. Several columns are crossed. */
  readonly control?: ColumnSource | Readonly<Record<string, ColumnSource>> | undefined;
  /**
   * The backend that counts the rows: native, danfo or duckdb. All give the same numbers.
   * @defaultValue 'native'
   */
  readonly backend?: 'native' | 'danfo' | 'duckdb' | undefined;
}

/** The options for rows in arrays, with defaults filled in. */
type RowOptions = z.output<typeof rowOptionsSchema>;

const COLUMN_NAMES: OptionNames<Omit<ValidateRowsInput, keyof typeof rowOptionsSchema.shape>> = {
  yPred: true,
  yScore: true,
  yTrue: true,
  sensitive: true,
  intersections: true,
  sampleWeight: true,
  cluster: true,
  strata: true,
  control: true,
};

/** All input names. The schema contains options and columns together, so it cannot reject unknown names itself. */
const VALIDATE_ROWS_INPUT_NAMES: Readonly<Record<string, true>> = {
  ...COLUMN_NAMES,
  ...Object.fromEntries(Object.keys(rowOptionsSchema.shape).map((name) => [name, true as const])),
};

/**
 * Measures the decisions (or predictions, or scores) in arrays for every requested attribute and applies the gate. This
 * function gives the same numbers as `validateFile`. A threshold without a metric applies to
 * `demographic_parity_difference`. Takes O(rows) for each attribute.
 *
 * `bounds` limit the cost of the validation and can contain a signal that stops it. By default there is no limit.
 *
 * Intervals are computed unless `withCi` is false. Effect sizes and p-values are computed only if their options are
 * set. Each gate in `gates` applies to the attributes that it names, or to all attributes if it names none.
 * @throws {DataValidationError} if values cannot be used (with the argument and the first bad index), no row remains,
 *   or a bound is exceeded
 * @throws {ConfigValidationError} if an option is out of range
 * @throws {ValueError} if a metric is unknown, or its columns were not given
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
 * // passed threshold gates verdict metrics attributes
 * ```
 */
export async function validateRows(input: ValidateRowsInput, bounds: ValidateBounds = {}): Promise<FileValidation> {
  assertKnownOptions('validateRows', bounds, VALIDATE_BOUNDS_NAMES);
  assertKnownOptions('validateRows', input, VALIDATE_ROWS_INPUT_NAMES);
  const { maxGroups, signal } = bounds;
  const given = await onHost(input);
  if (maxGroups !== undefined) assertFewRowGroups(given, maxGroups);
  const plan = planRows(given);
  const { backend } = plan;
  if (backend === 'native') return inTurns(measureSteps(plan, bounds), signal);
  const loadBackend = metricBackend(backend);
  const byKind: KindStatistics[] = [];
  for (const needed of neededStatistics(plan.request)) {
    signal?.throwIfAborted();
    const classes = classesOf(plan.columns, needed, bounds);
    const count = async (rows: AttributeRows['own'], className?: string): Promise<GroupStats> =>
      rowsSource(loadBackend, rows).statistics({ ...needed, metric: 'validate', className });
    const counted = attributeRows(plan.columns, needed).map(
      async ({ own, crossed, readings }): Promise<AttributeStatistics> => {
        if (classes !== undefined) {
          return ofClasses(classes, await Promise.all(classes.all.map((name) => count(own, name))), readings);
        }
        return {
          stats: { ...(await count(own)), readings },
          crossed: crossed === undefined ? undefined : { stats: await count(crossed.rows), cells: crossed.cells },
        };
      },
    );
    byKind.push([needed.kind, await Promise.all(counted)]);
  }
  return inTurns(measureAttributes(plan.request, byKind, { ...bounds, scores: seenScores(plan) }), signal);
}

/**
 * Runs {@link validateRows} synchronously on the native backend. For few rows, creating a promise would take longer
 * than the validation.
 * @throws {ValueError} if the backend is not native
 */
export function validateRowsNow(input: ValidateRowsInput): FileValidation {
  assertKnownOptions('validateRows', input, VALIDATE_ROWS_INPUT_NAMES);
  return validateRemembered(input, new RequestMemory());
}

/**
 * Runs {@link validateRowsNow} with what earlier validations with the same options remembered. The input must have no
 * unknown options.
 */
export function validateRemembered(input: ValidateRowsInput, memory: RequestMemory): FileValidation {
  const plan = planRows(input, memory);
  const { backend } = plan;
  if (backend === 'native') return atOnce(measureSteps(plan, {}));
  throw new ValueError(`The backend parameter must be native in a synchronous call. Got '${backend}' instead.`, {
    context: { parameter: 'backend', value: backend },
    suggestion: 'Use validateRows, or set backend to native.',
  });
}

/**
 * What earlier validations with the same options computed from their options alone. Use one memory for one set of
 * options.
 */
export class RequestMemory {
  /** The parsed options. */
  options: RowOptions | undefined;
  /** The requests, by the names of the attributes and the given columns. */
  readonly requests = new Map<string, MeasureRequest>();
}

/** The maximum number of requests in a {@link RequestMemory}. */
const MAX_REQUESTS = 16;

/** The metrics to compute, and the columns to compute them from. */
interface RowPlan {
  readonly backend: 'native' | 'danfo' | 'duckdb';
  readonly request: MeasureRequest;
  readonly columns: DecisionColumns;
}

function* measureSteps(plan: RowPlan, bounds: ValidateBounds): Generator<void, FileValidation, void> {
  const { request, columns } = plan;
  const byKind: KindStatistics[] = [];
  for (const needed of neededStatistics(request)) {
    byKind.push([needed.kind, yield* countSteps(columns, needed, classesOf(columns, needed, bounds))]);
  }
  return yield* measureAttributes(request, byKind, { ...bounds, scores: seenScores(plan) });
}

function seenScores({ request, columns: { yScore, naValues } }: RowPlan): Float64Array | undefined {
  return yScore === undefined || request.minCell !== undefined
    ? undefined
    : toFiniteNumbers(yScore, 'yScore', naValues);
}

/** Returns the classes to average over, or undefined without `average`. */
function classesOf(
  { average, yPred, yTrue, naValues }: DecisionColumns,
  { needsTruth }: NeededStatistics,
  { maxClasses }: ValidateBounds,
): OutcomeClasses | undefined {
  if (average === undefined) return undefined;
  const predicted = classNamesOf({ yPred, naValues });
  const all = needsTruth ? classNamesOf({ yPred, yTrue, naValues }) : predicted;
  assertFewClasses(all.length, maxClasses);
  return { all, predicted };
}

function* countSteps(
  columns: DecisionColumns,
  { kind, needsTruth }: NeededStatistics,
  classes: OutcomeClasses | undefined,
): Generator<void, AttributeStatistics[], void> {
  const count = (rows: AttributeRows['own']): AttributeStatistics['stats'] =>
    countRows(kind, rowsRead(rows, needsTruth), 'validate');
  const counted: AttributeStatistics[] = [];
  for (const { own, crossed, readings } of attributeRows(columns, { kind, needsTruth })) {
    yield;
    if (classes !== undefined) {
      const ofEach = classes.all.map((name) => count({ ...own, positiveLabel: name, average: 'macro' }));
      counted.push(ofClasses(classes, ofEach, readings));
      continue;
    }
    counted.push({
      stats: { readings, ...count(own) },
      crossed: crossed === undefined ? undefined : { stats: count(crossed.rows), cells: crossed.cells },
    });
  }
  return counted;
}

function planRows(input: ValidateRowsInput, memory = new RequestMemory()): RowPlan {
  const options = (memory.options ??= parseBy(rowOptionsSchema, input, 'validateRows'));
  const { yPred, yScore, yTrue, sampleWeight, cluster, strata, control } = input;
  if (options.minCell !== undefined && (cluster !== undefined || strata !== undefined)) {
    throw new ConfigValidationError('Small counts cannot be left out together with clusters.', {
      context: { parameter: 'minCell' },
      suggestion: 'Omit minCell, or omit cluster and strata.',
    });
  }
  assertDecisions(input);
  if (options.yTruePositiveLabel !== undefined && yTrue === undefined) {
    throw new ConfigValidationError('The yTruePositiveLabel option needs true labels.', {
      context: { parameter: 'yTruePositiveLabel' },
      suggestion: 'Pass yTrue too, or omit yTruePositiveLabel.',
    });
  }
  const sensitive = columnsByName(input.sensitive, 'sensitive', options.naValues);
  const attributes = attributesOf([...sensitive.columns.keys()], input.intersections ?? []);
  const { nanPolicy, naValues, average, positiveLabel, yTruePositiveLabel, scoreThreshold } = options;
  // Fields one by one: spreading them takes several times as long.
  const columns: DecisionColumns = {
    nanPolicy,
    naValues,
    average,
    positiveLabel,
    yTruePositiveLabel,
    scoreThreshold,
    yPred,
    yScore,
    yTrue,
    sampleWeight,
    cluster,
    strata,
    sensitive,
    attributes,
    control: control === undefined ? undefined : columnsByName(control, 'control', options.naValues),
  };
  return { backend: options.backend, request: requestOf(columns, options, memory), columns };
}

/** Returns the request for columns. The same request is returned again for the same names and kinds of columns. */
function requestOf(
  { yPred, yScore, yTrue, control, attributes }: DecisionColumns,
  options: RowOptions,
  { requests }: RequestMemory,
): MeasureRequest {
  const given = { hasTruth: yTrue !== undefined, hasPredictions: yPred !== undefined, hasScores: yScore !== undefined };
  const hasControl = control !== undefined;
  const key = keyOf(attributes, [given.hasTruth, given.hasPredictions, given.hasScores, hasControl]);
  const known = requests.get(key);
  if (known !== undefined) return known;
  const request: MeasureRequest = Object.freeze({
    ...options,
    metric: options.metric ?? (options.threshold === undefined ? undefined : 'demographic_parity_difference'),
    names: attributes.map((parts) => parts.join(INTERSECTION_SEPARATOR)),
    ...given,
    hasControl,
  });
  if (requests.size < MAX_REQUESTS) requests.set(key, request);
  return request;
}

/** Returns a text that determines names and flags. The text of a single name begins with a digit, and JSON with a bracket. */
function keyOf(attributes: DecisionColumns['attributes'], flags: readonly boolean[]): string {
  const [first] = attributes;
  const isSingle = attributes.length === 1 && first?.length === 1;
  const number = flags.reduce((sum, is) => 2 * sum + Number(is), 0);
  return isSingle ? `${String(number)} ${String(first[0])}` : JSON.stringify([attributes, number]);
}

function assertDecisions({ yPred, yScore, threshold, comparator }: ValidateRowsInput): void {
  if (yPred === undefined && yScore === undefined) {
    throw new DataValidationError('Neither decisions (yPred) nor scores (yScore) were given.', {
      context: { argument: 'yPred' },
      suggestion: 'Pass yPred or yScore.',
    });
  }
  if (comparator === undefined || threshold !== undefined) return;
  throw new ConfigValidationError('A comparator needs a threshold. Add a threshold, or remove the comparator.', {
    context: { parameter: 'comparator' },
  });
}

/** Lists each attribute by itself, then the intersections. */
function attributesOf(names: readonly string[], intersections: readonly (readonly string[])[]): string[][] {
  for (const name of intersections.flat()) {
    if (names.includes(name)) continue;
    throw new DataValidationError(`intersections names '${name}', which is not an attribute of sensitive.`, {
      context: { argument: 'intersections', value: name },
      suggestion: suggestNames(name, names, 'attributes'),
    });
  }
  return [...names.map((name) => [name]), ...intersections.map((parts) => [...parts])];
}

/** The code of each row in a column, and the number of distinct codes. */
interface Codes {
  readonly name: string;
  readonly codes: ArrayLike<number>;
  readonly count: number;
}

/**
 * Checks that the attributes have at most `maxGroups` groups: each by itself, crossed, and within the levels of a
 * control feature. If there are at most `maxGroups` rows, the groups are not counted. Counting stops at the limit.
 * @throws {DataValidationError} if an attribute has more groups, or a label has more than 1,000 characters
 */
function assertFewRowGroups(
  { sensitive, control, intersections = [] }: Pick<ValidateRowsInput, 'sensitive' | 'control' | 'intersections'>,
  maxGroups: number,
): void {
  const encode = ([name, column]: readonly [string, ColumnSource]): Codes => encodeColumn(name, column, maxGroups);
  const own = new Map(namedColumns(sensitive, 'sensitive').map((entry) => [entry[0], encode(entry)]));
  const levels = control === undefined ? [] : namedColumns(control, 'control').map(encode);
  const crossings = [...[...own.keys()].map((name) => [name]), ...intersections];
  for (const names of crossings) {
    const parts = names.map((name) => own.get(name)).filter((part) => part !== undefined);
    // An unknown name is rejected later, when it is read.
    if (parts.length < names.length) continue;
    assertFewCrossed(parts, maxGroups);
    if (levels.length > 0) assertFewCrossed([...levels, ...parts], maxGroups);
  }
}

function encodeColumn(name: string, column: ColumnSource, maxGroups: number): Codes {
  const rows = Array.isArray(column) ? (column as readonly unknown[]) : undefined;
  if (rows === undefined) {
    const { codes, labels } = encodeGroups(column);
    for (const label of labels) assertShort(name, label);
    if (labels.length > maxGroups) throw tooManyGroups(name, maxGroups);
    return { name, codes, count: labels.length + 1 };
  }
  for (const label of rows) assertShort(name, label);
  // Few rows have few groups and few combinations.
  if (rows.length <= maxGroups) return { name, codes: [], count: 1 };
  const codeOf = new Map<unknown, number>();
  const codes = new Int32Array(rows.length);
  for (const [row, label] of rows.entries()) {
    const code = codeOf.get(label) ?? codeOf.size;
    if (code === codeOf.size) {
      if (code === maxGroups && label !== null && label !== undefined) throw tooManyGroups(name, maxGroups);
      codeOf.set(label, code);
    }
    codes[row] = code;
  }
  return { name, codes, count: codeOf.size };
}

function assertShort(name: string, label: unknown): void {
  if (typeof label === 'string' && label.length > MAX_LABEL_LENGTH) throw tooLongLabel(name, label.length);
}

function assertFewCrossed(parts: readonly Codes[], maxGroups: number): void {
  if (parts.length === 1 || parts.reduce((product, { count }) => product * count, 1) <= maxGroups) return;
  const found = new Set<string>();
  const rows = Math.min(...parts.map(({ codes }) => codes.length));
  for (let row = 0; row < rows; row++) {
    found.add(parts.map(({ codes }) => codes[row]).join());
    if (found.size > maxGroups) throw tooManyGroups(nameOf(parts.map(({ name }) => name)), maxGroups);
  }
}

/** The rows as columns, with the names of the attributes. */
interface DecisionColumns
  extends
    Pick<ValidateRowsInput, 'yPred' | 'yScore' | 'yTrue' | 'sampleWeight' | 'cluster' | 'strata'>,
    Pick<RowOptions, 'nanPolicy' | 'naValues' | 'average' | 'positiveLabel' | 'yTruePositiveLabel' | 'scoreThreshold'> {
  readonly sensitive: NamedGroups;
  /** The names of one or more columns of `sensitive`. Several columns are crossed. */
  readonly attributes: readonly (readonly string[])[];
  readonly control: NamedGroups | undefined;
}

/** The columns of groups by name, and descriptions of how their labels were interpreted. */
interface NamedGroups {
  readonly columns: ReadonlyMap<string, CategoricalColumn>;
  readonly readings: readonly ColumnReading[];
}

/** The rows of one attribute, and the same rows crossed with the control feature. */
interface AttributeRows {
  readonly own: MetricRows;
  /** How labels and texts were read. */
  readonly readings: readonly ColumnReading[];
  readonly crossed: { readonly rows: MetricRows; readonly cells: readonly ControlCell[] } | undefined;
}

/** Returns the rows of each attribute from which statistics of a kind are computed. */
function attributeRows(columns: DecisionColumns, { kind, needsTruth }: NeededStatistics): AttributeRows[] {
  const { attributes, sensitive, control, nanPolicy, naValues } = columns;
  const common: Omit<MetricRows, 'sensitive'> = { ...outcomes(columns, kind), nanPolicy, naValues };
  const outcome = outcomeReadings(readKind(columns, kind), {
    ...columns,
    yTrue: needsTruth ? columns.yTrue : undefined,
  });
  return attributes.map((names): AttributeRows => {
    const own = pick(sensitive.columns, names);
    const rows = { sensitive: own, ...common };
    const groups = sensitive.readings.filter(({ name }) => names.includes(name ?? ''));
    const readings = [...outcome, ...groups, ...(control?.readings ?? [])];
    if (control === undefined) return { own: rows, readings, crossed: undefined };
    const levels = pick(control.columns, [...control.columns.keys()]);
    const { column, cells } = crossControl(own, levels, nanPolicy, naValues);
    return { own: rows, readings, crossed: { rows: { ...common, sensitive: column }, cells } };
  });
}

/**
 * Returns the kind of values that predictions contain. Scores count as scores even if a threshold turns them into
 * decisions.
 */
function readKind({ yPred, yScore }: DecisionColumns, kind: GroupStats['kind']): GroupStats['kind'] {
  return kind === 'classification' && yPred === undefined && yScore !== undefined ? 'scores' : kind;
}

/**
 * Encodes each column once, and returns the columns by name. A column without a name gets the name of the argument.
 * @throws {DataValidationError} if there are no columns, or a value is not a column
 */
function columnsByName(given: Columns, argument: string, naValues: readonly string[] | undefined): NamedGroups {
  const named = namedColumns(given, argument);
  if (named.length === 0) {
    throw new DataValidationError(`${argument} has no columns.`, {
      code: 'unknown-column',
      context: { argument },
      suggestion: 'Pass at least one column, as in { sex: [...] }.',
    });
  }
  const encoded = named.map(([name, column]) => [name, encodeGroups(column)] as const);
  return {
    // Without `naValues`, encoding the groups again would change nothing.
    columns: new Map(
      encoded.map(([name, column]) => [
        name,
        naValues === undefined ? column : encodeGroups(column, 'exclude', naValues),
      ]),
    ),
    readings: groupReadings(Object.fromEntries(encoded), naValues),
  };
}

type Columns = ValidateRowsInput['sensitive'];

/** Returns columns with their names. A single column gets the given name. */
function namedColumns(given: Columns, name: string): (readonly [name: string, column: ColumnSource])[] {
  return isNamed(given) ? Object.entries(given) : [[name, given]];
}

function isNamed(given: Columns): given is Readonly<Record<string, ColumnSource>> {
  if (typeof given !== 'object' || (isColumn(given) && typeof given.kind === 'string')) return false;
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === Object.prototype || prototype === null;
}

function pick(columns: ReadonlyMap<string, CategoricalColumn>, names: readonly string[]): MetricRows['sensitive'] {
  const [first = '', ...others] = names;
  // A column by itself is processed faster than an object that holds only this column.
  if (others.length === 0) return columns.get(first) as CategoricalColumn;
  return Object.fromEntries(names.map((name) => [name, columns.get(name) as CategoricalColumn]));
}

/** Returns predictions and truth. If a threshold turns scores into decisions, decisions and true labels are 0 and 1. */
function outcomes(columns: DecisionColumns, kind: GroupStats['kind']): Omit<MetricRows, 'sensitive' | 'nanPolicy'> {
  const { yPred, yScore, yTrue, sampleWeight, positiveLabel, yTruePositiveLabel, naValues, scoreThreshold } = columns;
  const { cluster, strata } = columns;
  if (yPred !== undefined || yScore === undefined || kind !== 'classification') {
    return { yPred, yScore, yTrue, sampleWeight, cluster, strata, positiveLabel, yTruePositiveLabel };
  }
  return {
    yPred: decideScores(toFiniteNumbers(yScore, 'yScore', naValues), scoreThreshold),
    yTrue: yTrue === undefined ? undefined : binaryTruth(yTrue, columns),
    sampleWeight,
    cluster,
    strata,
  };
}

import { ConfigValidationError, DataValidationError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/known-options.ts';
import { suggestNames } from '../internal/nearest.ts';
import { rowsSource } from '../metrics/analyzer/rows-source.ts';
import { metricBackend } from '../metrics/backends/metric-backend.ts';
import { countRows } from '../metrics/compute-metric.ts';
import { rowsRead } from '../metrics/metric-rows.ts';
import { parseBy } from '../schemas/parse.ts';
import { type MeasureOptionsInput, rowOptionsSchema } from '../schemas/validate-values.ts';
import { type ColumnSource, INTERSECTION_SEPARATOR } from '../table/index.ts';
import type { AttributeStatistics, NeededStatistics } from './attribute-statistics.ts';
import {
  type FileValidation,
  type MeasureRequest,
  measureAttributes,
  neededStatistics,
  type KindStatistics,
} from './measure-attributes.ts';
import { atOnce, inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';
import { assertFewRowGroups } from './assert-few-row-groups.ts';
import { attributeRows, type AttributeRows, columnsByName, type DecisionColumns } from './row-statistics.ts';

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

import { DataValidationError } from '../../../exceptions/index.ts';
import type { OptionNames } from '../../../internal/arguments.ts';
import { assertSameLength, toFiniteNumbers } from '../../../metrics/reduce/row-arguments.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  onHost,
  type SensitiveSource,
  toBinary,
} from '../../../table/index.ts';
import { assertNoneMissing, assertRows, readWeights, withoutWeight } from '../../data/fit-rows.ts';
import { assertFiniteTotal, type GroupedScores } from '../grouped-scores.ts';

/** Options that accompany the scores and labels of rows. */
export interface CalibrationRowOptions {
  /** One sensitive attribute, or several attributes whose combinations form the groups. */
  readonly groups: SensitiveSource;
  /** One weight per row, 0 or more. A row with weight 2 counts as two rows. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label of `y` that is treated as 1. Required if labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
}

/** Lists the options of {@link CalibrationRowOptions}. */
export const CALIBRATION_ROW_OPTION_NAMES: OptionNames<CalibrationRowOptions> = {
  groups: true,
  sampleWeight: true,
  positiveLabel: true,
};

/** Rows for fitting a calibrator, in host memory and without missing values. */
export interface CalibrationRows {
  /** The scores, [rows], from 0 to 1. */
  readonly scores: Float64Array;
  /** The labels, [rows], 0 or 1. */
  readonly y: Uint8Array;
  /** The weights, [rows], 0 or more. */
  readonly weights: Float64Array;
  /** Whether each weight is a number of rows that have the same score, label and group. */
  readonly areCounts?: boolean | undefined;
  readonly groups: CategoricalColumn;
}

/**
 * Reads the rows for fitting a calibrator.
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, values are missing, lengths
 * differ, or there are no rows
 */
export async function readCalibrationRows(
  scores: ColumnSource,
  y: ColumnSource,
  { groups, sampleWeight, positiveLabel }: CalibrationRowOptions,
): Promise<CalibrationRows> {
  const rows = await onHost({ y, sampleWeight });
  const scored = await readUnitScores(scores, groups);
  const labels = toBinary(rows.y, 'y', positiveLabel);
  assertNoneMissing('y', labels, (label) => label < 0);
  const weights = readWeights(rows.sampleWeight, scored.scores.length);
  assertSameLength({ scores: scored.scores.length, y: labels.length, sampleWeight: weights.length });
  assertRows(labels.length);
  return { ...scored, y: Uint8Array.from(labels), weights };
}

/**
 * Reads scores from 0 to 1 and groups.
 * @throws {DataValidationError} if scores are outside [0, 1], values are missing, or lengths differ
 */
export async function readUnitScores(source: ColumnSource, sensitive: SensitiveSource): Promise<GroupedScores> {
  assertGroupsGiven(sensitive);
  const rows = await onHost({ source, sensitive });
  const scores = toFiniteNumbers(rows.source, 'scores');
  assertNoneMissing('scores', scores, Number.isNaN);
  const outside = scores.findIndex((score) => score < 0 || score > 1);
  if (outside >= 0) throw outsideRange('scores', scores[outside] as number, `at index ${String(outside)}`, outside);
  // If there are no rows, the kind of the attribute cannot be inferred from the first value.
  const groups: CategoricalColumn =
    scores.length === 0 && Array.isArray(rows.sensitive)
      ? { kind: 'categorical', codes: new Int32Array(rows.sensitive.length), labels: [] }
      : encodeGroups(rows.sensitive);
  assertSameLength({ scores: scores.length, groups: groups.codes.length });
  assertNoneMissing('groups', groups.codes, (code) => code < 0);
  return { scores, groups };
}

/** Returns the rows at the given indices, in the given order. */
export function takeCalibrationRows(
  { scores, y, weights, areCounts, groups }: CalibrationRows,
  rows: Int32Array,
): CalibrationRows {
  const { length } = rows;
  return {
    areCounts,
    scores: pick(scores, new Float64Array(length), rows),
    y: pick(y, new Uint8Array(length), rows),
    weights: pick(weights, new Float64Array(length), rows),
    groups: { ...groups, codes: pick(groups.codes, new Int32Array(length), rows) },
  };
}

/** Copies values with a loop, because `from` with a callback took most of the time on a million rows. */
function pick<Values extends Float64Array | Uint8Array | Int32Array>(
  from: Values,
  into: Values,
  rows: Int32Array,
): Values {
  for (let index = 0; index < rows.length; index++) into[index] = from[rows[index] as number] as number;
  return into;
}

/**
 * Returns the rows with a weight above 0.
 * @throws {DataValidationError} if all weights are 0, or if their sum is infinite
 */
export function withoutWeightless(rows: CalibrationRows): CalibrationRows {
  assertFiniteTotal(rows.weights);
  if (!rows.weights.includes(0)) return rows;
  const kept = Int32Array.from(rows.weights.keys()).filter((row) => (rows.weights[row] as number) > 0);
  if (kept.length > 0) return takeCalibrationRows(rows, kept);
  throw withoutWeight('Set a weight above 0 for the rows to learn from.');
}

/**
 * Returns the error for a score that is not a probability.
 * @param where the position of the score in words; omitted if it is unknown
 */
export function outsideRange(argument: string, value: number, where = '', index?: number): DataValidationError {
  const holds = `holds ${String(value)}${where === '' ? '' : ` ${where}`}`;
  return new DataValidationError(`${argument} must lie in [0, 1], but ${holds}.`, {
    code: 'invalid-value',
    context: { argument, ...(index === undefined ? {} : { index }), value },
    suggestion: 'Divide by the largest possible score, or apply a logistic function to decision values.',
  });
}

/**
 * Checks that groups are given. This check runs first, because the functions that read the groups later call them
 * `sensitive` in error messages.
 * @throws {DataValidationError} if `groups` cannot be read as a column, or if it is an object without columns
 */
export function assertGroupsGiven(groups: unknown): void {
  if (typeof groups !== 'object' || groups === null) {
    throw withoutGroups(`groups must hold one value per row; got ${String(groups)}.`);
  }
  if (Object.getPrototypeOf(groups) === Object.prototype && Object.keys(groups).length === 0) {
    throw withoutGroups('groups names no attribute.');
  }
}

function withoutGroups(message: string): DataValidationError {
  return new DataValidationError(message, {
    context: { argument: 'groups' },
    suggestion: "Specify the group of each row, as in { groups: ['a', 'b'] }, or several attributes to cross.",
  });
}

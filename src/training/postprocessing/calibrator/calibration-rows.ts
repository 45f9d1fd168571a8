import { DataValidationError } from '../../../exceptions/index.ts';
import type { OptionNames } from '../../../internal/arguments.ts';
import { assertSameLength, toFiniteNumbers, toWeights } from '../../../metrics/reduce/row-arguments.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  onHost,
  type SensitiveSource,
  toBinary,
} from '../../../table/index.ts';
import { assertNoneMissing } from '../../data/fit-rows.ts';
import { assertFiniteTotal, type GroupedScores } from '../grouped-scores.ts';

/** What may come with the scores and labels of rows. */
export interface CalibrationRowOptions {
  /** One sensitive attribute, or several to cross. */
  readonly groups: SensitiveSource;
  /** One weight per row, 0 or more; a row of weight 2 counts as two rows. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label of `y` that counts as 1, where labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
}

/** Lists the options of {@link CalibrationRowOptions}. */
export const CALIBRATION_ROW_OPTION_NAMES: OptionNames<CalibrationRowOptions> = {
  groups: true,
  sampleWeight: true,
  positiveLabel: true,
};

/** Rows to calibrate by, on the host; none lacks a value. */
export interface CalibrationRows {
  /** [rows], from 0 to 1. */
  readonly scores: Float64Array;
  /** [rows], 0 or 1. */
  readonly y: Uint8Array;
  /** [rows], 0 or more. */
  readonly weights: Float64Array;
  readonly groups: CategoricalColumn;
}

/**
 * Reads rows to learn from.
 * @throws {DataValidationError} for scores outside [0, 1], labels that are not 0 or 1, missing values, lengths that differ, or no rows
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
  const weights =
    rows.sampleWeight === undefined ? new Float64Array(scored.scores.length).fill(1) : toWeights(rows.sampleWeight);
  assertNoneMissing('sampleWeight', weights, Number.isNaN);
  assertSameLength({ scores: scored.scores.length, y: labels.length, sampleWeight: weights.length });
  if (labels.length === 0) {
    throw new DataValidationError('There are no rows to learn from.', {
      suggestion: 'Check the query or the filter that made the data.',
    });
  }
  return { ...scored, y: Uint8Array.from(labels), weights };
}

/**
 * Reads scores from 0 to 1 and groups.
 * @throws {DataValidationError} for scores outside [0, 1], missing values, or lengths that differ
 */
export async function readUnitScores(source: ColumnSource, sensitive: SensitiveSource): Promise<GroupedScores> {
  assertGroupsGiven(sensitive);
  const rows = await onHost({ source, sensitive });
  const scores = toFiniteNumbers(rows.source, 'scores');
  assertNoneMissing('scores', scores, Number.isNaN);
  const outside = scores.findIndex((score) => score < 0 || score > 1);
  if (outside >= 0) throw outsideRange('scores', scores[outside] as number, `at index ${String(outside)}`, outside);
  // No row has no attribute to be told by its first value.
  const groups: CategoricalColumn =
    scores.length === 0 && Array.isArray(rows.sensitive)
      ? { kind: 'categorical', codes: new Int32Array(rows.sensitive.length), labels: [] }
      : encodeGroups(rows.sensitive);
  assertSameLength({ scores: scores.length, groups: groups.codes.length });
  assertNoneMissing('groups', groups.codes, (code) => code < 0);
  return { scores, groups };
}

/** Some rows, in that order. */
export function takeCalibrationRows(
  { scores, y, weights, groups }: CalibrationRows,
  rows: Int32Array,
): CalibrationRows {
  const { length } = rows;
  return {
    scores: pick(scores, new Float64Array(length), rows),
    y: pick(y, new Uint8Array(length), rows),
    weights: pick(weights, new Float64Array(length), rows),
    groups: { ...groups, codes: pick(groups.codes, new Int32Array(length), rows) },
  };
}

/** A loop: `from` with a function was what took longest on a million rows. */
function pick<Values extends Float64Array | Uint8Array | Int32Array>(
  from: Values,
  into: Values,
  rows: Int32Array,
): Values {
  for (let place = 0; place < rows.length; place++) into[place] = from[rows[place] as number] as number;
  return into;
}

/**
 * The rows of a weight above 0.
 * @throws {DataValidationError} where there is none, or their sum is infinite
 */
export function withoutWeightless(rows: CalibrationRows): CalibrationRows {
  assertFiniteTotal(rows.weights);
  if (!rows.weights.includes(0)) return rows;
  const kept = Int32Array.from(rows.weights.keys()).filter((row) => (rows.weights[row] as number) > 0);
  if (kept.length > 0) return takeCalibrationRows(rows, kept);
  throw new DataValidationError('sampleWeight is 0 in every row, so there is nothing to learn from.', {
    context: { argument: 'sampleWeight' },
    suggestion: 'Give the rows to learn from a weight above 0.',
  });
}

/** The error of a score that is no probability. */
export function outsideRange(argument: string, value: number, where: string, index: number): DataValidationError {
  return new DataValidationError(`${argument} must lie in [0, 1], but holds ${String(value)} ${where}.`, {
    context: { argument, index, value },
    suggestion: 'Divide by the largest possible score, or put decision values through a logistic function.',
  });
}

/**
 * Checks that groups are there, since what reads them calls them `sensitive`.
 * @throws {DataValidationError} for what can be no column, and for an object of no columns
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
    suggestion: "Give each row's group, as in { groups: ['a', 'b'] }, or several attributes to cross.",
  });
}

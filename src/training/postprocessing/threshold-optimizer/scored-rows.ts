import { DataValidationError } from '../../../exceptions/index.ts';
import { assertCodesHaveLabels, assertSameLength, toFiniteNumbers } from '../../../metrics/reduce/row-arguments.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  onHost,
  type SensitiveSource,
  toBinary,
} from '../../../table/index.ts';
import { assertNoneMissing, assertValues, readWeights } from '../../data/fit-rows.ts';
import { assertFiniteTotal, type GroupedScores } from '../grouped-scores.ts';

/**
 * The minimum weight: the smallest normal float64 number times 2^53. If weights are at least this large, their products
 * with rates have full precision.
 */
const MIN_WEIGHT = 2 ** -969;

/**
 * Rows for choosing thresholds, in host memory. No values are missing, every weight is above 0, and every group has
 * rows.
 */
export interface ScoredRows {
  /** The scores, [rows], finite. */
  readonly scores: Float64Array;
  /** The labels, [rows], 0 or 1. */
  readonly y: Int8Array;
  readonly weights: Float64Array;
  readonly groups: CategoricalColumn;
  /** The number of excluded rows, which have weight 0. */
  readonly nZeroWeight: number;
}

/**
 * Reads scores and their groups.
 * @throws {DataValidationError} if lengths differ, values are missing, or scores are text or infinite
 */
export async function readGroupedScores(source: ColumnSource, sensitive: SensitiveSource): Promise<GroupedScores> {
  const given = await onHost({ source, sensitive });
  const scores = toFiniteNumbers(given.source, 'scores');
  const groups = encodeGroups(given.sensitive);
  assertCodesHaveLabels(groups);
  assertSameLength({ scores: scores.length, sensitive: groups.codes.length });
  assertNoneMissing('scores', scores, Number.isNaN);
  assertNoneMissing(
    'sensitive',
    groups.codes,
    (code) => code < 0,
    'Remove these rows, or assign them to a separate group.',
  );
  return { scores, groups };
}

/**
 * Reads the rows for choosing thresholds.
 * @throws {DataValidationError} under the conditions of {@link readGroupedScores}, if labels are not 0 or 1, if a
 *   weight is negative or too small, if the sum of weights is infinite, or if no row remains
 */
export async function readScoredRows(
  source: ColumnSource,
  y: ColumnSource,
  sensitive: SensitiveSource,
  sampleWeight: ColumnSource | undefined,
): Promise<ScoredRows> {
  const { scores, groups } = await readGroupedScores(source, sensitive);
  const given = await onHost({ y, sampleWeight });
  const labels = readLabels(given.y);
  const weights = readWeights(given.sampleWeight, scores.length);
  assertSameLength({ scores: scores.length, y: labels.length, sampleWeight: weights.length });
  assertNoneMissing('y', labels, (label) => label < 0);
  assertCountable(weights);
  return withRowsThatCount({ scores, y: labels, weights, groups, nZeroWeight: 0 });
}

/**
 * Reads the labels, 0 or 1.
 * @throws {DataValidationError} if a label is not 0 or 1. The suggestion in the error is specific to `fit`, which has
 *   no option for a positive label.
 */
function readLabels(y: ColumnSource): Int8Array {
  try {
    return Int8Array.from(toBinary(y, 'y'));
  } catch (error) {
    if (!DataValidationError.isInstance(error) || !('value' in error.context)) throw error;
    throw new DataValidationError(error.message, {
      code: error.code,
      context: error.context,
      suggestion: 'Map the positive label to 1 and the others to 0.',
      cause: error,
    });
  }
}

/**
 * @throws {DataValidationError} if the sum is infinite, or a weight is so small that its products with rates lose
 * precision
 */
function assertCountable(weights: Float64Array): void {
  assertFiniteTotal(weights);
  const required = `be 0 or at least ${String(MIN_WEIGHT)}`;
  const suggestion = 'Divide all weights by the largest weight, and set weights that are still too small to 0.';
  assertValues('sampleWeight', required, weights, (weight) => weight === 0 || weight >= MIN_WEIGHT, suggestion);
}

/**
 * Removes rows with weight 0, and groups that have only such rows. A row with weight 0 is treated as if it did not
 * exist.
 */
function withRowsThatCount(all: ScoredRows): ScoredRows {
  const counting = all.weights.every((weight) => weight > 0) ? all : withPositiveWeight(all);
  if (counting.scores.length > 0) return { ...counting, groups: withUsedLabels(counting.groups) };
  throw new DataValidationError(
    all.weights.length === 0 ? 'There are no rows to choose thresholds from.' : 'sampleWeight is 0 in every row.',
    {
      code: 'empty-data',
      context: { rows: all.weights.length },
      suggestion: 'Check the query or the filter that made the data.',
    },
  );
}

function withPositiveWeight({ scores, y, weights, groups }: ScoredRows): ScoredRows {
  const counts = (_: number, row: number): boolean => (weights[row] as number) > 0;
  const kept = scores.filter(counts);
  return {
    scores: kept,
    y: y.filter(counts),
    weights: weights.filter(counts),
    groups: { ...groups, codes: groups.codes.filter(counts) },
    nZeroWeight: scores.length - kept.length,
  };
}

function withUsedLabels({ codes, labels }: CategoricalColumn): CategoricalColumn {
  const used = [...new Set(codes)].sort((a, b) => a - b);
  const newCodes = new Map(used.map((code, index) => [code, index]));
  return {
    kind: 'categorical',
    codes: codes.map((code) => newCodes.get(code) as number),
    labels: used.map((code) => labels[code] as string),
  };
}

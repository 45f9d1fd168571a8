import { DataValidationError } from '../../../exceptions/index.ts';
import {
  assertCodesHaveLabels,
  assertSameLength,
  toFiniteNumbers,
  toWeights,
} from '../../../metrics/reduce/row-arguments.ts';
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

/** The least normal number times 2^53: a share of it down to the last digit is a normal number. */
const MIN_WEIGHT = 2 ** -969;

/** Rows whose thresholds are to be chosen, on the host. None is missing; every weight is above 0; every group has rows. */
export interface ScoredRows {
  /** [rows], finite. */
  readonly scores: Float64Array;
  /** [rows], 0 or 1. */
  readonly y: Int8Array;
  readonly weights: Float64Array;
  readonly groups: CategoricalColumn;
  /** Rows of weight 0, which were left out. */
  readonly nZeroWeight: number;
}

/**
 * Reads scores and their groups.
 * @throws {DataValidationError} for lengths that differ, missing values, text or infinite scores
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
    'Leave such rows out, or give them a group of their own.',
  );
  return { scores, groups };
}

/**
 * Reads the rows to choose thresholds from.
 * @throws {DataValidationError} as {@link readGroupedScores} does, for labels other than 0 and 1, weights that are
 * negative, too small or of an infinite sum, and where no row is left
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
  const weights =
    given.sampleWeight === undefined ? new Float64Array(scores.length).fill(1) : toWeights(given.sampleWeight);
  assertSameLength({ scores: scores.length, y: labels.length, sampleWeight: weights.length });
  assertNoneMissing('y', labels, (label) => label < 0);
  assertNoneMissing('sampleWeight', weights, Number.isNaN);
  assertCountable(weights);
  return withRowsThatCount({ scores, y: labels, weights, groups, nZeroWeight: 0 });
}

/**
 * The labels, 0 or 1.
 * @throws {DataValidationError} for others, with a way out that there is here: `fit` takes no positive label
 */
function readLabels(y: ColumnSource): Int8Array {
  try {
    return Int8Array.from(toBinary(y, 'y'));
  } catch (error) {
    if (!DataValidationError.isInstance(error) || !('value' in error.context)) throw error;
    throw new DataValidationError(error.message, {
      context: error.context,
      suggestion: 'Map the label that counts as positive to 1 and the others to 0.',
      cause: error,
    });
  }
}

/** @throws {DataValidationError} for a sum that is infinite, or a weight whose products with rates lose digits */
function assertCountable(weights: Float64Array): void {
  assertFiniteTotal(weights);
  const index = weights.findIndex((weight) => weight > 0 && weight < MIN_WEIGHT);
  if (index < 0) return;
  throw new DataValidationError(
    `sampleWeight must be 0 or at least ${String(MIN_WEIGHT)}, but holds ${String(weights[index])} at index ${String(index)}.`,
    {
      context: { argument: 'sampleWeight', index, value: weights[index] },
      suggestion: 'Divide all weights by their largest, and set to 0 those that are still as small.',
    },
  );
}

/** Without rows of weight 0 and groups that have no others: a weight of 0 is the same as no row. */
function withRowsThatCount(all: ScoredRows): ScoredRows {
  const counting = all.weights.every((weight) => weight > 0) ? all : withPositiveWeight(all);
  if (counting.scores.length > 0) return { ...counting, groups: withUsedLabels(counting.groups) };
  throw new DataValidationError(
    all.weights.length === 0 ? 'There are no rows to choose thresholds from.' : 'sampleWeight is 0 in every row.',
    { context: { rows: all.weights.length }, suggestion: 'Check the query or the filter that made the data.' },
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
  const isUsed = new Uint8Array(labels.length);
  for (const code of codes) isUsed[code] = 1;
  const newCodes = new Int32Array(labels.length);
  let used = 0;
  for (let code = 0; code < labels.length; code++) newCodes[code] = isUsed[code] === 1 ? used++ : -1;
  if (used === labels.length) return { kind: 'categorical', codes, labels };
  return {
    kind: 'categorical',
    codes: codes.map((code) => newCodes[code] as number),
    labels: labels.filter((_, code) => isUsed[code] === 1),
  };
}

import { ValueError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import { missingColumn } from '../metric-rows.ts';
import { type ClassificationRows, reduceClassification } from '../reduce/reduce-classification.ts';
import type { RowOptions } from '../row-options.ts';
import { cellIndex, type ClassificationStats, sumCells } from '../statistics/group-stats.ts';

/**
 * The possible values of a benefit, 1 + decision - label: 0 for a false negative, 2 for a false positive, otherwise 1.
 */
export const BENEFITS: readonly number[] = [0, 1, 2];

/** The cells of the rows with each value of {@link BENEFITS}. Rows without a label are not included. */
const CELLS_OF_BENEFIT = [[cellIndex(1, 0)], [cellIndex(0, 0), cellIndex(1, 1)], [cellIndex(0, 1)]];

/** Returns the total weight of the rows with each value of {@link BENEFITS}: one array of shape [groups] per value. */
export function benefitMasses(stats: ClassificationStats, metric: string): readonly Float64Array[] {
  assertTruth(stats, metric);
  return CELLS_OF_BENEFIT.map((cells) => sumCells(stats.weights, cells));
}

/**
 * The row options of inequality metrics that read true labels. Benefits are defined for binary decisions, so there is
 * no average over classes. There are no intervals, for which clusters would be needed.
 */
export type BenefitRowOptions = Omit<RowOptions, 'average' | 'cluster' | 'strata'>;

/** The row options of inequality metrics that read decisions only. */
export type DecisionRowOptions = Omit<BenefitRowOptions, 'yTruePositiveLabel'>;

/** Lists the options of {@link DecisionRowOptions}. */
export const DECISION_ROW_OPTION_NAMES: OptionNames<DecisionRowOptions> = {
  sampleWeight: true,
  positiveLabel: true,
  nanPolicy: true,
  naValues: true,
};

/** Lists the options of {@link BenefitRowOptions}. */
export const BENEFIT_ROW_OPTION_NAMES: OptionNames<BenefitRowOptions> = {
  ...DECISION_ROW_OPTION_NAMES,
  yTruePositiveLabel: true,
};

/**
 * Reduces columns to statistics.
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 */
export function reduceColumns(
  columns: Pick<ClassificationRows, 'yTrue' | 'yPred' | 'sensitive'>,
  { sampleWeight, positiveLabel, yTruePositiveLabel, naValues, nanPolicy }: BenefitRowOptions,
): ClassificationStats {
  return reduceClassification({ ...columns, sampleWeight, positiveLabel, yTruePositiveLabel, naValues, nanPolicy });
}

/** @throws {MetricComputationError} if the statistics contain no true labels */
export function assertTruth(stats: ClassificationStats, metric: string): void {
  if (!stats.hasTruth) throw missingColumn(metric, 'true labels', 'yTrue');
}

/** Options of every generalized entropy index. */
export interface EntropyOptions {
  /**
   * The sensitivity of the index. A large alpha emphasises benefits far above the mean, and a small alpha emphasises
   * benefits near 0. An alpha of 0 gives the mean log deviation, 1 the Theil index, and 2 half the squared coefficient
   * of variation.
   * @defaultValue 2
   */
  readonly alpha?: number | undefined;
}

/** Lists the options of {@link EntropyOptions}. */
export const ENTROPY_OPTION_NAMES: OptionNames<EntropyOptions> = { alpha: true };

/**
 * Applies the default and checks the value.
 * @throws {ValueError} if alpha is not a finite number
 */
export function fillAlpha({ alpha = 2 }: EntropyOptions): number {
  const suggestion = 'Use 2, or 1 for the Theil index, or 0 for the mean log deviation.';
  return finiteNumber('a generalized entropy index', 'alpha', alpha, suggestion);
}

/**
 * Computes the generalized entropy index of values that have weights. Returns NaN if the total weight or the mean is 0.
 */
export function generalizedEntropy(values: ArrayLike<number>, masses: ArrayLike<number>, alpha: number): number {
  let mass = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    mass += masses[i] as number;
    sum += (masses[i] as number) * (values[i] as number);
  }
  const mean = sum / mass;
  let entropy = 0;
  for (let i = 0; i < values.length; i++) {
    if (masses[i] === 0) continue;
    entropy += ((masses[i] as number) / mass) * contribution((values[i] as number) / mean, alpha);
  }
  // The index cannot be negative, so a negative result is a rounding error.
  return mass === 0 ? NaN : Math.max(0, entropy);
}

/**
 * Returns the contribution of a value to the index, given the ratio r of the value to the mean. The textbook term
 * (r^a - 1) / (a (a - 1)) loses digits near a = 1. Since the mean of the ratios is 1, the sum of r^a - 1 can be
 * replaced by the sum of r^a - r = r (e^((a - 1) ln r) - 1).
 */
function contribution(ratio: number, alpha: number): number {
  if (alpha <= 0.5) return growth(Math.log(ratio), alpha) / (alpha - 1);
  return ratio === 0 ? 0 : (ratio / alpha) * growth(Math.log(ratio), alpha - 1);
}

/** Returns (e^(rate x) - 1) / rate, and the limit x if the rate is 0. */
function growth(x: number, rate: number): number {
  return rate === 0 ? x : Math.expm1(rate * x) / rate;
}

/**
 * Checks a numeric option.
 * @param who the name of the function that has the option
 * @throws {ValueError} if the number is NaN, infinite, or below `min`
 */
export function finiteNumber(
  who: string,
  parameter: string,
  given: number,
  suggestion: string,
  min = -Infinity,
): number {
  if (Number.isFinite(given) && given >= min) return given;
  const bound = min === -Infinity ? '' : ` of at least ${String(min)}`;
  throw outOfRange(who, parameter, `be a finite number${bound}`, given, suggestion);
}

/**
 * Checks a count option.
 * @param who the name of the function that has the option
 * @throws {ValueError} if the count is not an integer of at least 1
 */
export function wholeNumber(who: string, parameter: string, given: number): number {
  if (Number.isInteger(given) && given >= 1) return given;
  throw outOfRange(who, parameter, 'be a whole number of at least 1', given, 'Give a count, such as 5.');
}

/** Returns the error for an option outside its range. */
export function outOfRange(
  who: string,
  parameter: string,
  required: string,
  given: number,
  suggestion: string,
): ValueError {
  return new ValueError(`The ${parameter} parameter of ${who} must ${required}. Got ${String(given)} instead.`, {
    context: { function: who, parameter, value: given },
    suggestion,
  });
}

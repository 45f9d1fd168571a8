import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { type ClassWeight, classFactors } from '../estimators/class-weight.ts';
import type { MisclassificationCosts } from './classification-problem.ts';

/** Beyond this, sums of costs times weights and multipliers may be no numbers. */
const LARGEST_COST = 1e100;

/**
 * Checks costs of errors.
 * @throws {ValueError} where one is negative or above 1e100, or both are 0
 */
export function parseCosts(given: MisclassificationCosts | undefined): MisclassificationCosts {
  const { falsePositive, falseNegative } = given ?? { falsePositive: 1, falseNegative: 1 };
  if (isCost(falsePositive) && isCost(falseNegative) && falsePositive + falseNegative > 0) {
    return Object.freeze({ falsePositive, falseNegative });
  }
  throw invalidParameter(
    'costs',
    'be { falsePositive, falseNegative }, both 0 or more and at most 1e100, one above 0',
    JSON.stringify(given),
  );
}

/**
 * Costs times class weights, by the true labels: a wrong decision on a row of
 * class c costs weight(c) times as much. `balanced` weighs class c by
 * total / (2 total of c), so that both classes count alike.
 * @throws {ValueError} where a product is above 1e100
 */
export function weighCosts(
  { falsePositive, falseNegative }: MisclassificationCosts,
  classWeight: ClassWeight,
  targets: Float64Array,
  weights: Float64Array,
): MisclassificationCosts {
  const [zero, one] = classFactors(classWeight, targets, weights);
  const costs = { falsePositive: falsePositive * zero, falseNegative: falseNegative * one };
  if (isCost(costs.falsePositive) && isCost(costs.falseNegative)) return costs;
  throw invalidParameter('classWeight', 'make costs of at most 1e100', JSON.stringify(costs));
}

function isCost(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LARGEST_COST;
}

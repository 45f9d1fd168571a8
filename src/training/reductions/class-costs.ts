import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { type ClassWeight, classTotals } from '../estimators/class-weight.ts';
import type { MisclassificationCosts } from './classification-problem.ts';

/**
 * Checks costs of errors.
 * @throws {ValueError} where one is negative or not finite, or both are 0
 */
export function parseCosts(given: MisclassificationCosts | undefined): MisclassificationCosts {
  const { falsePositive, falseNegative } = given ?? { falsePositive: 1, falseNegative: 1 };
  if (isCost(falsePositive) && isCost(falseNegative) && falsePositive + falseNegative > 0) {
    return Object.freeze({ falsePositive, falseNegative });
  }
  throw invalidParameter(
    'costs',
    'be { falsePositive, falseNegative }, both 0 or more, one above 0',
    JSON.stringify(given),
  );
}

/**
 * Costs times class weights, by the true labels: a wrong decision on a row of
 * class c costs weight(c) times as much. `balanced` weighs class c by
 * total / (2 total of c), so that both classes count alike.
 */
export function weighCosts(
  { falsePositive, falseNegative }: MisclassificationCosts,
  classWeight: ClassWeight,
  targets: Float64Array,
  weights: Float64Array,
): MisclassificationCosts {
  if (classWeight === null) return { falsePositive, falseNegative };
  const [zero, one] =
    classWeight === 'balanced' ? balance(targets, weights) : [classWeight[0] ?? 1, classWeight[1] ?? 1];
  return { falsePositive: falsePositive * zero, falseNegative: falseNegative * one };
}

function balance(targets: Float64Array, weights: Float64Array): readonly [number, number] {
  const [zero, one] = classTotals(targets, weights);
  // A class without rows has no errors to weigh.
  if (zero === 0 || one === 0) return [1, 1];
  return [(zero + one) / (2 * zero), (zero + one) / (2 * one)];
}

function isCost(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

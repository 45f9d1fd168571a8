import { invalidParameter } from '../../internal/arguments.ts';

/** Weights of the classes: 'balanced', a weight per class, or null for no class weights. */
export type ClassWeight = 'balanced' | Readonly<Partial<Record<0 | 1, number>>> | null;

/**
 * Checks and copies class weights.
 * @throws {ValueError} if the name or a class is unknown, or if a weight is not above 0
 */
export function parseClassWeight(given: ClassWeight): ClassWeight {
  if (given === null || given === 'balanced') return given;
  const isMapping =
    typeof given === 'object' &&
    Object.entries(given).every(([name, weight]) => (name === '0' || name === '1') && weight > 0 && weight < Infinity);
  if (isMapping) return Object.freeze({ ...given });
  throw invalidParameter(
    'classWeight',
    "be 'balanced', null, or weights above 0 by class, as in { 0: 1, 1: 5 }",
    typeof given === 'string' ? `'${String(given)}'` : JSON.stringify(given),
  );
}

/**
 * Multiplies the weight of each row by the weight of its class. With 'balanced', both classes get the same total
 * weight. The weight of each row of class c is then multiplied by W / (2 W_c). W is the sum of all weights, and W_c is
 * the sum of the weights of class c.
 * @param y 0 or 1; both values must occur
 */
export function applyClassWeight(classWeight: ClassWeight, y: Float64Array, weights: Float64Array): Float64Array {
  if (classWeight === null) return weights;
  const [zero, one] = classFactors(classWeight, classTotals(y, weights));
  return weights.map((weight, row) => weight * (y[row] === 1 ? one : zero));
}

/**
 * Returns the factors of class 0 and class 1. With 'balanced', both factors are 1 if a class has no rows.
 * @param totals the sums of weights of class 0 and class 1
 */
export function classFactors(classWeight: ClassWeight, totals: readonly [number, number]): readonly [number, number] {
  if (classWeight === null) return [1, 1];
  if (classWeight !== 'balanced') return [classWeight[0] ?? 1, classWeight[1] ?? 1];
  const [zero, one] = totals;
  if (zero === 0 || one === 0) return [1, 1];
  const half = (zero + one) / 2;
  return [half / zero, half / one];
}

/** Returns the sum of weights of class 0 and the sum of weights of class 1. */
export function classTotals(y: Float64Array, weights: Float64Array): readonly [number, number] {
  let [zero, one] = [0, 0];
  for (let row = 0; row < y.length; row++) {
    if (y[row] === 1) one += weights[row] as number;
    else zero += weights[row] as number;
  }
  return [zero, one];
}

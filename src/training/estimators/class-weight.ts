import { invalidParameter } from '../../internal/arguments.ts';

/** Weights of the classes: by name, by class, or none. */
export type ClassWeight = 'balanced' | Readonly<Partial<Record<0 | 1, number>>> | null;

/**
 * Checks weights of classes, and copies them.
 * @throws {ValueError} for another name, another class, or a weight that is not above 0
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
 * Weights of rows times those of their classes. Balanced classes weigh the same:
 * each row of class c gets W / (2 W_c), W being the sum of all weights and W_c of
 * those of the class.
 * @param y 0 or 1, both of them
 */
export function applyClassWeight(classWeight: ClassWeight, y: Float64Array, weights: Float64Array): Float64Array {
  if (classWeight === null) return weights;
  const [zero, one] = classFactors(classWeight, y, weights);
  return weights.map((weight, row) => weight * (y[row] === 1 ? one : zero));
}

/**
 * The factors of class 0 and class 1. A class without rows has nothing to weigh,
 * and leaves nothing to balance.
 */
export function classFactors(
  classWeight: ClassWeight,
  y: Float64Array,
  weights: Float64Array,
): readonly [number, number] {
  if (classWeight === null) return [1, 1];
  if (classWeight !== 'balanced') return [classWeight[0] ?? 1, classWeight[1] ?? 1];
  const [zero, one] = classTotals(y, weights);
  if (zero === 0 || one === 0) return [1, 1];
  const half = (zero + one) / 2;
  return [half / zero, half / one];
}

/** The sums of weights of class 0 and class 1. */
export function classTotals(y: Float64Array, weights: Float64Array): readonly [number, number] {
  let [zero, one] = [0, 0];
  for (let row = 0; row < y.length; row++) {
    if (y[row] === 1) one += weights[row] as number;
    else zero += weights[row] as number;
  }
  return [zero, one];
}

import { countReads, type Tf } from '../tensor/index.ts';
import { ARRANGING_CASES } from './cases/arranging.ts';
import { COUNT_CASES } from './cases/counts.ts';
import { ELEMENTWISE_CASES, MISSING_CASES } from './cases/elementwise.ts';
import { GRADIENT_CASES } from './cases/gradients.ts';
import { LAYER_CASES, TRAINING_CASES } from './cases/layers.ts';
import { LOSS_CASES } from './cases/losses.ts';
import { PRODUCT_CASES, REDUCTION_CASES } from './cases/reductions.ts';
import { SUM_CASES } from './cases/sums.ts';
import type { Compared, NumericsCase, NumericsFinding } from './numerics-case.ts';

/** All cases for tensor ops: our own ops, and the TensorFlow.js ops used by our ops and by the networks. */
export const NUMERICS_CASES: readonly NumericsCase[] = [
  COUNT_CASES,
  SUM_CASES,
  LAYER_CASES,
  LOSS_CASES,
  PRODUCT_CASES,
  ELEMENTWISE_CASES,
  REDUCTION_CASES,
  ARRANGING_CASES,
  MISSING_CASES,
  GRADIENT_CASES,
  TRAINING_CASES,
].flat();

/**
 * Runs every tensor op on inputs with known float64 results. Checks that the backend computes correctly on this device,
 * reads from the device no more often than allowed, and leaks no tensors.
 * @param tf the backend to check; it must be active
 * @param cases the cases to run; by default, all cases
 */
export async function checkNumerics(tf: Tf, cases = NUMERICS_CASES): Promise<readonly NumericsFinding[]> {
  const findings: NumericsFinding[] = [];
  for (const one of cases) findings.push(Object.freeze(await ask(tf, one)));
  return Object.freeze(findings);
}

async function ask(tf: Tf, { op, name, tolerance, reads: maxReads, run }: NumericsCase): Promise<NumericsFinding> {
  const before = tf.memory().numTensors;
  const start = performance.now();
  const asked = { op, name, tolerance };
  const costs = (): Pick<NumericsFinding, 'leaked' | 'ms'> => ({
    leaked: tf.memory().numTensors - before,
    ms: performance.now() - start,
  });
  try {
    const { result, reads } = await countReads(tf, () => run(tf));
    const found = { ...asked, error: largestError(result), reads, ...costs() };
    const reason = reasonOf(found, maxReads);
    return { ...found, passes: reason === null, reason };
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    return { ...asked, error: null, reads: 0, ...costs(), passes: false, reason };
  }
}

/**
 * Returns the largest error: relative to the expected value if the expected value is above 1, and absolute otherwise.
 * Returns Infinity if lengths, NaN or infinities differ.
 */
export function largestError({ actual, expected }: Compared): number {
  if (actual.length !== expected.length) return Infinity;
  let largest = 0;
  for (let index = 0; index < expected.length; index++) {
    const [found, wanted] = [actual[index] as number, expected[index] as number];
    if (Object.is(found, wanted) || found === wanted) continue;
    const error = Math.abs(found - wanted) / Math.max(1, Math.abs(wanted));
    if (!(error < Infinity)) return Infinity;
    largest = Math.max(largest, error);
  }
  return largest;
}

/** Returns the reason why a result is wrong; null if it is correct. */
function reasonOf(
  { error, tolerance, reads, leaked }: Pick<NumericsFinding, 'tolerance' | 'reads' | 'leaked'> & { error: number },
  maxReads: number,
): string | null {
  if (error > tolerance) return `an error of ${error.toExponential(1)}, more than ${tolerance.toExponential(1)}`;
  if (reads > maxReads) return `${String(reads)} reads of the device, more than ${String(maxReads)}`;
  return leaked === 0 ? null : `${String(leaked)} tensors left behind`;
}

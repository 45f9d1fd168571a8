import { countReads } from '../count-reads.ts';
import type { Tf } from '../runtime.ts';
import type { Compared, NumericsCase, NumericsFinding } from './numerics-case.ts';

/**
 * Runs every tensor op on inputs with known float64 results. Checks that this backend computes correctly on this
 * device, makes no more reads than allowed and leaks no tensors.
 * @param tf the backend to check; it must be active
 * @param cases the cases to run; all by default. The default cases are loaded on demand, because training does not need
 *   them.
 */
export async function checkNumerics(tf: Tf, cases?: readonly NumericsCase[]): Promise<readonly NumericsFinding[]> {
  const findings: NumericsFinding[] = [];
  const asked = cases ?? (await import('./numerics-cases.ts')).NUMERICS_CASES;
  for (const one of asked) findings.push(Object.freeze(await ask(tf, one)));
  return Object.freeze(findings);
}

async function ask(tf: Tf, { op, name, tolerance, reads: maxReads, run }: NumericsCase): Promise<NumericsFinding> {
  const before = tf.memory().numTensors;
  const start = performance.now();
  const asked = { op, name, tolerance };
  try {
    const { result, reads } = await countReads(tf, () => run(tf));
    const ms = performance.now() - start;
    const leaked = tf.memory().numTensors - before;
    const error = largestError(result);
    const reason = reasonOf({ error, tolerance, reads, maxReads, leaked });
    return { ...asked, error, reads, leaked, ms, passes: reason === null, reason };
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    const leaked = tf.memory().numTensors - before;
    return { ...asked, error: null, reads: 0, leaked, ms: performance.now() - start, passes: false, reason };
  }
}

/** Returns the largest error, relative for numbers above 1; Infinity if lengths, NaN or infinities differ. */
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

/** Describes what is wrong with a result; null if nothing is. */
function reasonOf(answer: {
  readonly error: number;
  readonly tolerance: number;
  readonly reads: number;
  readonly maxReads: number;
  readonly leaked: number;
}): string | null {
  const { error, tolerance, reads, maxReads: mostReads, leaked } = answer;
  if (error > tolerance) return `an error of ${error.toExponential(1)}, more than ${tolerance.toExponential(1)}`;
  if (reads > mostReads) return `${String(reads)} reads of the device, more than ${String(mostReads)}`;
  return leaked === 0 ? null : `${String(leaked)} tensors left behind`;
}

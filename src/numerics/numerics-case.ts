import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import type { Tf } from '../tensor/index.ts';

/** The result of an op, and the expected result. The expected result is computed in float64 with plain loops. */
export interface Compared {
  readonly actual: ArrayLike<number>;
  readonly expected: ArrayLike<number>;
}

/** A test case for a tensor op with a known float64 result. */
export interface NumericsCase {
  /** The function name of the op, for example "softRates". */
  readonly op: string;
  /** A description of the case, for example "means of groups, one of them without rows". */
  readonly name: string;
  /**
   * The largest allowed |actual - expected| / max(1, |expected|) for float32; 0 if the result must be exact. NaN and
   * infinities must occur exactly at the expected positions.
   */
  readonly tolerance: number;
  /** The maximum number of reads from the device. */
  readonly reads: number;
  /** Runs the case, and disposes of all tensors that it allocates. */
  readonly run: (tf: Tf) => Promise<Compared>;
}

/** The result of a case. */
export interface NumericsFinding extends Pick<NumericsCase, 'op' | 'name' | 'tolerance' | 'reads'> {
  /** The largest error, measured in the same way as `tolerance`; null if the op threw an error. */
  readonly error: number | null;
  /** The number of tensors that were not disposed of. */
  readonly leaked: number;
  /** The time in milliseconds, including compilation. */
  readonly ms: number;
  readonly passes: boolean;
  /** The reason why the case failed; null if it passed. */
  readonly reason: string | null;
}

/** The description of a case. By default, a case may read from the device once. */
type Heading = Pick<NumericsCase, 'op' | 'name' | 'tolerance'> & Partial<Pick<NumericsCase, 'reads'>>;

/** One or more lists of numbers. */
type Lists = ArrayLike<number> | readonly ArrayLike<number>[];

/**
 * A case whose results are tensors. The data of a case are created only when the case runs, so that they use no memory
 * before.
 */
export interface TensorQuestion {
  /** Creates the inputs and calls the op; runs inside `tf.tidy`. */
  readonly ask: (tf: Tf) => Tensor | readonly Tensor[];
  /** The values of each result, in float64. */
  readonly expected: Lists;
}

/** A case for an op that reads its result from the device and returns it as plain numbers. */
export interface HostQuestion<T> {
  /** Creates the inputs. These inputs are disposed of after the op. */
  readonly given: (tf: Tf) => T;
  readonly ask: (tf: Tf, given: T) => Promise<Lists>;
  readonly expected: Lists;
}

/** Creates a case whose results are tensors. Each result tensor is read once. */
export function tensorCase(heading: Heading, pose: () => TensorQuestion): NumericsCase {
  const run: NumericsCase['run'] = async (tf) => {
    const { ask, expected } = pose();
    const tensors = tf.tidy((): Tensor[] => [ask(tf)].flat());
    try {
      const values = await Promise.all(tensors.map((tensor) => tensor.data()));
      return { actual: joined(values), expected: joined(expected) };
    } finally {
      tf.dispose(tensors);
    }
  };
  return { reads: 1, ...heading, run };
}

/** Creates a case for an op that reads its results from the device, with at most `reads` reads. */
export function hostCase<T extends Readonly<Record<string, { dispose(): void }>>>(
  heading: Heading,
  pose: () => HostQuestion<T>,
): NumericsCase {
  const run: NumericsCase['run'] = async (tf) => {
    const { given, ask, expected } = pose();
    const inputs = given(tf);
    try {
      return { actual: joined(await ask(tf, inputs)), expected: joined(expected) };
    } finally {
      for (const input of Object.values(inputs)) input.dispose();
    }
  };
  return { reads: 1, ...heading, run };
}

/** Creates a tensor from each list. Int32Arrays become int32 tensors. */
export function vectors<K extends string>(
  tf: Tf,
  lists: Readonly<Record<K, Float32Array | Int32Array>>,
): Record<K, Tensor1D> {
  const tensors = Object.entries<Float32Array | Int32Array>(lists).map(([name, list]) => [name, tf.tensor1d(list)]);
  return Object.fromEntries(tensors) as Record<K, Tensor1D>;
}

function joined(values: Lists): Float64Array {
  const parts = Array.from(values as ArrayLike<number | ArrayLike<number>>);
  return Float64Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : Array.from(part))));
}

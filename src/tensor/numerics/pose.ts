import type { Tensor } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';
import type { NumericsCase } from './numerics-case.ts';

/** What is asked, in words, and how near the answer has to be. */
interface Asked {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
}

/** A question whose answer is tensors, made when it is asked: its numbers cost nothing before. */
export interface TensorQuestion {
  /** Makes what is given, and asks; inside `tf.tidy`. */
  readonly ask: (tf: Tf) => Tensor | readonly Tensor[];
  /** The values of each answer, in float64. */
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** A question whose answer is read from the device by the op itself. */
export interface HostQuestion<T extends Readonly<Record<string, Tensor>>> {
  readonly given: (tf: Tf) => T;
  readonly ask: (tf: Tf, given: T) => Promise<ArrayLike<number> | readonly ArrayLike<number>[]>;
  readonly expected: ArrayLike<number> | readonly ArrayLike<number>[];
}

/** A case whose answer is tensors; each is read once. */
export function tensorCase(asked: Asked & { readonly answers?: number }, pose: () => TensorQuestion): NumericsCase {
  const { op, name, tolerance, answers = 1 } = asked;
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
  return { op, name, tolerance, reads: answers, run };
}

/** A case whose op reads by itself, at most so often. */
export function hostCase<T extends Readonly<Record<string, Tensor>>>(
  asked: Asked & { readonly reads: number },
  pose: () => HostQuestion<T>,
): NumericsCase {
  const { op, name, tolerance, reads } = asked;
  const run: NumericsCase['run'] = async (tf) => {
    const { given, ask, expected } = pose();
    const tensors = given(tf);
    try {
      return { actual: joined(await ask(tf, tensors)), expected: joined(expected) };
    } finally {
      tf.dispose(Object.values(tensors));
    }
  };
  return { op, name, tolerance, reads, run };
}

/** One list of numbers of one or several. */
function joined(values: ArrayLike<number> | readonly ArrayLike<number>[]): Float64Array {
  const parts = Array.from(values as ArrayLike<number | ArrayLike<number>>);
  return Float64Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : Array.from(part))));
}

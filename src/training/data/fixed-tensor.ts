import type { Tensor } from '@tensorflow/tfjs';

/** A result that is derived from a tensor and holds tensors of its own. */
interface Derived {
  dispose(): void;
}

const derivedFrom = new WeakMap<Tensor, Map<string, Promise<Derived>>>();

/**
 * Runs work on a tensor whose values have been checked and must not change. Estimators cache results that are derived from the tensor, so
 * that many fits on the same features compute the results only once. The results are disposed of at the end.
 */
export async function withFixedTensor<Features extends Tensor, T>(
  tensor: Features,
  work: (fixed: Features) => Promise<T>,
): Promise<T> {
  // The clone shares the values. Concurrent work on the same tensor gets caches of its own.
  const fixed = tensor.clone();
  const derived = new Map<string, Promise<Derived>>();
  derivedFrom.set(fixed, derived);
  try {
    return await work(fixed);
  } finally {
    for (const result of await Promise.allSettled(derived.values())) {
      if (result.status === 'fulfilled') result.value.dispose();
    }
    fixed.dispose();
  }
}

/** Returns whether a tensor is fixed. The values of such tensors have been checked. */
export function isFixed(tensor: object): boolean {
  return derivedFrom.has(tensor as Tensor);
}

/** Returns the cached result with the given name; undefined if the tensor is not fixed, or the result not computed. */
export function derivedResult<Result extends Derived>(tensor: Tensor, name: string): Promise<Result> | undefined {
  return derivedFrom.get(tensor)?.get(name) as Promise<Result> | undefined;
}

/**
 * Uses a result that is derived from a tensor. If the tensor is fixed, the result is cached. Otherwise, it is disposed
 * of after use.
 */
export async function useDerived<Result extends Derived, T>(
  tensor: Tensor,
  name: string,
  compute: () => Promise<Result>,
  work: (result: Result) => Promise<T>,
): Promise<T> {
  const cache = derivedFrom.get(tensor);
  if (cache !== undefined) {
    const cached = (cache.get(name) as Promise<Result> | undefined) ?? compute();
    cache.set(name, cached);
    return work(await cached);
  }
  const result = await compute();
  try {
    return await work(result);
  } finally {
    result.dispose();
  }
}

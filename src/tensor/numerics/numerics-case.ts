import type { Tf } from '../runtime.ts';

/** The result of an op, and the expected result, which is computed in float64 with plain loops. */
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
export interface NumericsFinding {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
  /** The largest error, in the unit of `tolerance`; null if the op threw. */
  readonly error: number | null;
  readonly reads: number;
  /** The number of tensors that were not disposed of. */
  readonly leaked: number;
  /** The time in milliseconds, including compilation. */
  readonly ms: number;
  readonly passes: boolean;
  /** The reason why the case failed; null if it passed. */
  readonly reason: string | null;
}

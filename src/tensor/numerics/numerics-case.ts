import type { Tf } from '../runtime.ts';

/** The result of an op, and the expected result, computed in float64 with plain loops. */
export interface Compared {
  readonly actual: ArrayLike<number>;
  readonly expected: ArrayLike<number>;
}

/** A test case of a tensor op with a result that is known in float64. */
export interface NumericsCase {
  /** The op, by the name of its function, for example "softRates". */
  readonly op: string;
  /** A description of the case, for example "means of groups, one of them without rows". */
  readonly name: string;
  /**
   * The largest allowed |actual - expected| / max(1, |expected|) for float32; 0 if the result must be exact. NaN and
   * infinities must be exactly where they are expected.
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
  /** The largest error, measured as the tolerance is; null if the op threw. */
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

import type { Tf } from '../runtime.ts';

/** What an op gave, and what it should have: the same in float64, by plain loops. */
export interface Compared {
  readonly actual: ArrayLike<number>;
  readonly expected: ArrayLike<number>;
}

/** A question to a tensor op, whose answer is known in float64. */
export interface NumericsCase {
  /** The op, by the name of its function: "softRates". */
  readonly op: string;
  /** What is asked: "means of groups, one of them without rows". */
  readonly name: string;
  /**
   * The largest |actual - expected| / max(1, |expected|) that float32 may leave; 0 where it must be exact. NaN and
   * infinities must be where they are expected.
   */
  readonly tolerance: number;
  /** How often the device may be read. */
  readonly reads: number;
  /** Asks. Whatever is allocated is given back. */
  readonly run: (tf: Tf) => Promise<Compared>;
}

/** How an op answered. */
export interface NumericsFinding {
  readonly op: string;
  readonly name: string;
  readonly tolerance: number;
  /** The largest error found, measured as the tolerance is; null where the op threw. */
  readonly error: number | null;
  readonly reads: number;
  /** Tensors left behind. */
  readonly leaked: number;
  /** Milliseconds, compiling included. */
  readonly ms: number;
  readonly passes: boolean;
  /** Why it does not pass; null where it does. */
  readonly reason: string | null;
}

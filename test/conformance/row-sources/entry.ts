import type { TensorBackend } from '../../../src/tensor/index.ts';
import type { Rows, SourceKind } from './sources.ts';

/** How closely the answers for tensors agree with those for arrays, and why not more closely. */
export const AGREEMENTS = {
  /** Counts, and numbers computed from counts on the host, are the same. So are the answers of functions that read tensors to the host. */
  exact: 0,
  /** Sums of numbers and of weighted numbers in float32, and losses of one batch. */
  sums: 1e-5,
  /** Scores from 0 to 1, whose rounding in float32 is 6e-8. */
  calibration: 1e-6,
  /** Coefficients of a fit in float32. */
  reductions: 1e-5,
  /** Epochs of float32 steps in another order. Numbers are compared with 1e-3, and 99.9% of the decisions are equal. */
  networks: 1e-3,
} as const;

export type Agreement = keyof typeof AGREEMENTS;

/** A public entry that takes rows. */
export interface Entry {
  readonly agreement: Agreement;
  /**
   * What the entry does with tensors: 'device' computes on their device and reads no rows; 'host' reads them, in a
   * function that waits for the device; 'now' reads them in a function that cannot wait, which fails on webgpu.
   */
  readonly tensors: 'device' | 'host' | 'now';
  /** Whether the entry takes only tensors, by its signature. */
  readonly takesOnlyTensors?: boolean;
  /** The errors for kinds of sources that the entry does not take. */
  readonly rejects?: Partial<Record<SourceKind, RegExp>>;
  /** The numbers that are read for each row, because the caller asked for them on the host. */
  readonly readsOfRow?: number;
  /** Whether rounding can add a step to a fit, or remove one, so that what is read differs by at most a quarter. */
  readonly isIterative?: boolean;
  /** Creates what the entry needs besides rows, from arrays. It is created once for each backend. */
  readonly prepare?: (backend: TensorBackend) => Promise<unknown>;
  /** Calls the entry. */
  readonly call: (rows: Rows, prepared: unknown) => unknown;
  /** Returns what is compared, if it is not the result of the call itself. */
  readonly answer?: ((result: unknown) => unknown) | undefined;
}

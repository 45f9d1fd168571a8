import type { OptionNames } from '../../internal/arguments.ts';
import type { Matrix } from '../data/read-matrix.ts';

/** Features as a model of somebody else's takes them. */
export type PlainFeatures = number[][] | Matrix;

/** Weights of rows, where there are any. */
interface PlainFitOptions {
  readonly sampleWeight?: number[];
}

/**
 * A model of another library, or one's own: whatever can fit and predict. Methods
 * may be asynchronous. What `fit` returns does not matter.
 */
export interface PlainModel {
  fit(x: never, y: number[], options: PlainFitOptions): unknown;
  predict(x: never): unknown;
  /** Probabilities of 1, one per row, or rows of the probabilities of 0 and 1. */
  predictProba?(x: never): unknown;
  /** A copy that has learned nothing. */
  clone?(): PlainModel;
  toJSON?(): unknown;
}

/** How to talk to a plain model. */
export interface PlainModelOptions {
  /**
   * What its methods take: rows of numbers, or a {@link Matrix}.
   * @defaultValue 'rows'
   */
  readonly features?: 'rows' | 'matrix' | undefined;
  /**
   * Whether it decides between 0 and 1, or gives values.
   * @defaultValue 'binary'
   */
  readonly task?: 'binary' | 'regression' | undefined;
}

/** Lists the options of {@link PlainModelOptions}. */
export const PLAIN_MODEL_OPTION_NAMES: OptionNames<PlainModelOptions> = { features: true, task: true };

/** A plain model with methods of known types. */
export interface TypedModel {
  fit(x: PlainFeatures, y: number[], options: PlainFitOptions): unknown;
  predict(x: PlainFeatures): unknown;
  predictProba?(x: PlainFeatures): unknown;
  clone?(): TypedModel;
  toJSON?(): unknown;
}

/** Whether a value can fit and predict. */
export function isPlainModel(value: unknown): value is PlainModel {
  return (
    typeof value === 'object' &&
    value !== null &&
    'fit' in value &&
    typeof value.fit === 'function' &&
    'predict' in value &&
    typeof value.predict === 'function'
  );
}

/** A matrix as rows of numbers. */
export function toRows({ rows, columns, values }: Matrix): number[][] {
  return Array.from({ length: rows }, (_, row) => Array.from(values.subarray(row * columns, (row + 1) * columns)));
}

import type { OptionNames } from '../../internal/arguments.ts';
import type { Matrix } from '../data/read-matrix.ts';

/** Features in the form that an external model expects. */
export type PlainFeatures = number[][] | Matrix;

/** Options passed to `fit` of an external model. They contain the weights of the rows if weights were given. */
interface PlainFitOptions {
  readonly sampleWeight?: number[];
}

/**
 * A model with `fit` and `predict`, from another library or custom code. Methods may be asynchronous. The return value
 * of `fit` is ignored.
 */
export interface PlainModel {
  fit(x: never, y: number[], options: PlainFitOptions): unknown;
  predict(x: never): unknown;
  /** Returns probabilities of 1, one per row, or for each row the probabilities of 0 and 1. */
  predictProba?(x: never): unknown;
  /** Returns an unfitted copy. */
  clone?(): PlainModel;
  toJSON?(): unknown;
}

/** Options for calling a plain model. */
export interface PlainModelOptions {
  /**
   * The form of features that the model's methods expect: rows of numbers, or a {@link Matrix}.
   * @defaultValue 'rows'
   */
  readonly features?: 'rows' | 'matrix' | undefined;
  /**
   * Whether the model predicts decisions 0 and 1, or values.
   * @defaultValue 'binary'
   */
  readonly task?: 'binary' | 'regression' | undefined;
}

/** Lists the options of {@link PlainModelOptions}. */
export const PLAIN_MODEL_OPTION_NAMES: OptionNames<PlainModelOptions> = { features: true, task: true };

/** A plain model whose methods have known types. */
export interface TypedModel {
  fit(x: PlainFeatures, y: number[], options: PlainFitOptions): unknown;
  predict(x: PlainFeatures): unknown;
  predictProba?(x: PlainFeatures): unknown;
  clone?(): TypedModel;
  toJSON?(): unknown;
}

/** Returns whether a value has `fit` and `predict`. */
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

/** Converts a matrix to rows of numbers. */
export function toRows({ rows, columns, values }: Matrix): number[][] {
  return Array.from({ length: rows }, (_, row) => Array.from(values.subarray(row * columns, (row + 1) * columns)));
}

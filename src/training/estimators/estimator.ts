import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { OptionNames } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { MatrixSource } from '../data/read-matrix.ts';

/** The methods of an {@link Estimator}. */
const METHODS = ['fit', 'predict', 'predictProba', 'clone', 'toJSON'] as const;

/** Returns whether a value is an {@link Estimator}, by checking its methods. */
export function isEstimator(value: unknown): value is Estimator {
  return (
    typeof value === 'object' &&
    value !== null &&
    METHODS.every((method) => typeof (value as Partial<Record<string, unknown>>)[method] === 'function')
  );
}

/** Options of {@link Estimator.fit}. */
export interface FitOptions {
  /** One weight per row, 0 or more. A row with weight 2 counts as two rows. */
  readonly sampleWeight?: ColumnSource | undefined;
  /**
   * A fitted estimator of the same kind, whose state is the starting point of the fit. This option can only reduce the
   * number of steps.
   */
  readonly startFrom?: Estimator | undefined;
  /** Aborts the fit. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link FitOptions}. */
export const FIT_OPTION_NAMES: OptionNames<FitOptions> = { sampleWeight: true, startFrom: true, signal: true };

/** Options of {@link Estimator.predict}. */
export interface PredictOptions {
  /**
   * Scores that are at least the threshold become 1.
   * @defaultValue 0.5 for classifiers; none for a regression, which returns its values unchanged
   */
  readonly threshold?: number | undefined;
}

/** Lists the options of {@link PredictOptions}. */
export const PREDICT_OPTION_NAMES: OptionNames<PredictOptions> = { threshold: true };

/** An estimator as plain data that can be stored and restored. */
export interface EstimatorJson {
  /** The class that wrote the JSON, for example "logistic_regression". */
  readonly kind: string;
  /** The constructor's options, in snake_case. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The fitted state; null before `fit`. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/**
 * A model that is fitted to rows. All mitigation methods wrap an estimator. If an estimator is fitted twice on the same
 * rows, both fits give the same model.
 */
export interface Estimator {
  /**
   * Fits the model to rows and replaces the result of an earlier `fit`.
   * @param x [rows, features], finite
   * @param y [rows]; 0 or 1 for classifiers
   */
  fit(x: MatrixSource, y: ColumnSource, options?: FitOptions): Promise<this>;
  /** Returns the probability of 1 for each row, [rows]. A regression returns its values clipped to [0, 1]. */
  predictProba(x: MatrixSource): Promise<Float64Array>;
  /** Returns for each row, [rows], a decision 0 or 1, or the value of a regression. */
  predict(x: MatrixSource, options?: PredictOptions): Promise<Uint8Array | Float64Array>;
  /** Returns an unfitted copy with the same options. */
  clone(): Estimator;
  toJSON(): EstimatorJson;
}

/**
 * An estimator that computes on tensors without copying their rows to the host. Its `fit` then gets features, [rows,
 * features], targets and weights, [rows], as float32 tensors.
 */
export interface TensorEstimator extends Estimator {
  /** Whether `fit` leaves tensors on their device. */
  readonly fitsTensors: boolean;
  /** Returns the result of `predict` as a tensor on the device of x, [rows] float32. The caller disposes of it. */
  predictTensor(x: Tensor2D, options?: PredictOptions): Promise<Tensor1D>;
}

/** Returns whether an estimator can predict on tensors, by checking its method. */
export function isTensorEstimator(estimator: Estimator): estimator is TensorEstimator {
  return typeof (estimator as Partial<TensorEstimator>).predictTensor === 'function';
}

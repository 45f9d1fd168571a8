import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import { z } from 'zod';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { type ColumnSource, isDeviceTensor } from '../../table/index.ts';
import { currentTensorflow } from '../../tensor/index.ts';
import { requireTensor } from '../data/device-rows.ts';
import { assertBinary, readFitRows } from '../data/fit-rows.ts';
import { type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { readTensorFitRows } from '../data/tensor-fit-rows.ts';
import { decide } from './estimator-rows.ts';
import { fromStoredParams, readEstimatorJson } from './estimator-state.ts';
import {
  type EstimatorJson,
  FIT_OPTION_NAMES,
  type FitOptions,
  PREDICT_OPTION_NAMES,
  type PredictOptions,
  type TensorEstimator,
} from './estimator.ts';

const KIND = 'constant_classifier';
const PARAMS = z.object({ probability: z.number() });

/**
 * Predicts the same probability of 1 for every row, regardless of its features. Use this classifier if all labels are
 * equal, or as a baseline for other classifiers. `fit` only checks the rows. `predict` does not require a call of
 * `fit`.
 * @example
 * ```ts
 * import { ConstantClassifier } from 'evenhand/training';
 *
 * const always = new ConstantClassifier(1);
 * console.log([...(await always.predict([[0.3], [-2]]))]);
 * // [ 1, 1 ]
 * ```
 */
export class ConstantClassifier implements TensorEstimator {
  readonly probability: number;

  /**
   * Creates a classifier with a fixed probability.
   * @param probability the probability of 1, in [0, 1]
   * @throws {ValueError} if the probability is outside [0, 1]
   */
  constructor(probability: number) {
    if (!(probability >= 0 && probability <= 1)) {
      throw invalidParameter('probability', 'lie in [0, 1]', probability);
    }
    this.probability = probability;
    Object.freeze(this);
  }

  /**
   * Checks the rows without changing the classifier.
   * @throws {DataValidationError} if the rows are not valid for a classifier
   */
  async fit(x: MatrixSource, y: ColumnSource, options: FitOptions = {}): Promise<this> {
    assertKnownOptions('ConstantClassifier.fit', options, FIT_OPTION_NAMES);
    const { sampleWeight, signal } = options;
    signal?.throwIfAborted();
    if (!isDeviceTensor(x)) assertBinary((await readFitRows(x, y, sampleWeight)).y);
    else {
      const tf = currentTensorflow();
      await withTensors(tf, (keep) => readTensorFitRows(tf, keep, { x, y, sampleWeight }, 'binary'));
    }
    return this;
  }

  /** Returns the same probability for each row: [rows]. */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    const rows = isDeviceTensor(x) ? (x.shape[0] ?? 0) : (await readMatrix(x)).rows;
    return new Float64Array(rows).fill(this.probability);
  }

  /** Returns for each row, [rows], 1 if the probability is at least the threshold, and 0 otherwise. */
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array> {
    assertKnownOptions('ConstantClassifier.predict', options, PREDICT_OPTION_NAMES);
    return decide(await this.predictProba(x), options.threshold ?? 0.5);
  }

  /** `fit` checks tensors on their device. */
  get fitsTensors(): boolean {
    return true;
  }

  /** Returns the decisions of `predict` as a tensor on the device of X, [rows] float32. Dispose of it after use. */
  // eslint-disable-next-line @typescript-eslint/require-await -- errors are rejections, as in the other estimators
  async predictTensor(x: Tensor2D, options: PredictOptions = {}): Promise<Tensor1D> {
    assertKnownOptions('ConstantClassifier.predictTensor', options, PREDICT_OPTION_NAMES);
    const [rows = 0] = requireTensor(x, 'X').shape;
    const [decision = 0] = decide(Float64Array.of(this.probability), options.threshold ?? 0.5);
    return currentTensorflow().fill([rows], decision);
  }

  clone(): ConstantClassifier {
    return new ConstantClassifier(this.probability);
  }

  toJSON(): EstimatorJson {
    return { kind: KIND, params: { probability: this.probability }, state: null };
  }

  /**
   * Reads the JSON that {@link ConstantClassifier.toJSON} wrote.
   * @throws {DataValidationError} if the JSON has any other form
   */
  static fromJSON(json: unknown): ConstantClassifier {
    const { params } = readEstimatorJson(json, KIND, { params: PARAMS, state: z.null() });
    return fromStoredParams(KIND, () => new ConstantClassifier(params.probability));
  }
}

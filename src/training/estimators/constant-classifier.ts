import { z } from 'zod';

import { assertKnownOptions, invalidParameter } from '../../internal/arguments.ts';
import type { ColumnSource } from '../../table/index.ts';
import { assertBinary, readFitRows } from '../data/fit-rows.ts';
import { type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { decide } from './estimator-rows.ts';
import { fromStoredParams, readEstimatorJson } from './estimator-state.ts';
import {
  type Estimator,
  type EstimatorJson,
  FIT_OPTION_NAMES,
  type FitOptions,
  PREDICT_OPTION_NAMES,
  type PredictOptions,
} from './estimator.ts';

const KIND = 'constant_classifier';
const PARAMS = z.object({ probability: z.number() });

/**
 * Gives every row the same probability of 1, whatever its features: what is left
 * to say where labels have one class, and the baseline of any classifier. There
 * is nothing to learn: `fit` checks its rows, and predictions need no fit.
 * @example
 * ```ts
 * import { ConstantClassifier } from 'evenhand/training';
 *
 * const always = new ConstantClassifier(1);
 * console.log([...(await always.predict([[0.3], [-2]]))]);
 * // [ 1, 1 ]
 * ```
 */
export class ConstantClassifier implements Estimator {
  readonly probability: number;

  /**
   * @param probability of 1, in [0, 1]
   * @throws {ValueError} for a number outside [0, 1]
   */
  constructor(probability: number) {
    if (!(probability >= 0 && probability <= 1)) {
      throw invalidParameter('probability', 'lie in [0, 1]', probability);
    }
    this.probability = probability;
    Object.freeze(this);
  }

  /**
   * Checks the rows, and changes nothing.
   * @throws {DataValidationError} for rows that no classifier could learn from
   */
  async fit(x: MatrixSource, y: ColumnSource, options: FitOptions = {}): Promise<this> {
    assertKnownOptions('ConstantClassifier.fit', options, FIT_OPTION_NAMES);
    options.signal?.throwIfAborted();
    assertBinary((await readFitRows(x, y, options.sampleWeight)).y);
    return this;
  }

  /** The probability, once per row: [rows]. */
  async predictProba(x: MatrixSource): Promise<Float64Array> {
    return new Float64Array((await readMatrix(x)).rows).fill(this.probability);
  }

  /** 1 where the probability is at least the threshold, [rows]. */
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array> {
    assertKnownOptions('ConstantClassifier.predict', options, PREDICT_OPTION_NAMES);
    return decide(await this.predictProba(x), options.threshold ?? 0.5);
  }

  clone(): ConstantClassifier {
    return new ConstantClassifier(this.probability);
  }

  toJSON(): EstimatorJson {
    return { kind: KIND, params: { probability: this.probability }, state: null };
  }

  /**
   * The estimator that {@link ConstantClassifier.toJSON} wrote.
   * @throws {DataValidationError} for anything else
   */
  static fromJSON(json: unknown): ConstantClassifier {
    const { params } = readEstimatorJson(json, KIND, { params: PARAMS, state: z.null() });
    return fromStoredParams(KIND, () => new ConstantClassifier(params.probability));
  }
}

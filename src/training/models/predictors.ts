import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { type Keep, withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import type { Table } from '../../table/index.ts';
import { type BackendChoice, currentTensorflow, loadTensorflow, type Tf } from '../../tensor/index.ts';
import { encodedMatrix, type FeatureSpec } from '../data/feature-encoder.ts';
import { encodeFeatureTensor, readRanges } from '../data/feature-tensors.ts';
import { type Matrix, readMatrix } from '../data/read-matrix.ts';
import { readPredictTensor } from '../estimators/estimator-rows.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { tensorScores } from '../estimators/fitting/tensor-design.ts';
import { applyNetwork, applyToTensor, type FittedNetwork } from '../networks/fitted-network.ts';
import { withoutTensors } from '../reductions/oracle.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import { givesValues, linearPart } from './describe-model.ts';
import { isPlainFeature } from './model-card.ts';
import type { Predictor } from './saved-model.ts';

/** Creates the predictor for a network. */
export function networkPredictor(network: Omit<FittedNetwork, 'backend'>, backend?: BackendChoice): Predictor {
  const { specs } = network;
  return {
    specs,
    restored: undefined,
    async scores(table) {
      const { backend: used } = await loadTensorflow({ backend });
      return applyNetwork({ ...network, backend: used }, table);
    },
    tensorScores: (x) => applyToTensor(network, x, namesOf(specs)),
  };
}

/** Creates the predictor for a mixture, which draws decisions at random. */
export function reductionsPredictor(wrapper: ReductionsWrapper, specs: readonly FeatureSpec[]): Predictor {
  const areValues = givesValues(wrapper.toJSON());
  return {
    specs,
    restored: wrapper,
    async scores(table) {
      const x = await inputsOf(table, specs);
      return areValues ? wrapper.predictMean(x) : wrapper.predictProba(x);
    },
    tensorScores: (x) => withInputs(x, specs, (_, inputs) => wrapper.predictMeanTensor(inputs)),
    draw: async (table, { seed, randomization }) =>
      wrapper.predict(await inputsOf(table, specs), { seed, randomization }),
    tensorDraw: (x, { seed, randomization }) =>
      withInputs(x, specs, (_, inputs) => wrapper.predictTensor(inputs, { seed, randomization })),
  };
}

/** Creates the predictor for an estimator, or for the best estimator of a grid search. */
export function estimatorPredictor(estimator: Estimator, specs: readonly FeatureSpec[]): Predictor {
  const part = linearPart(estimator);
  const isRegression = part?.predicts === 'values';
  return {
    specs,
    restored: estimator,
    async scores(table) {
      const x = await inputsOf(table, specs);
      return isRegression ? Float64Array.from(await estimator.predict(x)) : estimator.predictProba(x);
    },
    tensorScores: (x) =>
      withInputs(x, specs, async (tf, inputs) => {
        if (part === undefined) throw withoutTensors(estimator);
        const { coefficients, intercept, predicts } = part;
        // The intercept of a constant predictor is its probability minus 0.5.
        if (coefficients === null) return tf.fill([inputs.shape[0]], intercept + 0.5);
        const scores = await tensorScores(tf, inputs, { coefficients, intercept });
        if (predicts === 'values') return scores;
        try {
          return tf.sigmoid(scores);
        } finally {
          scores.dispose();
        }
      }),
  };
}

/** Returns the inputs of a model. Columns without encoding are passed on in float64 precision. */
async function inputsOf(table: Table, specs: readonly FeatureSpec[]): Promise<Matrix> {
  if (specs.every(isPlainFeature)) return readMatrix(table.select(namesOf(specs)));
  return encodedMatrix(table, specs);
}

/** Calls a function with the inputs of a model on the device, which are finite. */
function withInputs(
  x: Tensor2D,
  specs: readonly FeatureSpec[],
  work: (tf: Tf, inputs: Tensor2D) => Promise<Tensor1D>,
): Promise<Tensor1D> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) =>
    work(
      tf,
      specs.every(isPlainFeature) ? await readPredictTensor(tf, keep, x) : await encodeTensor(tf, keep, x, specs),
    ),
  );
}

/** Encodes the columns of a tensor, whose order is that of the encoding. */
async function encodeTensor(tf: Tf, keep: Keep, x: Tensor2D, specs: readonly FeatureSpec[]): Promise<Tensor2D> {
  const names = namesOf(specs);
  const ranges = await readRanges(tf, x, names);
  return keep(tf.tidy(() => encodeFeatureTensor(tf, x, specs, { names, ranges })));
}

function namesOf(specs: readonly FeatureSpec[]): string[] {
  return specs.map(({ name }) => name);
}

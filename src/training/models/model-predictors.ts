import { type BackendChoice, loadTensorflow } from '../../tensor/index.ts';
import type { Table } from '../../table/index.ts';
import { encodedWidth, encodeFeatures, type FeatureSpec } from '../data/feature-encoder.ts';
import type { Matrix } from '../data/matrix.ts';
import { readMatrix } from '../data/read-matrix.ts';
import type { Estimator } from '../estimators/estimator.ts';
import { applyNetwork } from '../networks/fitted-network.ts';
import type { ReductionsWrapper } from '../reductions/reductions-wrapper.ts';
import type { DenseLayer } from './dense-layer.ts';
import { isPlainFeature } from './feature-json.ts';
import { linearPart } from './linear-part.ts';
import type { ModelCard } from './model-card.ts';
import { givesValues } from './reduction-kind.ts';
import type { Predictor } from './saved-model.ts';

/** A network, computed on a tensor backend. */
export function networkPredictor(
  { task }: ModelCard,
  specs: readonly FeatureSpec[],
  layers: readonly DenseLayer[],
  choice: BackendChoice | undefined,
): Predictor {
  return {
    specs,
    restored: undefined,
    async scores(table) {
      const { backend } = await loadTensorflow({ backend: choice });
      return applyNetwork({ task, specs, layers, target: { mean: 0, scale: 1 }, backend }, table);
    },
  };
}

/** A mixture; its draw is random. */
export function reductionsPredictor(wrapper: ReductionsWrapper, specs: readonly FeatureSpec[]): Predictor {
  const areValues = givesValues(wrapper.toJSON());
  return {
    specs,
    restored: wrapper,
    async scores(table) {
      const x = await inputsOf(table, specs);
      return areValues ? wrapper.predictMean(x) : wrapper.predictProba(x);
    },
    draw: async (table, { seed, randomization }) =>
      wrapper.predict(await inputsOf(table, specs), { seed, randomization }),
  };
}

/** An estimator, or the best of a grid. */
export function estimatorPredictor(estimator: Estimator, specs: readonly FeatureSpec[]): Predictor {
  const isRegression = linearPart(estimator)?.predicts === 'values';
  return {
    specs,
    restored: estimator,
    async scores(table) {
      const x = await inputsOf(table, specs);
      return isRegression ? Float64Array.from(await estimator.predict(x)) : estimator.predictProba(x);
    },
  };
}

/** Columns taken as they are keep their float64 digits. */
async function inputsOf(table: Table, specs: readonly FeatureSpec[]): Promise<Matrix> {
  if (specs.every(isPlainFeature)) return readMatrix(table.select(specs.map(({ name }) => name)));
  return { rows: table.rowCount, columns: encodedWidth(specs), values: encodeFeatures(table, specs) };
}

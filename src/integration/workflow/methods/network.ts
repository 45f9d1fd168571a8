import { decide } from '../../../training/estimators/estimator-rows.ts';
import type { NetworkFitOptions } from '../../../training/networks/fit-inputs.ts';
import { LagrangianFairnessTrainer } from '../../../training/networks/lagrangian-fairness-trainer.ts';
import { RegularizedFairnessTrainer } from '../../../training/networks/regularized-fairness-trainer.ts';
import type { ModelOutputs } from '../measure-predictions.ts';
import type {
  EncodedRows,
  MethodRows,
  MethodSettings,
  TrainedModel,
  TrainingMethodDefinition,
} from './training-method.ts';

/** Trains a network on rows with an encoding that was learned before. */
async function trainNetwork(
  trainer: LagrangianFairnessTrainer | RegularizedFairnessTrainer,
  { table, y, specs, groups, sampleWeight }: MethodRows,
  { task, onProgress, signal }: MethodSettings,
): Promise<TrainedModel> {
  const options: NetworkFitOptions = { sensitive: groups, features: specs, sampleWeight, onProgress, signal };
  await trainer.fit(table, y, options);
  return {
    model: trainer,
    features: undefined,
    predict: (rows, threshold) => predict(trainer, rows, threshold, task),
    candidates: () => Promise.resolve([]),
    warnings: trainer.warnings,
  };
}

async function predict(
  trainer: LagrangianFairnessTrainer | RegularizedFairnessTrainer,
  { table }: EncodedRows,
  threshold: number | null,
  task: MethodSettings['task'],
): Promise<ModelOutputs> {
  const scores = await trainer.predictProba(table);
  if (task === 'regression') return { decisions: scores, scores: null };
  return { decisions: decide(scores, threshold ?? 0.5), scores };
}

/** Trains a network with Lagrange multipliers that hold the gaps between groups within a tolerance. */
export const LAGRANGIAN: TrainingMethodDefinition = {
  async train(rows, settings) {
    const { params, task, seed, backend } = settings;
    const trainer = new LagrangianFairnessTrainer({ backend, ...params, task, seed });
    const trained = await trainNetwork(trainer, rows, settings);
    return { ...trained, warnings: [...trained.warnings, ...unmetWarning(trainer)] };
  },
};

/** Returns a warning if no epoch was within the tolerance; the closest epoch is kept then. */
function unmetWarning({ history, bestEpoch, options }: LagrangianFairnessTrainer): string[] {
  const { fairness, dpTol, eoTol } = options;
  const violation = history[bestEpoch - 1]?.violationHard ?? 0;
  const tolerance = fairness === 'demographic_parity' ? dpTol : eoTol;
  if (violation <= tolerance) return [];
  return [
    `the constraint is not met on the training rows: no epoch was within ${String(tolerance)}; the closest, which is kept, has a gap of ${violation.toPrecision(3)}; train for more epochs, or raise the tolerance`,
  ];
}

/** Trains a network with a penalty on gaps between groups. */
export const REGULARIZED: TrainingMethodDefinition = {
  train(rows, settings) {
    const { params, task, seed, backend } = settings;
    return trainNetwork(new RegularizedFairnessTrainer({ backend, ...params, task, seed }), rows, settings);
  },
};

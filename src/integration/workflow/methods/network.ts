import { decide } from '../../../training/estimators/estimator-rows.ts';
import type { NetworkFitOptions } from '../../../training/networks/fit-inputs.ts';
import type { LagrangianFairnessTrainer } from '../../../training/networks/lagrangian-fairness-trainer.ts';
import type { RegularizedFairnessTrainer } from '../../../training/networks/regularized-fairness-trainer.ts';
import type { ModelOutputs } from '../measure-predictions.ts';
import type { EncodedRows, MethodRows, MethodSettings, TrainedModel } from './training-method.ts';

/** Trains a network on rows whose encoding was learned before. */
export async function trainNetwork(
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

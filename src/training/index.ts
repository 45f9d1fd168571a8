export { FAIRNESS_PENALTIES, type FairnessPenaltyName } from './networks/penalties.ts';
export {
  LagrangianFairnessTrainer,
  type LagrangianFairnessTrainerOptions,
} from './networks/lagrangian-fairness-trainer.ts';
export { FairnessRegularizerLoss, type FairnessRegularizerLossOptions } from './networks/fairness-regularizer-loss.ts';
export { MinDiffLoss, type MinDiffLossOptions } from './networks/min-diff-loss.ts';
export type { NetworkFitOptions } from './networks/fit-inputs.ts';
export type { LagrangianEpoch } from './networks/lagrangian-objective.ts';
export {
  type RegularizedEpoch,
  RegularizedFairnessTrainer,
  type RegularizedFairnessTrainerOptions,
} from './networks/regularized-fairness-trainer.ts';
export { hypervolume, type ParetoPoint } from './pareto/pareto-points.ts';
export { paretoToJson } from './pareto/pareto-json.ts';
export { holdsOnlyNetworks } from './models/save-networks.ts';
export { plotPareto, type PlotParetoOptions } from './pareto/plot-pareto.ts';
export type { ParetoSweep, SweepInfo } from './pareto/pareto-sweep.ts';
export type { SweepOptions } from './pareto/sweep-options.ts';
export { sweepPareto } from './pareto/sweep-pareto.ts';
export type { TrainingSource } from './data/training-data.ts';

export { FAIRNESS_PENALTIES, type FairnessPenaltyName } from './fairness-penalty.ts';
export { FairnessRegularizerLoss, type FairnessRegularizerLossOptions } from './fairness-regularizer-loss.ts';
export { hypervolume, type ParetoPoint } from './pareto-points.ts';
export { paretoToJson } from './pareto-json.ts';
export { holdsOnlyNetworks } from './save-networks.ts';
export { plotPareto, type PlotParetoOptions } from './plot-pareto.ts';
export type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
export { type SweepOptions, sweepPareto } from './sweep-pareto.ts';
export type { TrainingSource } from './training-data.ts';

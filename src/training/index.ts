// Estimators
export {
  adaptEstimator,
  type EstimatorSource,
  type PlainModel,
  type PlainModelOptions,
  toEstimator,
} from './estimators/adapt-estimator.ts';
export type { ClassWeight } from './estimators/class-weight.ts';
export { ConstantClassifier } from './estimators/constant-classifier.ts';
export {
  type Estimator,
  type EstimatorJson,
  type FitOptions,
  isEstimator,
  type PredictOptions,
  type TensorEstimator,
} from './estimators/estimator.ts';
export { estimatorFromJson } from './estimators/estimator-from-json.ts';
export type { Precision } from './estimators/fitting/fit-linear-model.ts';
export { FixedMatrix, type Matrix, type MatrixSource } from './data/read-matrix.ts';
export { LinearRegression, type LinearRegressionOptions } from './estimators/linear-regression.ts';
export { LogisticRegression, type LogisticRegressionOptions } from './estimators/logistic-regression.ts';
export { MlLogisticRegression, type MlLogisticRegressionOptions } from './estimators/ml-logistic-regression.ts';

// Networks
export {
  compileFair,
  type CompileFairOptions,
  type FairnessWatch,
  type FairTraining,
  type OutputError,
  type WatchedEpoch,
  type WatchedRows,
} from './networks/compile-fair.ts';
export type { NetworkFitOptions } from './networks/fit-inputs.ts';
export { FairnessRegularizerLoss, type FairnessRegularizerLossOptions } from './networks/fairness-regularizer-loss.ts';
export {
  LagrangianFairnessTrainer,
  type LagrangianFairnessTrainerOptions,
} from './networks/lagrangian-fairness-trainer.ts';
export type { LagrangianEpoch } from './networks/lagrangian-objective.ts';
export { MinDiffLoss, type MinDiffLossOptions } from './networks/min-diff-loss.ts';
export { FAIRNESS_PENALTIES, type FairnessPenaltyName } from './networks/penalties.ts';
export {
  type RegularizedEpoch,
  RegularizedFairnessTrainer,
  type RegularizedFairnessTrainerOptions,
} from './networks/regularized-fairness-trainer.ts';
export type { NetworkFactory } from './networks/user-network.ts';

// Reductions
export {
  type GroupLossName,
  type LossRange,
  REDUCTION_CONSTRAINTS,
  type ReductionConstraint,
} from './reductions/constraint-names.ts';
export type { BoundKind, ConstraintOptions, MisclassificationCosts } from './reductions/constraint-options.ts';
export type { GridSearchFit, GridSearchOptions } from './reductions/search-grid.ts';
export { GridSearchReduction } from './reductions/grid-search-reduction.ts';
export type { Randomization } from './reductions/mixture.ts';
export type { Multipliers, ReductionFit, ReductionIteration } from './reductions/reduction-fit.ts';
export type { ReductionFitOptions } from './reductions/row-cells.ts';
export type { ReductionsOptions } from './reductions/reductions-options.ts';
export {
  type DeterministicChoice,
  type RandomizedPredictOptions,
  ReductionsWrapper,
} from './reductions/reductions-wrapper.ts';

// The trade-off between accuracy and the gap
export { type ParetoSweep, paretoToJson, type SweepInfo } from './pareto/pareto-sweep.ts';
export { hypervolume, type ParetoPoint } from './pareto/pareto-points.ts';
export { plotPareto, type PlotParetoOptions } from './pareto/plot-pareto.ts';
export type { SweepOptions } from './pareto/sweep-options.ts';
export { sweepPareto } from './pareto/sweep-pareto.ts';
export { createQueue, type QueueOptions, type TaskQueue } from '../io/index.ts';
export type { StreamTrainingSource } from './data/stream-training.ts';
export type { TensorTrainingSource, TrainingSource } from './data/training-data.ts';

// Decision thresholds per group
export {
  THRESHOLD_CONSTRAINTS,
  THRESHOLD_OBJECTIVES,
  type ThresholdConstraintName,
  type ThresholdObjectiveName,
} from './postprocessing/threshold-optimizer/constraints.ts';
export type { DrawName } from './postprocessing/threshold-optimizer/draw-uniforms.ts';
export type { TensorThresholdDecisions } from './postprocessing/threshold-optimizer/device-decisions.ts';
export type { ThresholdOptimizerJson } from './postprocessing/threshold-optimizer/optimizer-json.ts';
export type {
  ThresholdOptimizerOptions,
  UnseenGroupsName,
} from './postprocessing/threshold-optimizer/optimizer-options.ts';
export type {
  ThresholdDecisions,
  ThresholdDrawOptions,
  ThresholdRowOptions,
} from './postprocessing/threshold-optimizer/threshold-decisions.ts';
export {
  type ScoreSource,
  type ThresholdFitOptions,
  type ThresholdFromJsonOptions,
  ThresholdOptimizer,
} from './postprocessing/threshold-optimizer/threshold-optimizer.ts';
export type {
  GroupThresholds,
  PooledThreshold,
  ThresholdInterpolation,
  ThresholdOperation,
  ThresholdRules,
} from './postprocessing/threshold-optimizer/threshold-rules.ts';

// Calibration per group
export {
  calibrateHeldOut,
  type CalibrateHeldOutOptions,
  type HeldOutCalibration,
  type HeldOutTensors,
} from './postprocessing/calibrator/calibrate-held-out.ts';
export { calibrateSql } from './postprocessing/calibrator/calibrate-sql.ts';
export { calibrateTable, type CalibrateTableOptions } from './postprocessing/calibrator/calibrate-table.ts';
export {
  CALIBRATION_METHODS,
  type CalibrationMethod,
  type PlattInput,
} from './postprocessing/calibrator/calibration-map.ts';
export type { CalibrationRowOptions } from './postprocessing/calibrator/calibration-rows.ts';
export type { CalibratorJson } from './postprocessing/calibrator/calibrator-json.ts';
export {
  type CalibrationFallbacks,
  GroupFairnessCalibrator,
  type GroupFairnessCalibratorOptions,
} from './postprocessing/calibrator/group-fairness-calibrator.ts';
export {
  type CalibrationQuality,
  type CalibrationReport,
  type GroupCalibrationQuality,
  measureCalibration,
} from './postprocessing/calibrator/measure-calibration.ts';
export {
  type GroupReliability,
  plotReliability,
  type PlotReliabilityOptions,
  type ReliabilityBin,
  type ReliabilityComparison,
  reliabilityCurve,
  type ReliabilityCurveOptions,
  type ReliabilityCurves,
} from './postprocessing/calibrator/reliability-curve.ts';
export type { ScoreTableSource } from './postprocessing/calibrator/read-score-table.ts';
export {
  type TableCalibration,
  type TableCalibrationJson,
  tableCalibrationToJson,
} from './postprocessing/calibrator/table-calibration.ts';

// Jobs on tables
export type { DecisionQuality, GroupDecisions } from './decision-quality.ts';
export type { TrainingJobOptions } from './jobs/job-options.ts';
export type { TrainingJobResult } from './jobs/job-result.ts';
export {
  type LagrangianJobResult,
  lagrangianJobToJson,
  trainLagrangian,
  type TrainLagrangianOptions,
} from './jobs/train-lagrangian.ts';
export { type PredictedTable, predictFile, type PredictFileOptions, predictTable } from './jobs/predict-table.ts';
export {
  type ReductionsJobResult,
  reductionsJobToJson,
  trainReductions,
  type TrainReductionsOptions,
} from './jobs/train-reductions.ts';

// Saved models
export type { FeatureSpec } from './data/feature-encoder.ts';
export type { SavableModel } from './models/describe-model.ts';
export {
  holdsOnlyNetworks,
  type ModelCard,
  type ModelData,
  type ModelMethod,
  type ModelOutput,
} from './models/model-card.ts';
export { loadModel, type LoadModelOptions } from './models/load-model.ts';
export { type ModelDescription, saveModel } from './models/save-model.ts';
export { SavedModel, type SavedModelPredictOptions } from './models/saved-model.ts';

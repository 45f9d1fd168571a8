export {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  FairnessAssertionError,
  FairnessToolkitError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from './exceptions/index.ts';
export { assertFairness, type AssertFairnessOptions, validateFile } from './integration/index.ts';
export type { OnProgress, ProgressEvent } from './internal/progress.ts';
export { VERSION } from './internal/version.ts';
export { loadData, type LoadDataOptions, openDuckDb, sampleData, type SqlEngine, writeCsv } from './io/index.ts';
export {
  accuracyParityDifference,
  BoundAnalyzer,
  calibrationDifference,
  computeMetric,
  demographicParityDifference,
  demographicParityRatio,
  equalizedOddsDifference,
  equalizedOddsRatio,
  equalOpportunityDifference,
  FairnessAnalyzer,
  type FairnessAnalyzerOptions,
  falsePositiveRateDifference,
  maeParityDifference,
  meanPredictionDifference,
  MetricFrame,
  metricFrame,
  type MetricOptions,
  MetricResult,
  predictiveParityDifference,
  rmseParityDifference,
  rocAucDifference,
} from './metrics/index.ts';
export { Table, type TableSource } from './table/index.ts';
export { type BackendChoice, loadTensorflow, type TensorBackend, type Tensorflow } from './tensor/index.ts';
export {
  FairnessRegularizerLoss,
  type FairnessRegularizerLossOptions,
  type ParetoPoint,
  type ParetoSweep,
  plotPareto,
  type PlotParetoOptions,
  sweepPareto,
  type SweepOptions,
  type TrainingSource,
} from './training/index.ts';

export { demographicParityDifference, demographicParityDifferenceOf } from './demographic-parity-difference.ts';
export { equalizedOddsDifference, equalizedOddsDifferenceOf } from './equalized-odds-difference.ts';
export {
  type BoundAnalyzer,
  type BoundColumns,
  FairnessAnalyzer,
  type FairnessAnalyzerOptions,
} from './fairness-analyzer.ts';
export type { ClassificationStats, GroupStats, RegressionStats } from './group-stats.ts';
export { mergeClassificationStats } from './group-stats.ts';
export { maeParityDifference, maeParityDifferenceOf } from './mae-parity-difference.ts';
export {
  type Exclusion,
  type GroupRates,
  MetricResult,
  type MetricResultFields,
  type MetricResultJson,
  type RateName,
} from './metric-result.ts';
export type { GapMethod, MetricOptions, OddsAggregate } from './options.ts';
export { type ClassificationRows, reduceClassification, reduceRegression, type RegressionRows } from './reduce-rows.ts';
export { reduceClassificationFile, reduceRegressionFile } from './reduce-file.ts';
export { reduceClassificationTensors, reduceRegressionTensors } from './reduce-tensors.ts';
export type { RowOptions } from './row-options.ts';

export { addRows, computeMetric, metricOf, metricOfClasses } from './compute-metric.ts';
export { BoundAnalyzer, type BoundFrameOptions, type BoundMetricOptions } from './analyzer/bound-analyzer.ts';
export {
  type ImpactCategory,
  type ImpactRatioOptions,
  type ImpactRatios,
  impactRatios,
  type ImpactTable,
} from './impact-ratios.ts';
export { mergeStats, removeStats } from './statistics/combine-stats.ts';
export type {
  ClassificationStats,
  ClassStats,
  GroupStats,
  RegressionStats,
  ScoreStats,
} from './statistics/group-stats.ts';
export { FairnessAnalyzer, type FairnessAnalyzerOptions } from './analyzer/fairness-analyzer.ts';
export {
  type MeasureValues,
  MetricFrame,
  metricFrame,
  type MetricFrameRows,
  type SimpsonFinding,
} from './frame/index.ts';
export * from './metric-functions.ts';
export * from './inequality/index.ts';
export { MEASURE_NAMES, type MeasureName } from './measures/index.ts';
export { NAMED_METRICS } from './metric-definitions.ts';
export {
  type Exclusion,
  type GroupIntervals,
  type GroupRates,
  MetricResult,
  type MetricResultFields,
  type MetricResultJson,
  type MissingRows,
} from './metric-result.ts';
export type { CiMethod, Compat, GapAggregate, GapMethod, MetricOptions } from './options.ts';
export { type ClassificationRows, reduceClassification } from './reduce/reduce-classification.ts';
export { reduceRegression, type RegressionRows } from './reduce/reduce-regression.ts';
export { reduceScores, type ScoreRows } from './reduce/reduce-scores.ts';
export { reduceClassificationSource, reduceRegressionSource, reduceScoreSource } from './reduce/reduce-source.ts';
export { reduceClassificationTensors, reduceRegressionTensors, reduceScoreTensors } from './reduce/reduce-tensors.ts';
export type { MetricRows, RowOptions } from './row-options.ts';
export { type BoundColumns } from './analyzer/sql-stats-source.ts';
export { statsFromJson, type StatsJson, statsToJson } from './statistics/stats-json.ts';
export {
  findSubgroups,
  type Subgroup,
  type SubgroupSearch,
  type SubgroupSource,
  type SubgroupStep,
} from './subgroups/find-subgroups.ts';
export type { FindSubgroupsOptions, SubgroupMethod, SubgroupMetric } from './subgroups/options.ts';
export { type SubgroupJson, type SubgroupsJson, subgroupsToJson } from './subgroups/subgroups-json.ts';

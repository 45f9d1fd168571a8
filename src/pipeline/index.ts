export {
  applyPipeline,
  buildPipeline,
  type PipelineRun,
  runPipeline,
  type RunPipelineOptions,
} from './run-pipeline.ts';
export { type Association, type AssociationMeasure, columnAssociation } from './association.ts';
export {
  type ConfigProblem,
  findConfigFile,
  loadConfig,
  type LoadConfigOptions,
  parseConfigText,
  parsePipelineConfig,
  type PipelineConfigInput,
  pipelineConfigToJson,
  type PipelineStepInput,
  type TrainingInput,
} from './config/index.ts';
export {
  assertReportPath,
  type AssociationCell,
  type Contrast,
  type ContrastEnd,
  type Detector,
  type DetectorConfig,
  type DetectorFinding,
  DetectorReport,
  type DetectorReportBody,
  type DetectorReportMeta,
  type DetectorSettings,
  type DetectorSummary,
  type DisparityFinding,
  type GroupRepresentation,
  type MissingnessFinding,
  plotProxies,
  type PlotProxiesOptions,
  type ProxyFinding,
  type RepresentationFinding,
  runDetectors,
  type RunDetectorsOptions,
  type Sentence,
  type SkippedColumn,
  writeDetectorReport,
} from './detectors/index.ts';
export { type DataLike, FairnessPipeline, type PipelineStep } from './fairness-pipeline.ts';
export { loadPipeline, savePipeline } from './pipeline-file.ts';
export type { PipelineJson } from './pipeline-json.ts';
export { type PipelineMetadata, PipelineResult, type StepRecord, withWeights } from './pipeline-result.ts';
export { CorrelationRemover, type CorrelationRemoverOptions } from './transformers/correlation/correlation-remover.ts';
export { type DroppedColumn, ProxyDropper, type ProxyDropperOptions } from './transformers/proxy-dropper.ts';
export { createTransformer, transformerFromJson } from './transformers/registry.ts';
export {
  DisparateImpactRemover,
  type DisparateImpactRemoverOptions,
} from './transformers/repair/disparate-impact-remover.ts';
export {
  LearnedFairRepresentations,
  type LearnedFairRepresentationsOptions,
  type RepresentationLosses,
} from './transformers/representations/learned-fair-representations.ts';
export type {
  StepDefaults,
  TransformedRows,
  Transformer,
  TransformerFitOptions,
  TransformerJson,
} from './transformers/transformer.ts';
export { InstanceReweighting, type InstanceReweightingOptions } from './transformers/weighting/instance-reweighting.ts';
export {
  ReweighingTransformer,
  type ReweighingTransformerOptions,
} from './transformers/weighting/reweighing-transformer.ts';
export { type WeightsSql, weightsSql, type WeightsSqlOptions } from './weights-sql.ts';
export type { Proportions } from './transformers/weighting/target-shares.ts';
export type { PipelineConfig, PipelineStepConfig, TrainingConfig } from '../schemas/pipeline/pipeline-document.ts';

export type { ConfigProblem } from '../../io/config-text/config-problem.ts';
export { findConfigFile } from './config-text.ts';
export { loadConfig, type LoadConfigOptions, parseConfigText } from './load-config.ts';
export { parsePipelineConfig } from './parse-pipeline-config.ts';
export type { PipelineConfigInput, PipelineStepInput, TrainingInput } from './pipeline-config-input.ts';
export { pipelineConfigToJson } from './pipeline-config-json.ts';

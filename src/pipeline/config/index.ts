export type { ConfigProblem } from '../../io/config-text/config-problem.ts';
export { findConfigFile } from './config-text.ts';
export { loadConfig, type LoadConfigOptions, parseConfigText, parsePipelineConfig } from './load-config.ts';
export type { PipelineConfigInput, PipelineStepInput, TrainingInput } from './pipeline-config-input.ts';
export { pipelineConfigToJson } from './pipeline-config-json.ts';

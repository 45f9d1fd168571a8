export { FairnessAssertionError } from './fairness-assertion-error.ts';
export { type ErrorDetails, FairnessToolkitError } from './fairness-toolkit-error.ts';
export {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
} from './toolkit-errors.ts';
export { ValueError } from './value-error.ts';

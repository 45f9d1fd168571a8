export {
  CacheMissError,
  ConfigValidationError,
  DataValidationError,
  DependencyError,
  type ErrorDetails,
  FairnessAssertionError,
  FairnessToolkitError,
  LLMClientError,
  MetricComputationError,
  PipelineExecutionError,
  TrainingError,
  ValueError,
} from './errors.ts';

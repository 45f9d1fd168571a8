export { ERROR_CODES, type ErrorCode } from './codes.ts';
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

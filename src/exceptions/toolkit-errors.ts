import { FairnessToolkitError } from './fairness-toolkit-error.ts';

/** The data that came in, or the place where results should go, cannot be used. */
export class DataValidationError extends FairnessToolkitError {}

/** A package that is not installed by default is needed and missing, or cannot start here. */
export class DependencyError extends FairnessToolkitError {}

/** Training started and failed. */
export class TrainingError extends FairnessToolkitError {}

/** A configuration file, an option or an environment variable is invalid. */
export class ConfigValidationError extends FairnessToolkitError {}

/** A metric that was asked for cannot be computed at all: unknown name, missing labels, backend failure. */
export class MetricComputationError extends FairnessToolkitError {}

/** A step of a pipeline failed; `context` holds its name and index. */
export class PipelineExecutionError extends FairnessToolkitError {}

/** A call to a language model failed for good. */
export class LLMClientError extends FairnessToolkitError {}

/** Only cached answers were allowed, and one is not in the cache. */
export class CacheMissError extends FairnessToolkitError {}

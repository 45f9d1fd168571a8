import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { type ClassWeight, parseClassWeight } from '../../training/estimators/class-weight.ts';
import type { TrackingOptions } from '../tracking/index.ts';

/** Options of the first step alone. */
export interface BaselineOptions {
  /**
   * How classes are weighed by the unconstrained model and, as costs of errors,
   * by reductions; 'balanced' lets both classes weigh the same.
   * @defaultValue 'balanced'
   */
  readonly classWeight?: ClassWeight | undefined;
  /**
   * The probability from which a decision is 1; left out, the model's own `predict` decides: at 0.5, a mixture by chance.
   * @defaultValue null
   */
  readonly decisionThreshold?: number | null | undefined;
  /**
   * Seeds the split and whatever in training is random.
   * @defaultValue 42
   */
  readonly randomState?: number | undefined;
  /**
   * Share of the rows that is trained on.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /**
   * Groups with fewer held-out rows take no part in metrics; they are named.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * Where tensors are computed.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work; the promise then rejects with the signal's reason, and nothing is written. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link BaselineOptions}. */
export const BASELINE_OPTION_NAMES: OptionNames<BaselineOptions> = {
  classWeight: true,
  decisionThreshold: true,
  randomState: true,
  trainSize: true,
  minGroupSize: true,
  backend: true,
  onProgress: true,
  signal: true,
};

/** Options of `executeWorkflow`. */
export interface WorkflowOptions extends BaselineOptions {
  /** A folder for results, data, model and reports; written whole or not at all. */
  readonly outputDir?: string | undefined;
  /**
   * Logs the run to an MLflow tracking server; a failure to log is told and changes nothing else.
   * @defaultValue false
   */
  readonly tracking?: TrackingOptions | boolean | undefined;
}

/** Lists the options of {@link WorkflowOptions}. */
export const WORKFLOW_OPTION_NAMES: OptionNames<WorkflowOptions> = {
  ...BASELINE_OPTION_NAMES,
  outputDir: true,
  tracking: true,
};

/** {@link BaselineOptions} with every default filled in. */
export interface FilledWorkflowOptions extends Pick<BaselineOptions, 'backend' | 'onProgress' | 'signal'> {
  readonly classWeight: ClassWeight;
  readonly decisionThreshold: number | null;
  readonly randomState: number;
  readonly trainSize: number;
  readonly minGroupSize: number;
}

/**
 * Fills in the defaults and checks what was given.
 * @throws {ValueError} for a value out of range
 */
export function fillWorkflowOptions(options: BaselineOptions): FilledWorkflowOptions {
  const { backend, onProgress, signal } = options;
  const filled = {
    classWeight: parseClassWeight(options.classWeight === undefined ? 'balanced' : options.classWeight),
    decisionThreshold: options.decisionThreshold ?? null,
    randomState: options.randomState ?? 42,
    trainSize: options.trainSize ?? 0.8,
    minGroupSize: options.minGroupSize ?? 30,
  };
  const { decisionThreshold, randomState, trainSize, minGroupSize } = filled;
  if (decisionThreshold !== null && !(decisionThreshold >= 0 && decisionThreshold <= 1)) {
    throw invalidParameter('decisionThreshold', 'be from 0 to 1, or null', decisionThreshold);
  }
  if (!Number.isSafeInteger(randomState)) throw invalidParameter('randomState', 'be a whole number', randomState);
  if (!(trainSize > 0 && trainSize < 1)) throw invalidParameter('trainSize', 'be between 0 and 1', trainSize);
  if (!(Number.isInteger(minGroupSize) && minGroupSize >= 1)) {
    throw invalidParameter('minGroupSize', 'be a whole number of at least 1', minGroupSize);
  }
  return Object.freeze({ ...filled, backend, onProgress, signal });
}

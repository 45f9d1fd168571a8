import type { Provenance } from '../../document/provenance.ts';
import { type FilledOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { BackendChoice } from '../../tensor/index.ts';
import { type ClassWeight, parseClassWeight } from '../../training/estimators/class-weight.ts';
import type { TrackingOptions } from '../tracking/index.ts';

/** Options of `runBaselineMeasurement`. */
export interface BaselineOptions {
  /**
   * Class weights for the unconstrained model. In reductions, they are the costs of errors. 'balanced' gives both
   * classes the same total weight.
   * @defaultValue 'balanced'
   */
  readonly classWeight?: ClassWeight | undefined;
  /**
   * The probability at or above which a decision is 1. If null, the model's own `predict` decides: at a probability of
   * 0.5, or at random for a mixture.
   * @defaultValue null
   */
  readonly decisionThreshold?: number | null | undefined;
  /**
   * The seed of the split and of all randomness in training.
   * @defaultValue 42
   */
  readonly randomState?: number | undefined;
  /**
   * The share of the rows used for training.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /**
   * Groups with fewer held-out rows are excluded from metrics and listed.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The tensor backend.
   * @defaultValue EVENHAND_TF_BACKEND, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work. The promise then rejects with the reason of the signal, and nothing is written. */
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
  /** A folder for results, data, model and reports. If writing fails, no partial output remains. */
  readonly outputDir?: string | undefined;
  /**
   * The date, the input files and the command, for the reports in `outputDir`.
   * @defaultValue none: the same findings give the same bytes
   */
  readonly provenance?: Provenance | undefined;
  /**
   * Logs the run to an MLflow tracking server. A failure is reported and changes nothing else.
   * @defaultValue false
   */
  readonly tracking?: TrackingOptions | boolean | undefined;
}

/** Lists the options of {@link WorkflowOptions}. */
export const WORKFLOW_OPTION_NAMES: OptionNames<WorkflowOptions> = {
  ...BASELINE_OPTION_NAMES,
  outputDir: true,
  provenance: true,
  tracking: true,
};

/** {@link BaselineOptions} with defaults filled in. */
export type FilledWorkflowOptions = FilledOptions<BaselineOptions, 'backend' | 'onProgress' | 'signal'>;

/**
 * Fills in the defaults and checks the options.
 * @throws {ValueError} if a value is out of range
 */
export function fillWorkflowOptions(options: BaselineOptions): FilledWorkflowOptions {
  const { backend, onProgress, signal } = options;
  const filled = {
    classWeight: parseClassWeight(options.classWeight === undefined ? 'balanced' : options.classWeight),
    decisionThreshold: options.decisionThreshold ?? null,
    randomState: options.randomState ?? 42,
    trainSize: options.trainSize ?? 0.8,
    minGroupSize: options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE,
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

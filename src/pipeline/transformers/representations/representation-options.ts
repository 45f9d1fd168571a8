import { invalidParameter, type OptionNames } from '../../../internal/arguments.ts';
import { requireCount, requireInteger, requireSeed } from '../../../stats/parameters.ts';
import {
  FEATURE_SETTINGS_NAMES,
  type FeatureSettings,
  frozenNames,
  frozenSensitive,
  type SensitiveColumns,
} from '../read-columns.ts';

/** Options of learned fair representations. */
export interface LearnedFairRepresentationsOptions extends FeatureSettings {
  /** The sensitive column, or several columns, whose intersections are the groups. Only `fit` needs these columns. */
  readonly sensitive: SensitiveColumns;
  /** The column of true labels, with two values. Only `fit` needs this column. */
  readonly label: string;
  /**
   * The label that counts as positive. All other labels are negative.
   * @defaultValue none: the column must then have at most two labels
   */
  readonly positiveLabel?: string | undefined;
  /**
   * The columns of numbers to represent.
   * @defaultValue the numeric columns of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * The number of prototypes, at least 2.
   * @defaultValue 5
   */
  readonly prototypes?: number | undefined;
  /**
   * The weight of the reconstruction error (Ax in the paper).
   * @defaultValue 0.01
   */
  readonly reconstruction?: number | undefined;
  /**
   * The weight of the prediction error (Ay).
   * @defaultValue 1
   */
  readonly prediction?: number | undefined;
  /**
   * The weight of the gap between groups (Az).
   * @defaultValue 50
   */
  readonly parity?: number | undefined;
  /** @defaultValue 5000 */
  readonly maxIterations?: number | undefined;
  /**
   * The seed of the initial prototypes.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link LearnedFairRepresentationsOptions}. */
export const LEARNED_FAIR_REPRESENTATIONS_OPTION_NAMES: OptionNames<LearnedFairRepresentationsOptions> = {
  ...FEATURE_SETTINGS_NAMES,
  positiveLabel: true,
  prototypes: true,
  reconstruction: true,
  prediction: true,
  parity: true,
  maxIterations: true,
  seed: true,
};

/** The options with every default filled in. */
export interface RepresentationSettings extends LearnedFairRepresentationsOptions {
  readonly prototypes: number;
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
  readonly maxIterations: number;
  readonly seed: number;
}

/**
 * Fills in the defaults and checks the options.
 * @throws {ValueError} if an option is out of its range
 */
export function representationSettings(options: LearnedFairRepresentationsOptions): RepresentationSettings {
  return {
    sensitive: frozenSensitive(options.sensitive),
    label: requireLabel(options.label),
    positiveLabel: options.positiveLabel,
    features: frozenNames(options.features),
    candidates: frozenNames(options.candidates),
    prototypes: requireInteger('prototypes', options.prototypes ?? 5, 2),
    reconstruction: requireCount('reconstruction', options.reconstruction ?? 0.01),
    prediction: requireCount('prediction', options.prediction ?? 1),
    parity: requireCount('parity', options.parity ?? 50),
    maxIterations: requireInteger('maxIterations', options.maxIterations ?? 5000, 1),
    seed: requireSeed(options.seed ?? 42),
  };
}

function requireLabel(label: unknown): string {
  if (typeof label === 'string' && label !== '') return label;
  throw invalidParameter('label', 'be the name of the column of true labels', label);
}

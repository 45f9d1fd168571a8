import type { OnProgress } from '../../internal/progress.ts';
import { listOf } from '../../internal/values.ts';
import { ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { assertThreshold, rangeOfName } from '../../metrics/threshold-range.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import { requireLevel, requireInteger } from '../../stats/parameters.ts';
import { INTERSECTION_SEPARATOR, type NanPolicy } from '../../table/index.ts';
import { type ABMetric, abMetric, measuresOf, needsTruth } from './fairness-measures.ts';

/** Options of a sequential test. */
export interface SequentialOptions {
  /**
   * The standard deviation of the expected changes, in the units of the outcome. This value determines at which number
   * of rows the test is most sensitive. The test is valid for any value.
   * @defaultValue 0.05 for rates, 0.2 standard deviations of the values for means
   */
  readonly tau?: number | undefined;
}

/** Options of `FairnessABTestAnalyzer`. */
export interface ABTestOptions {
  /** The sensitive columns. Each column is analysed separately. */
  readonly protected: readonly string[];
  /**
   * Intersections of sensitive columns, such as `[['sex', 'race']]`.
   * @defaultValue none
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** The outcome column: decisions 0 or 1, or numbers for `mean_prediction_difference` and `mae_parity_difference`. */
  readonly outcome: string;
  /**
   * One or more fairness metrics.
   * @defaultValue 'demographic_parity_difference'
   */
  readonly fairness?: ABMetric | readonly ABMetric[] | undefined;
  /** The column of true labels or true values, for metrics that need them. */
  readonly yTrue?: string | undefined;
  /** The label that counts as 1 in `outcome` and `yTrue`. This option is required if the labels are not 0 and 1. */
  readonly positiveLabel?: string | undefined;
  /**
   * The label that counts as 1 in `yTrue`, if true labels and outcomes use different labels.
   * @defaultValue `positiveLabel`
   */
  readonly yTruePositiveLabel?: string | undefined;
  /**
   * Texts that mean a missing value, in all columns.
   * @defaultValue the missing-value texts of pandas; in sensitive columns only the empty text
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * One or more columns of business metrics (revenue, conversion), whose effects are also reported.
   * @defaultValue none
   */
  readonly business?: string | readonly string[] | undefined;
  /** The column of row weights w. If rows have weights, counts are replaced by effective counts (sum w)^2 / sum w^2. */
  readonly sampleWeight?: string | undefined;
  /**
   * The column of clusters: units with several rows that depend on each other, such as users or schools. Standard errors,
   * intervals, p-values and the checks of the assignment then count clusters instead of rows. Use it if whole units are
   * assigned to an arm.
   * @defaultValue undefined: all rows are independent
   */
  readonly cluster?: string | undefined;
  /**
   * The column with ids of units, such as users: each row belongs to the unit with its id. A warning is given for ids
   * that occur in both arms, and for ids that are repeated within one arm.
   */
  readonly id?: string | undefined;
  /**
   * The false discovery rate for the reported changes of disparities (Benjamini and Hochberg). Each interval has the
   * confidence level 1 - alpha and is not adjusted.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * The size of the change for which power is reported, in the units of the outcome.
   * @defaultValue 0.05 for rates, 0.2 standard deviations of the values for means
   */
  readonly minimumEffect?: number | undefined;
  /**
   * Whether the experiment may be analysed repeatedly while it runs.
   * @defaultValue false
   */
  readonly sequential?: boolean | SequentialOptions | undefined;
  /**
   * The minimum number of rows of a group in each arm. Smaller groups are reported but not compared.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The intended share of rows in the treatment arm.
   * @defaultValue 0.5
   */
  readonly treatmentShare?: number | undefined;
  /**
   * The reference group of each attribute. The keys are the names of the attributes (`sex`, `sex||race`).
   * @defaultValue the group with the most rows in both arms together
   */
  readonly referenceGroups?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether rows without a group are excluded and counted, or form a separate group.
   * @defaultValue 'exclude'
   */
  readonly nanPolicy?: NanPolicy | undefined;
  /**
   * The seed of the interval for the largest gap of three or more groups. All other results are deterministic.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

/** Lists the options of {@link ABTestOptions}. */
export const AB_TEST_OPTION_NAMES: OptionNames<ABTestOptions> = {
  protected: true,
  intersections: true,
  outcome: true,
  fairness: true,
  yTrue: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  naValues: true,
  business: true,
  sampleWeight: true,
  cluster: true,
  id: true,
  alpha: true,
  minimumEffect: true,
  sequential: true,
  minGroupSize: true,
  treatmentShare: true,
  referenceGroups: true,
  nanPolicy: true,
  seed: true,
};

/** Options of one analysis. */
export interface ABAnalysisOptions {
  /** @defaultValue the analyzer's option */
  readonly sequential?: boolean | SequentialOptions | undefined;
  /** Called after each comparison of one measure between the groups of one attribute. */
  readonly onProgress?: OnProgress | undefined;
}

/** Lists the options of {@link ABAnalysisOptions}. */
export const AB_ANALYSIS_OPTION_NAMES: OptionNames<ABAnalysisOptions> = { sequential: true, onProgress: true };

/** A sensitive attribute, or an intersection of several. */
export interface ABAttribute {
  /** The name of the column, such as `sex`, or of the intersection, such as `sex||race`. */
  readonly name: string;
  readonly columns: readonly string[];
}

/** All settings of an analysis, with defaults filled in. Frozen. */
export interface ABSettings extends FilledOptions<
  Pick<ABTestOptions, 'outcome' | 'naValues' | 'alpha' | 'minGroupSize' | 'treatmentShare' | 'nanPolicy' | 'seed'>,
  'naValues'
> {
  readonly attributes: readonly ABAttribute[];
  readonly fairness: readonly ABMetric[];
  readonly yTrue: string | null;
  readonly positiveLabel: string | null;
  readonly yTruePositiveLabel: string | null;
  readonly business: readonly string[];
  readonly sampleWeight: string | null;
  readonly cluster: string | null;
  readonly id: string | null;
  /** Null if the default depends on the kind of measure. */
  readonly minimumEffect: number | null;
  readonly isSequential: boolean;
  /** Null if the default depends on the kind of measure. */
  readonly tau: number | null;
  readonly referenceGroups: readonly { readonly attribute: string; readonly group: string }[];
}

/**
 * Checks options and fills in defaults.
 * @throws {ValueError} if an option is invalid; the error contains the name of the option, the expected value and the
 * given value
 */
export function fillSettings(options: ABTestOptions): ABSettings {
  const fairness = listOf(options.fairness ?? 'demographic_parity_difference').map(abMetric);
  if (fairness.length === 0) throw invalidParameter('fairness', 'name at least one metric', '[]');
  const settings: ABSettings = {
    attributes: attributesOf(options),
    outcome: requireName('outcome', options.outcome),
    fairness: Object.freeze([...new Set(fairness)]),
    yTrue: optionalName('yTrue', options.yTrue),
    positiveLabel: options.positiveLabel ?? null,
    yTruePositiveLabel: options.yTruePositiveLabel ?? null,
    naValues: options.naValues,
    business: Object.freeze(listOf(options.business ?? []).map((name) => requireName('business', name))),
    sampleWeight: optionalName('sampleWeight', options.sampleWeight),
    cluster: optionalName('cluster', options.cluster),
    id: optionalName('id', options.id),
    alpha: requireLevel('alpha', options.alpha ?? 0.05),
    minimumEffect: optionalPositive('minimumEffect', options.minimumEffect),
    ...sequentialSettings(options.sequential),
    minGroupSize: requireInteger('minGroupSize', options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE, 1),
    treatmentShare: requireLevel('treatmentShare', options.treatmentShare ?? 0.5),
    referenceGroups: referencesOf(options.referenceGroups ?? {}),
    nanPolicy: oneOf('nanPolicy', options.nanPolicy ?? 'exclude', ['exclude', 'include']),
    seed: requireInteger('seed', options.seed ?? 42, 0),
  };
  assertTruth(settings);
  assertEffectPossible(settings);
  assertOutcome(settings);
  return Object.freeze(settings);
}

/** Returns the settings for repeated analyses. */
export function sequentialSettings(
  sequential: boolean | SequentialOptions | undefined,
): Pick<ABSettings, 'isSequential' | 'tau'> {
  if (sequential === undefined || typeof sequential === 'boolean') {
    return { isSequential: sequential ?? false, tau: null };
  }
  return { isSequential: true, tau: optionalPositive('sequential.tau', sequential.tau) };
}

function attributesOf(options: ABTestOptions): readonly ABAttribute[] {
  const singles = listOf(options.protected).map((name) => [requireName('protected', name)]);
  const crossed = (options.intersections ?? []).map((names) => names.map((name) => requireName('intersections', name)));
  const narrow = crossed.find((names) => new Set(names).size < 2);
  if (narrow !== undefined) {
    throw invalidParameter('intersections', 'contain lists of at least two columns', `[${narrow.join(', ')}]`);
  }
  if (singles.length + crossed.length === 0) throw invalidParameter('protected', 'name at least one column', '[]');
  const byName = new Map<string, ABAttribute>();
  for (const columns of [...singles, ...crossed]) {
    const name = columns.join(INTERSECTION_SEPARATOR);
    byName.set(name, Object.freeze({ name, columns: Object.freeze(columns) }));
  }
  return Object.freeze([...byName.values()]);
}

function referencesOf(given: Readonly<Record<string, string>>): ABSettings['referenceGroups'] {
  return Object.freeze(Object.entries(given).map(([attribute, group]) => Object.freeze({ attribute, group })));
}

function assertTruth({ fairness, yTrue, yTruePositiveLabel }: ABSettings): void {
  if (yTrue === null && yTruePositiveLabel !== null) {
    throw new ValueError('yTruePositiveLabel names a label of the true labels, but yTrue is not set.', {
      context: { parameter: 'yTrue', yTruePositiveLabel },
      suggestion: 'Set yTrue to the column of true labels.',
    });
  }
  const metric = fairness.find((name) => measuresOf(name).some(needsTruth));
  if (metric === undefined || yTrue !== null) return;
  throw new ValueError(`The fairness metric ${metric} needs true labels.`, {
    context: { parameter: 'yTrue', metric },
    suggestion: 'Set yTrue to the column of true labels.',
  });
}

/** Rejects a minimum effect that no metric can have. A common mistake is 5 instead of 0.05 (5 percent). */
function assertEffectPossible({ fairness, minimumEffect }: ABSettings): void {
  if (minimumEffect === null) return;
  for (const metric of fairness) {
    const range = rangeOfName(metric, { isSize: true });
    assertThreshold({ metric, threshold: minimumEffect, comparator: '>=' }, range, 'minimumEffect');
  }
}

/** Rejects an outcome that is also a sensitive column, because its rates would always be 0 and 1. */
function assertOutcome({ attributes, outcome }: ABSettings): void {
  if (!attributes.some(({ columns }) => columns.includes(outcome))) return;
  throw new ValueError(`The outcome '${outcome}' is also a sensitive column.`, {
    context: { parameter: 'outcome', outcome },
    suggestion: 'Set outcome to the column of decisions.',
  });
}

function requireName(parameter: string, given: unknown): string {
  if (typeof given === 'string' && given !== '') return given;
  throw invalidParameter(parameter, 'be the name of a column', given === '' ? "''" : typeof given);
}

function optionalName(parameter: string, given: string | undefined): string | null {
  return given === undefined ? null : requireName(parameter, given);
}

function optionalPositive(parameter: string, given: number | undefined): number | null {
  if (given === undefined) return null;
  if (given > 0 && given < Infinity) return given;
  throw invalidParameter(parameter, 'be a number above 0', given);
}

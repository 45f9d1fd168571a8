import { ValueError } from '../exceptions/index.ts';
import { invalidParameter, oneOf, type OptionNames } from '../internal/arguments.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../schemas/min-group-size.ts';
import { requireInteger, requireSeed } from '../stats/parameters.ts';

/**
 * How groups are compared: the two extreme groups with each other, each group with all rows, or each group with a
 * reference group.
 */
export type GapMethod = 'between_groups' | 'to_overall' | 'to_reference';

/** How the gaps of several rates are aggregated. */
export type GapAggregate = 'worst_case' | 'mean';

/** How confidence intervals are computed. */
export type CiMethod = 'simultaneous' | 'percentile' | 'bca';

/** Libraries whose conventions are available. */
export type Compat = 'fairlearn' | 'aif360' | 'aequitas';

/** Options of every metric. */
export interface MetricOptions {
  /**
   * The minimum number of rows of a group; smaller groups are excluded.
   * @defaultValue 30; 1 with `compat`
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The minimum number of rows in the denominator of a group's rate; rates with fewer rows are excluded.
   * @defaultValue 1
   */
  readonly minDenominator?: number | undefined;
  /** @defaultValue 'between_groups'; 'to_reference' with `referenceGroup`, and with `compat` 'aif360' and 'aequitas' */
  readonly method?: GapMethod | undefined;
  /**
   * For `to_reference`: the group with which all other groups are compared. If several groups are given, they are
   * pooled.
   * @defaultValue the largest group
   */
  readonly referenceGroup?: string | readonly string[] | undefined;
  /**
   * For equalized odds: whether the value is the larger of the two gaps (`worst_case`) or their mean (`mean`).
   * @defaultValue 'worst_case'
   */
  readonly agg?: GapAggregate | undefined;
  /** @defaultValue true */
  readonly withCi?: boolean | undefined;
  /** @defaultValue 0.95 */
  readonly ciLevel?: number | undefined;
  /**
   * Intervals of `simultaneous` hold for all pairs of groups simultaneously, and also cover a true gap of 0.
   * `percentile` and `bca` resample the counts of decisions, and their intervals rarely cover a true gap of 0. Use
   * `percentile` and `bca` only to compare with other tools.
   * @defaultValue 'simultaneous'
   */
  readonly ciMethod?: CiMethod | undefined;
  /**
   * The number of bootstrap replicates, and of permutations for the p-value.
   * @defaultValue 1000
   */
  readonly ciSamples?: number | undefined;
  /** @defaultValue true */
  readonly withEffectSize?: boolean | undefined;
  /** @defaultValue false */
  readonly withPValue?: boolean | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
  /** The library whose values you want to reproduce. The conventions of this library replace the defaults. */
  readonly compat?: Compat | undefined;
}

/** Lists the options of {@link MetricOptions}. */
export const METRIC_OPTION_NAMES: OptionNames<MetricOptions> = {
  minGroupSize: true,
  minDenominator: true,
  method: true,
  referenceGroup: true,
  agg: true,
  withCi: true,
  ciLevel: true,
  ciMethod: true,
  ciSamples: true,
  withEffectSize: true,
  withPValue: true,
  seed: true,
  compat: true,
};

/** {@link MetricOptions} with all defaults applied. */
export type FilledMetricOptions = {
  readonly [Name in Exclude<keyof MetricOptions, 'compat' | 'referenceGroup'>]-?: Exclude<
    MetricOptions[Name],
    undefined
  >;
} & {
  readonly compat: Compat | undefined;
  readonly referenceGroup: readonly string[] | undefined;
  /**
   * The reason why intervals are not computed, if they would exceed a cost limit. The result reports the reason as a
   * warning.
   */
  readonly whyNoCi?: string | undefined;
};

/** The maximum number of replicates. More replicates need more memory but add no precision. */
const MAX_SAMPLES = 10_000_000;

const CI_METHODS = ['simultaneous', 'percentile', 'bca'] as const satisfies CiMethod[];

/**
 * Applies the defaults and checks the options.
 * @throws {ValueError} if a number is out of range or a name is unknown
 */
export function fillMetricOptions(options: MetricOptions = {}): FilledMetricOptions {
  const compat =
    options.compat === undefined ? undefined : oneOf('compat', options.compat, ['fairlearn', 'aif360', 'aequitas']);
  const isToReference = compat === 'aif360' || compat === 'aequitas' || options.referenceGroup !== undefined;
  const method = isToReference ? 'to_reference' : 'between_groups';
  const filled = oneOf('method', options.method ?? method, ['between_groups', 'to_overall', 'to_reference']);
  if (compat === 'aif360' && filled !== 'to_reference') throw onlyToReference(filled);
  if (options.referenceGroup !== undefined && filled !== 'to_reference') throw unusedReference(filled);
  return {
    minGroupSize: requireInteger(
      'minGroupSize',
      options.minGroupSize ?? (compat === undefined ? DEFAULT_MIN_GROUP_SIZE : 1),
      1,
    ),
    minDenominator: requireInteger('minDenominator', options.minDenominator ?? 1, 1),
    method: filled,
    referenceGroup: options.referenceGroup === undefined ? undefined : referenceGroups(options.referenceGroup),
    agg: oneOf('agg', options.agg ?? 'worst_case', ['worst_case', 'mean']),
    withCi: options.withCi ?? true,
    ciLevel: fraction('ciLevel', options.ciLevel ?? 0.95),
    ciMethod: oneOf('ciMethod', options.ciMethod ?? 'simultaneous', CI_METHODS),
    ciSamples: requireInteger('ciSamples', options.ciSamples ?? 1000, 1, MAX_SAMPLES),
    withEffectSize: options.withEffectSize ?? true,
    withPValue: options.withPValue ?? false,
    seed: requireSeed(options.seed ?? 42),
    compat,
  };
}

function onlyToReference(method: GapMethod): ValueError {
  return new ValueError(
    `compat: 'aif360' compares with the privileged group only, so no other method is allowed. Got '${method}' instead.`,
    {
      context: { parameter: 'method', value: method },
      suggestion: 'Remove the other method (method).',
    },
  );
}

function unusedReference(method: GapMethod): ValueError {
  return new ValueError(`A referenceGroup is valid only for method 'to_reference'. Got method '${method}' instead.`, {
    context: { parameter: 'referenceGroup', value: method },
    suggestion: 'Remove referenceGroup, or use the method to_reference.',
  });
}

function referenceGroups(given: string | readonly string[]): readonly string[] {
  const names = [given].flat();
  if (names.length > 0) return names;
  throw invalidParameter('referenceGroup', 'name a group', 'an empty list');
}

function fraction(parameter: string, given: number): number {
  if (given > 0 && given < 1) return given;
  throw invalidParameter(parameter, 'lie between 0 and 1', given);
}

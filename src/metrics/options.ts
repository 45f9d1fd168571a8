import { ValueError } from '../exceptions/index.ts';
import { suggestNames } from '../internal/nearest.ts';

/** How groups are compared: the extremes with each other, or each with all rows together. */
export type GapMethod = 'between_groups' | 'to_overall';

/** How the gaps of equalized odds become one number. */
export type OddsAggregate = 'worst_case' | 'mean';

/** Options of every metric. */
export interface MetricOptions {
  /**
   * Groups with fewer rows take no part.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * A rate of a group with fewer rows in its denominator takes no part.
   * @defaultValue 1
   */
  readonly minDenominator?: number | undefined;
  /** @defaultValue 'between_groups' */
  readonly method?: GapMethod | undefined;
  /**
   * For equalized odds: the larger gap, or the mean of both.
   * @defaultValue 'worst_case'
   */
  readonly agg?: OddsAggregate | undefined;
  /** @defaultValue true */
  readonly withCi?: boolean | undefined;
  /** @defaultValue 0.95 */
  readonly ciLevel?: number | undefined;
  /**
   * Simultaneous intervals over all pairs of groups, by a parametric bootstrap of the counts.
   * @defaultValue 'simultaneous'
   */
  readonly ciMethod?: 'simultaneous' | undefined;
  /**
   * Bootstrap replicates.
   * @defaultValue 1000
   */
  readonly ciSamples?: number | undefined;
  /** @defaultValue true */
  readonly withEffectSize?: boolean | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
}

/** {@link MetricOptions} with every default filled in. */
export type FilledMetricOptions = { readonly [Name in keyof MetricOptions]-?: Exclude<MetricOptions[Name], undefined> };

/**
 * Fills in the defaults and checks what was given.
 * @throws {ValueError} for a number out of range or an unknown name
 */
export function fillMetricOptions(options: MetricOptions = {}): FilledMetricOptions {
  return {
    minGroupSize: wholeNumber('minGroupSize', options.minGroupSize ?? 30, 1),
    minDenominator: wholeNumber('minDenominator', options.minDenominator ?? 1, 1),
    method: oneOf('method', options.method ?? 'between_groups', ['between_groups', 'to_overall']),
    agg: oneOf('agg', options.agg ?? 'worst_case', ['worst_case', 'mean']),
    withCi: options.withCi ?? true,
    ciLevel: fraction('ciLevel', options.ciLevel ?? 0.95),
    ciMethod: oneOf('ciMethod', options.ciMethod ?? 'simultaneous', ['simultaneous']),
    ciSamples: wholeNumber('ciSamples', options.ciSamples ?? 1000, 1),
    withEffectSize: options.withEffectSize ?? true,
    seed: options.seed ?? 42,
  };
}

/** A name out of a list. */
function oneOf<T extends string>(parameter: string, given: string, known: readonly T[]): T {
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ValueError(`The ${parameter} parameter must be one of ${known.join(', ')}. Got '${given}' instead.`, {
    context: { parameter, value: given },
    suggestion: suggestNames(given, known, 'choices'),
  });
}

function wholeNumber(parameter: string, given: number, least: number): number {
  if (Number.isInteger(given) && given >= least) return given;
  throw new ValueError(
    `The ${parameter} parameter must be a whole number of at least ${String(least)}. Got ${String(given)} instead.`,
    { context: { parameter, value: given } },
  );
}

function fraction(parameter: string, given: number): number {
  if (given > 0 && given < 1) return given;
  throw new ValueError(`The ${parameter} parameter must lie between 0 and 1. Got ${String(given)} instead.`, {
    context: { parameter, value: given },
  });
}

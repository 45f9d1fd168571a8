import { counted, formatCount, formatShare } from '../../internal/format.ts';
import { sumOf } from '../../internal/values.ts';
import { decisionTotals, type GroupStats } from '../statistics/group-stats.ts';
import { skipsGroup } from './compat.ts';
import type { ComparedMeasure } from './gap.ts';
import type { GroupMeasure } from '../measures/index.ts';
import type { Exclusion } from '../metric-result.ts';
import type { FilledMetricOptions } from '../options.ts';

/** The denominator below which a rate gets a warning. */
const THIN_DENOMINATOR = 10;

/** The groups that a comparison includes, and the reasons why it excludes the other groups. */
export interface Participation {
  /** The indexes of groups that are large enough. */
  readonly large: readonly number[];
  /** For each measure, the indexes of the groups that are compared. */
  readonly groups: readonly (readonly number[])[];
  /** The exclusions by label. A Map, since a label may be `__proto__`. */
  readonly excluded: ReadonlyMap<string, Exclusion>;
}

/** Decides which groups are included in the comparison of each measure. */
export function participation(
  measures: readonly GroupMeasure[],
  labels: readonly string[],
  rows: Float64Array,
  options: FilledMetricOptions,
): Participation {
  const excluded = new Map<string, Exclusion>();
  const note = (group: number, measure: GroupMeasure | undefined, reason: string): void => {
    const label = labels[group] as string;
    const earlier = excluded.get(label);
    excluded.set(
      label,
      earlier === undefined
        ? { n: rows[group] as number, reason, ...fractionOf(measure, group) }
        : { ...earlier, reason: `${earlier.reason}; ${reason}` },
    );
  };
  const large = labels.flatMap((_, group) => {
    if ((rows[group] as number) >= options.minGroupSize && (rows[group] as number) > 0) return [group];
    const reason =
      rows[group] === 0
        ? 'no rows with all the values that the metric needs'
        : `fewer than ${String(options.minGroupSize)} rows`;
    note(group, measures[0], reason);
    return [];
  });
  // fairlearn and AIF360 do not exclude groups with a small denominator.
  const keepsSmall = options.compat === 'fairlearn' || options.compat === 'aif360';
  const groups = measures.map((measure) =>
    large.filter((group) => {
      if (hasValue(measure, group, options) || (keepsSmall && !skipsGroup(measure, group, options))) return true;
      note(group, measure, whyMissing(measure, group, options));
      return false;
    }),
  );
  return { large, groups, excluded };
}

function hasValue(measure: GroupMeasure, group: number, { minDenominator }: FilledMetricOptions): boolean {
  if ((measure.denominatorCounts[group] as number) < minDenominator) return false;
  switch (measure.sampling.kind) {
    case 'rates':
      return (measure.sampling.denominators[group] as number) > 0;
    case 'means': {
      // If squared weights overflow, the metric is undefined, but the group is not excluded.
      const size = measure.sampling.sizes[group] as number;
      return Number.isNaN(size) || (size > 0 && !Number.isNaN(measure.values[group]));
    }
    case 'none':
      return !Number.isNaN(measure.values[group]);
  }
}

function whyMissing(measure: GroupMeasure, group: number, { minDenominator }: FilledMetricOptions): string {
  const rows = measure.denominatorCounts[group] as number;
  const why =
    rows < minDenominator
      ? `at least ${String(minDenominator)} needed`
      : measure.sampling.kind === 'none'
        ? measure.sampling.whyMissing
        : 'their weights are all 0';
  return `no ${inPlainWords(measure.name)}: ${String(rows)} ${measure.denominatorName}, ${why}`;
}

function fractionOf(measure: GroupMeasure | undefined, group: number): Pick<Exclusion, 'numerator' | 'denominator'> {
  if (measure?.sampling.kind !== 'rates') return { numerator: null, denominator: null };
  const { numerators, denominators } = measure.sampling;
  const finite = (weight = NaN): number | null => (Number.isFinite(weight) ? weight : null);
  return { numerator: finite(numerators[group]), denominator: finite(denominators[group]) };
}

/**
 * Returns the reason why the comparison is undefined, or null if it is defined. Every measure needs at least two
 * groups.
 */
export function whyUndefined(
  compared: readonly ComparedMeasure[],
  large: number,
  { minGroupSize }: FilledMetricOptions,
): string | null {
  if (large < 2) {
    return `${large === 0 ? 'no group' : 'only one group'} with at least ${String(minGroupSize)} rows; two are needed, or a smaller minimum group size`;
  }
  const [beyond] = compared.flatMap(
    ({ measure, groups }) => groups.map((group) => whyBeyond(measure, group)).find((why) => why !== null) ?? [],
  );
  if (beyond !== undefined) return beyond;
  const short = compared.find(({ groups }) => groups.length < 2);
  if (short !== undefined) {
    const who = short.groups.length === 0 ? 'no group has' : 'only one group has';
    return `${who} a ${inPlainWords(short.measure.name)}; two are needed`;
  }
  const lost = compared.find(({ anchorGroup, groups }) => anchorGroup !== undefined && !groups.includes(anchorGroup));
  if (lost !== undefined) return `the reference group has no ${inPlainWords(lost.measure.name)}`;
  const alone = compared.find(({ anchor, anchorGroup }) => anchorGroup === undefined && !Number.isFinite(anchor ?? 0));
  return alone === undefined
    ? null
    : `all rows together have no ${inPlainWords(alone.measure.name)}, or weights or numbers too large to be added up`;
}

/** Returns a reason to exclude a group if its numbers exceed the range of float64; otherwise null. */
function whyBeyond(measure: GroupMeasure, group: number): string | null {
  const { sampling } = measure;
  const value = measure.values[group] as number;
  if (sampling.kind === 'rates') {
    return Number.isFinite(sampling.denominators[group]) ? null : 'the weights are too large to be added up';
  }
  if (sampling.kind === 'means' && Number.isNaN(sampling.sizes[group])) {
    return 'the weights are too large or too small to be squared';
  }
  return Math.abs(value) === Infinity ? 'the numbers are too large to be added up' : null;
}

/** The share of rows in groups that are not compared from which a value says little about all rows. */
const MANY_SKIPPED = 0.25;

/** Returns a warning if many rows belong to groups that are not compared because they are small. */
export function skippedWarnings({ large }: Participation, rows: Float64Array): string[] {
  const all = sumOf([...rows]);
  const compared = sumOf(large.map((group) => rows[group] as number));
  if (large.length < 2 || all - compared < MANY_SKIPPED * all) return [];
  return [
    `${formatShare(1 - compared / all)} of the rows are in groups that are not compared because they have too few rows. Form larger groups, or compare fewer attributes at once`,
  ];
}

/** Returns warnings about rates with a small denominator. */
export function thinWarnings(compared: readonly ComparedMeasure[], labels: readonly string[]): string[] {
  return compared.flatMap(({ measure, groups }) =>
    groups
      .filter((group) => (measure.denominatorCounts[group] as number) < THIN_DENOMINATOR)
      .map(
        (group) =>
          `the ${inPlainWords(measure.name)} of ${labels[group] as string} is based on only ${String(measure.denominatorCounts[group])} ${measure.denominatorName}`,
      ),
  );
}

/**
 * Returns a warning if all decisions are the same, since every gap between rates of decisions is then 0. Usually, the
 * decisions or the threshold of the scores are wrong.
 */
export function sameDecisionWarnings(stats: GroupStats): string[] {
  if (stats.kind !== 'classification') return [];
  const [positive, negative] = decisionTotals(stats);
  if (positive > 0 && negative > 0) {
    return unlikeWeightWarnings(decisionTotals({ counts: stats.weights }), [positive, negative]);
  }
  if (positive + negative === 0) return [];
  return [
    `all ${counted(positive + negative, 'decision is', 'decisions are')} ${positive > 0 ? 'positive' : 'negative'}, so that no group can have another rate of decisions; check the column, the positive label, or the threshold of the scores`,
  ];
}

/** The ratio of the mean weights of rows with either decision from which weights may follow from the decision. */
const UNLIKE_WEIGHTS = 5;

/** The smallest number of rows with a decision whose mean weight is compared. */
const MIN_WEIGHED = 30;

/**
 * Returns a warning if rows with one decision have the weight 0, or a much smaller one, such as an amount that only
 * approved people get.
 * @param weights the sum of the weights of rows with a positive and with a negative decision
 * @param rows the numbers of these rows; if one is 0, there is nothing to compare
 */
export function unlikeWeightWarnings(
  [positive, negative]: readonly [positive: number, negative: number],
  rows: readonly [positive: number, negative: number],
): string[] {
  if (Math.min(...rows) === 0 || positive + negative === 0) return [];
  if (positive > 0 && negative > 0) {
    const ratio = positive / rows[0] / (negative / rows[1]);
    if (Math.min(...rows) < MIN_WEIGHED || (ratio < UNLIKE_WEIGHTS && ratio > 1 / UNLIKE_WEIGHTS)) return [];
    const [more, less] = ratio > 1 ? ['positive', 'negative'] : ['negative', 'positive'];
    return [
      `the mean weight of rows with a ${more} decision is ${formatCount(Math.round(Math.max(ratio, 1 / ratio)))} times that of rows with a ${less} one. If the weight follows from the decision, such as an amount that was granted, rates and gaps mean nothing: use weights that say how many people a row stands for`,
    ];
  }
  const lost = positive > 0 ? 'negative' : 'positive';
  return [
    `all rows with a ${lost} decision have the weight 0, so that no group can have another rate of decisions; check the column of weights`,
  ];
}

/** Converts the name of a measure to words. */
export function inPlainWords(name: string): string {
  return name.replaceAll('_', ' ');
}

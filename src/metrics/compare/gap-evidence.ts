import { createRandom } from '../../internal/random.ts';
import { minimumDetectableGap, minimumDetectableMeanGap } from '../../stats/minimum-detectable-gap.ts';
import { permutationPValue } from '../../stats/permutation-test.ts';
import { compareMeasures, type ComparedMeasure, largest } from './gap.ts';
import { pairOfMeasure } from './gap-pair.ts';
import type { GroupMeasure, RateSampling } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';

/** Stream of random numbers for permutations; intervals have the first. */
const PERMUTATION_STREAM = 1;

/** Whether a p-value by permuting the labels of groups can be had: whole counts of rates, groups compared with each other. */
export function canPermute(compared: readonly ComparedMeasure[], { method }: FilledMetricOptions): boolean {
  return (
    method === 'between_groups' &&
    compared.every(
      ({ measure: { sampling }, groups }) =>
        sampling.kind === 'rates' && groups.every((group) => isWhole(sampling, group)),
    )
  );
}

/** Whether a rate is one of rows that are counted once each. */
function isWhole({ numerators, denominators, effectiveCounts }: RateSampling, group: number): boolean {
  const rows = denominators[group] as number;
  return rows > 0 && rows === effectiveCounts[group] && Number.isSafeInteger(numerators[group]);
}

/**
 * The probability of a gap at least as large where labels of groups mean
 * nothing: labels are permuted within the rows of each rate's denominator, so
 * within true labels for equalized odds.
 */
export function permutationOfGap(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): number {
  const strata = compared.map(({ measure, groups }) => {
    const { numerators, denominators } = measure.sampling as RateSampling;
    return {
      successes: groups.map((group) => numerators[group] as number),
      trials: groups.map((group) => denominators[group] as number),
    };
  });
  const statistic = (successes: readonly Float64Array[]): number => {
    const drawn = compared.map((one, index): ComparedMeasure => {
      const { trials } = strata[index] as (typeof strata)[number];
      const own = successes[index] as Float64Array;
      const values = own.map((count, place) => count / (trials[place] as number));
      return { ...one, measure: { ...one.measure, values }, groups: trials.map((_, place) => place) };
    });
    const gap = compareMeasures(drawn, definition, options);
    // The smaller a ratio, the farther apart the groups; 0 to 0 is no gap at all.
    return definition.comparison === 'ratio' ? -(Number.isNaN(gap) ? 1 : gap) : gap;
  };
  const random = createRandom(options.seed, PERMUTATION_STREAM);
  return permutationPValue(strata, statistic, { samples: options.ciSamples, random });
}

/**
 * The smallest gap between the extreme groups that samples of their size would
 * have shown with probability 0.8; over several measures the largest of these.
 */
export function detectableGap(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  { method, ciLevel }: FilledMetricOptions,
): number | null {
  if (method !== 'between_groups' || definition.comparison !== 'difference') return null;
  const comparisons = compared.reduce((pairs, { groups: { length } }) => pairs + (length * (length - 1)) / 2, 0);
  const gaps = compared.map((one) => {
    const shared = { level: ciLevel, comparisons };
    const [high, low] = pairOfMeasure(one, definition.comparison);
    return low === null ? null : detectableBetween(one.measure, high, low, shared);
  });
  return gaps.every((gap) => gap !== null && Number.isFinite(gap)) ? largest(gaps as number[]) : null;
}

function detectableBetween(
  { sampling }: GroupMeasure,
  high: number,
  low: number,
  shared: { readonly level: number; readonly comparisons: number },
): number | null {
  if (sampling.kind === 'none') return null;
  if (sampling.kind === 'means') {
    const [standardErrorA, standardErrorB] = [sampling.standardErrors[high], sampling.standardErrors[low]] as [
      number,
      number,
    ];
    if (!Number.isFinite(standardErrorA) || !Number.isFinite(standardErrorB)) return null;
    return minimumDetectableMeanGap({ standardErrorA, standardErrorB, ...shared });
  }
  const [trialsA, trialsB] = [sampling.effectiveCounts[high], sampling.effectiveCounts[low]] as [number, number];
  const numerator = (sampling.numerators[high] as number) + (sampling.numerators[low] as number);
  const denominator = (sampling.denominators[high] as number) + (sampling.denominators[low] as number);
  if (!Number.isFinite(trialsA) || !Number.isFinite(trialsB) || trialsA === 0 || trialsB === 0) return null;
  return minimumDetectableGap({ rate: numerator / denominator, trialsA, trialsB, ...shared });
}

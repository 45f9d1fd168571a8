import { createRandom } from '../../internal/random.ts';
import { gapIntervals, type GapIntervals } from '../../stats/gap-interval.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { aggregateGaps, type ComparedMeasure } from './gap.ts';
import type { GroupMeasure } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';

type Family = Parameters<typeof gapIntervals>[0][number];

/** A simultaneous interval of a metric, with the p-value of its largest studentised difference. */
export interface SimultaneousInterval {
  readonly ci: Interval;
  readonly method: GapIntervals['method'];
  readonly pValue: number;
}

/**
 * The interval of a gap between groups that holds for all pairs, and all measures, together.
 * @returns a reason instead, where there is none
 */
export function simultaneousInterval(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): SimultaneousInterval | string {
  if (options.method !== 'between_groups') return `not available for method '${options.method}'`;
  const families = compared.map((one) => familyOf(one, definition));
  const missing = families.find((family): family is string => typeof family === 'string');
  if (missing !== undefined) return missing;
  const { intervals, method, pValue } = gapIntervals(families as Family[], {
    level: options.ciLevel,
    samples: options.ciSamples,
    random: createRandom(options.seed),
  });
  // The gap of logarithms g makes the ratio e^-g, so that its ends change places.
  const isRatio = definition.comparison === 'ratio';
  const ends = intervals.map(([low, high]): Interval => (isRatio ? [Math.exp(-high), Math.exp(-low)] : [low, high]));
  const end = (side: 0 | 1): number =>
    aggregateGaps(
      compared,
      ends.map((interval) => interval[side]),
      definition,
      options,
    );
  const ci: Interval = [end(0), end(1)];
  return ci.some(Number.isNaN) ? 'the level is so near to 1 that it has no critical value' : { ci, method, pValue };
}

/** What the interval needs to know of a measure; a reason where it cannot be had. */
function familyOf({ measure, groups }: ComparedMeasure, { comparison }: MetricDefinition): Family | string {
  const pick = (values: Float64Array): Float64Array => Float64Array.from(groups, (group) => values[group] as number);
  const { sampling } = measure;
  if (sampling.kind === 'none') return `not available for ${measure.name}`;
  if (sampling.kind === 'rates') {
    const trials = pick(sampling.effectiveCounts);
    if (!trials.every(Number.isFinite)) return 'the weights are too large or too small to be squared';
    if (!trials.every((n) => n > 0)) return 'a group has no rows to be sure of';
    const values = pick(measure.values);
    return {
      kind: comparison === 'ratio' ? 'log-rates' : 'rates',
      trials,
      successes: trials.map((n, index) => n * (values[index] as number)),
    };
  }
  return meanFamily(measure, sampling, pick, comparison);
}

function meanFamily(
  measure: GroupMeasure,
  { standardErrors, sizes, skewness, ceiling, whyNoErrors }: Extract<GroupMeasure['sampling'], { kind: 'means' }>,
  pick: (values: Float64Array) => Float64Array,
  comparison: MetricDefinition['comparison'],
): Family | string {
  if (whyNoErrors !== undefined) return whyNoErrors;
  const [means, errors] = [pick(measure.values), pick(standardErrors)];
  if (!errors.every(Number.isFinite)) return 'a group has one row, or numbers too large to be squared';
  const shape = { sizes: pick(sizes), skewness: skewness === undefined ? undefined : pick(skewness) };
  if (comparison === 'difference') return { kind: 'means', means, standardErrors: errors, ...shape, ceiling };
  if (!means.every((mean) => mean > 0)) return 'a ratio of numbers that are not all positive';
  return {
    kind: 'means',
    means: means.map(Math.log),
    standardErrors: errors.map((error, index) => error / (means[index] as number)),
    sizes: shape.sizes,
  };
}

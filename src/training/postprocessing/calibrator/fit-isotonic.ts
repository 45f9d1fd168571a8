import { countAtMost } from '../grouped-scores.ts';
import { type PooledRows, poolViolators, rateOf } from '../pool-violators.ts';
import type { FittedMap, LabelledScores } from './calibration-map.ts';

/**
 * Fits an isotonic regression of labels on scores: the non-decreasing rates with the least weighted squared error. The
 * fit pools equal scores first. Sorting takes O(n log n) time, and the other steps take O(n) time.
 */
export function fitIsotonic({ scores, y, weights }: LabelledScores): FittedMap {
  const distinct = distinctSorted(scores);
  const [no, yes] = [new Float64Array(distinct.length), new Float64Array(distinct.length)];
  for (let row = 0; row < scores.length; row++) {
    const index = countAtMost(distinct, scores[row] as number) - 1;
    const sums = y[row] === 1 ? yes : no;
    sums[index] = (sums[index] as number) + (weights[row] as number);
  }
  return isotonicMap(
    Array.from(distinct, (score, index) => ({
      low: score,
      high: score,
      no: no[index] as number,
      yes: yes[index] as number,
    })),
  );
}

/**
 * Returns the ends of pooled blocks as the points of a map.
 * @param blocks by rising score
 */
export function isotonicMap(blocks: readonly PooledRows[]): FittedMap {
  const pooled = poolViolators(blocks);
  const points = pooled.flatMap((block) => {
    const scores = block.low === block.high ? [block.low] : [block.low, block.high];
    return scores.map((score) => [score, rateOf(block)] as const);
  });
  return {
    map: { kind: 'isotonic', scores: points.map(([score]) => score), rates: points.map(([, rate]) => rate) },
    warning:
      pooled.length <= 1 ? 'the curve is flat, because the rate of positives does not rise with the score' : null,
  };
}

/**
 * Returns the distinct values in ascending order. Sorting a typed array of numbers is faster than sorting indexes
 * with a comparison function.
 */
function distinctSorted(values: Float64Array): Float64Array {
  const sorted = values.toSorted();
  return sorted.filter((value, index) => value !== sorted[index - 1]);
}

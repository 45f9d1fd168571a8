import { countAtMost } from '../grouped-scores.ts';
import type { FittedMap, LabelledScores } from './calibration-map.ts';

/** Rows with neighbouring scores, which have the same rate. */
export interface PooledRows {
  /** The lowest score. */
  readonly low: number;
  /** The highest score. */
  readonly high: number;
  /** The weight of the rows with label 0. */
  readonly no: number;
  /** The weight of the rows with label 1. */
  readonly yes: number;
}

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
 * Pools neighbouring blocks whose rates do not rise (pool adjacent violators, Ayer et al. 1955), and returns the ends of
 * the pooled blocks as the points of a map. Blocks are kept on a stack, so each one is merged at most once.
 * @param blocks by rising score
 */
export function isotonicMap(blocks: readonly PooledRows[]): FittedMap {
  const pooled: PooledRows[] = [];
  for (const given of blocks) {
    let block = given;
    for (let last = pooled.at(-1); last !== undefined && rateOf(last) >= rateOf(block); last = pooled.at(-1)) {
      block = { low: last.low, high: block.high, no: last.no + block.no, yes: last.yes + block.yes };
      pooled.pop();
    }
    pooled.push(block);
  }
  const points = pooled.flatMap((block) => {
    const rate = rateOf(block);
    return block.low === block.high ? [[block.low, rate] as const] : [[block.low, rate] as const, [block.high, rate] as const]; // prettier-ignore
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

function rateOf({ no, yes }: PooledRows): number {
  return yes / (no + yes);
}

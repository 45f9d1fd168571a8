import { countAtMost } from '../grouped-scores.ts';
import { type PooledRows, poolViolators, rateOf } from '../pool-violators.ts';
import type { FittedMap, LabelledScores } from './calibration-map.ts';

/**
 * Fits an isotonic regression of labels on scores: the non-decreasing rates with the least weighted squared error. The
 * fit pools equal scores first. Sorting takes O(n log n) time, and the other steps take O(n) time.
 */
export function fitIsotonic(rows: LabelledScores): FittedMap {
  const [weight] = rows.weights;
  return isotonicMap(
    weight !== undefined && rows.weights.every((own) => own === weight) ? countScores(rows, weight) : weighScores(rows),
  );
}

/**
 * Counts the rows of each distinct score if all weights are equal. The scores of each label are sorted on their own, so
 * that no row needs to be looked up.
 * @yields one block per distinct score, by rising score
 */
function* countScores({ scores, y }: LabelledScores, weight: number): Generator<PooledRows> {
  const no = scores.filter((_, row) => y[row] === 0).sort();
  const yes = scores.filter((_, row) => y[row] === 1).sort();
  let [nextNo, nextYes] = [0, 0];
  while (nextNo < no.length || nextYes < yes.length) {
    const score = Math.min(no[nextNo] ?? Infinity, yes[nextYes] ?? Infinity);
    const [firstNo, firstYes] = [nextNo, nextYes];
    while (no[nextNo] === score) nextNo++;
    while (yes[nextYes] === score) nextYes++;
    yield { low: score, high: score, no: (nextNo - firstNo) * weight, yes: (nextYes - firstYes) * weight };
  }
}

/**
 * Sums the weights of each distinct score.
 * @yields one block per distinct score, by rising score
 */
function* weighScores({ scores, y, weights }: LabelledScores): Generator<PooledRows> {
  const distinct = distinctSorted(scores);
  const [no, yes] = [new Float64Array(distinct.length), new Float64Array(distinct.length)];
  for (let row = 0; row < scores.length; row++) {
    const index = countAtMost(distinct, scores[row] as number) - 1;
    const sums = y[row] === 1 ? yes : no;
    sums[index] = (sums[index] as number) + (weights[row] as number);
  }
  for (const [index, score] of distinct.entries()) {
    yield { low: score, high: score, no: no[index] as number, yes: yes[index] as number };
  }
}

/**
 * Returns the ends of pooled blocks as the points of a map.
 * @param blocks by rising score
 */
export function isotonicMap(blocks: Iterable<PooledRows>): FittedMap {
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

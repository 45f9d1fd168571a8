import { countAtMost, rowsOfGroups } from '../grouped-scores.ts';
import type { DecisionCounts } from './rates.ts';
import type { ScoredRows } from './scored-rows.ts';
import type { ThresholdOperation } from './threshold-rules.ts';

/**
 * The total weight of the rows that thresholds on the scores of one group select. Thresholds fall with the index: index
 * 0 selects no row, and the last index selects all rows. On the host, there is a threshold between any two neighbouring
 * distinct scores. On a device, only the thresholds on the convex hull of the curve remain.
 */
export interface ScoreCurve {
  /** The number of rows, regardless of their weights. */
  readonly n: number;
  /** The lowest selected score at each index, [thresholds], descending; Infinity at index 0. */
  readonly above: Float64Array;
  /** The highest score that is not selected at each index, [thresholds]; -Infinity at the last index. */
  readonly below: Float64Array;
  /** The weight of the selected rows with label 1 at each index, [thresholds]. */
  readonly truePositives: Float64Array;
  /** The weight of the selected rows with label 0 at each index, [thresholds]. */
  readonly falsePositives: Float64Array;
  readonly positives: number;
  readonly negatives: number;
}

/** The curves of one set of rows. */
export interface ScoreCurves {
  readonly labels: readonly string[];
  /** The number of excluded rows, which have weight 0. */
  readonly nZeroWeight: number;
  /** One curve per group, in the order of the labels. */
  readonly groups: readonly ScoreCurve[];
  /** The curve of all rows together. */
  readonly pooled: ScoreCurve;
}

/** Computes the curves of each group and of all rows. Takes O(rows log rows) time. */
export function scoreCurves(rows: ScoredRows): ScoreCurves {
  const order = byScoreFalling(rows.scores);
  return {
    labels: rows.groups.labels,
    nZeroWeight: rows.nZeroWeight,
    groups: rowsOfGroups(rows.groups, order).map((own) => curveOf(rows, own)),
    pooled: curveOf(rows, order),
  };
}

/**
 * Returns the threshold at an index of a curve: the midpoint between the last selected score and the next score.
 *
 * If the midpoint, after rounding, equals one of the two scores, the threshold is the score that the operator excludes.
 * The operation then still selects exactly the intended rows.
 */
export function operationAt({ above, below }: ScoreCurve, index: number, operator: '>' | '<'): ThresholdOperation {
  const [upper, lower] = [above[index] as number, below[index] as number];
  if (!Number.isFinite(upper) || !Number.isFinite(lower)) {
    return { operator, threshold: index === 0 ? Infinity : -Infinity };
  }
  const sum = upper + lower;
  const middle = Number.isFinite(sum) ? sum / 2 : upper / 2 + lower / 2;
  if (operator === '>') return { operator, threshold: middle < upper ? middle : lower };
  return { operator, threshold: middle > lower ? middle : upper };
}

/**
 * Counts the rows selected at an index of a curve. The operator '>' selects the scores above the threshold, and '<'
 * selects the other scores.
 */
export function countsAt(curve: ScoreCurve, index: number, operator: '>' | '<'): DecisionCounts {
  const { positives, negatives } = curve;
  const truePositives = curve.truePositives[index] as number;
  const falsePositives = curve.falsePositives[index] as number;
  return operator === '>'
    ? { truePositives, falsePositives, positives, negatives }
    : { truePositives: positives - truePositives, falsePositives: negatives - falsePositives, positives, negatives };
}

/**
 * Orders rows by score, highest first. Rows with equal scores keep their order. A native sort of the numbers and a
 * binary search for each row are several times as fast as sorting rows with a comparison function.
 */
function byScoreFalling(scores: Float64Array): Int32Array {
  const rising = scores.slice().sort();
  const taken = new Int32Array(scores.length);
  const order = new Int32Array(scores.length);
  for (let row = 0; row < scores.length; row++) {
    const index = scores.length - countAtMost(rising, scores[row] as number);
    const before = taken[index] as number;
    order[index + before] = row;
    taken[index] = before + 1;
  }
  return order;
}

/** @param order the rows of the group, highest score first */
function curveOf({ scores, y, weights }: ScoredRows, order: Int32Array): ScoreCurve {
  const distinct = { above: [Infinity], below: [] as number[] };
  const truePositives = [0];
  const falsePositives = [0];
  let [positives, negatives] = [0, 0];
  for (let index = 0; index < order.length; index++) {
    const row = order[index] as number;
    if (y[row] === 1) positives += weights[row] as number;
    else negatives += weights[row] as number;
    const score = scores[row] as number;
    if (index + 1 < order.length && scores[order[index + 1] as number] === score) continue;
    distinct.above.push(score);
    distinct.below.push(score);
    truePositives.push(positives);
    falsePositives.push(negatives);
  }
  distinct.below.push(-Infinity);
  return {
    n: order.length,
    above: Float64Array.from(distinct.above),
    below: Float64Array.from(distinct.below),
    truePositives: Float64Array.from(truePositives),
    falsePositives: Float64Array.from(falsePositives),
    positives,
    negatives,
  };
}

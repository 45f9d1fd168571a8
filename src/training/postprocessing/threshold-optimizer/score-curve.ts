import { countAtMost, rowsOfGroups } from '../grouped-scores.ts';
import type { DecisionCounts } from './rates.ts';
import type { ScoredRows } from './scored-rows.ts';
import type { ThresholdOperation } from './threshold-rule.ts';

/**
 * What each threshold on one group's scores selects. Place k, from 0 to the
 * number of distinct scores, selects the k highest of them.
 */
export interface ScoreCurve {
  /** Rows, whatever their weight. */
  readonly n: number;
  /** Distinct scores, falling. */
  readonly scores: Float64Array;
  /** [distinct scores + 1] */
  readonly truePositives: Float64Array;
  /** [distinct scores + 1] */
  readonly falsePositives: Float64Array;
  readonly positives: number;
  readonly negatives: number;
}

/** The curves of one set of rows. */
export interface ScoreCurves {
  /** One per group, in the order of the labels. */
  readonly groups: readonly ScoreCurve[];
  /** Of all rows together. */
  readonly pooled: ScoreCurve;
}

/** The curves of each group and of all rows. O(rows log rows). */
export function scoreCurves(rows: ScoredRows): ScoreCurves {
  const order = byScoreFalling(rows.scores);
  return {
    groups: rowsOfGroups(rows.groups, order).map((own) => curveOf(rows, own)),
    pooled: curveOf(rows, order),
  };
}

/**
 * The threshold between place k of a curve and the next score: halfway.
 *
 * Where no number lies halfway, or it is too large for float64, it is the end
 * that the operator leaves out, so that the rule selects exactly these rows.
 */
export function operationAt({ scores }: ScoreCurve, place: number, operator: '>' | '<'): ThresholdOperation {
  const upper = place === 0 ? Infinity : (scores[place - 1] as number);
  const lower = place === scores.length ? -Infinity : (scores[place] as number);
  if (!Number.isFinite(upper) || !Number.isFinite(lower)) {
    return { operator, threshold: place === 0 ? Infinity : -Infinity };
  }
  const sum = upper + lower;
  const middle = Number.isFinite(sum) ? sum / 2 : upper / 2 + lower / 2;
  if (operator === '>') return { operator, threshold: middle < upper ? middle : lower };
  return { operator, threshold: middle > lower ? middle : upper };
}

/** What is selected at a place of a curve: the scores above it, or with '<' those below. */
export function countsAt(curve: ScoreCurve, place: number, operator: '>' | '<'): DecisionCounts {
  const { positives, negatives } = curve;
  const truePositives = curve.truePositives[place] as number;
  const falsePositives = curve.falsePositives[place] as number;
  return operator === '>'
    ? { truePositives, falsePositives, positives, negatives }
    : { truePositives: positives - truePositives, falsePositives: negatives - falsePositives, positives, negatives };
}

/**
 * Rows by score, highest first; equal ones in their own order. A native sort of the numbers and a search for each
 * row's place in them: several times as fast as a sort of rows by a comparison.
 */
function byScoreFalling(scores: Float64Array): Int32Array {
  const rising = scores.slice().sort();
  const taken = new Int32Array(scores.length);
  const order = new Int32Array(scores.length);
  for (let row = 0; row < scores.length; row++) {
    const place = scores.length - countAtMost(rising, scores[row] as number);
    const before = taken[place] as number;
    order[place + before] = row;
    taken[place] = before + 1;
  }
  return order;
}

/** @param order rows of the group, highest score first */
function curveOf({ scores, y, weights }: ScoredRows, order: Int32Array): ScoreCurve {
  const distinct: number[] = [];
  const truePositives = [0];
  const falsePositives = [0];
  let [positives, negatives] = [0, 0];
  for (let place = 0; place < order.length; place++) {
    const row = order[place] as number;
    if (y[row] === 1) positives += weights[row] as number;
    else negatives += weights[row] as number;
    const score = scores[row] as number;
    if (place + 1 < order.length && scores[order[place + 1] as number] === score) continue;
    distinct.push(score);
    truePositives.push(positives);
    falsePositives.push(negatives);
  }
  return {
    n: order.length,
    scores: Float64Array.from(distinct),
    truePositives: Float64Array.from(truePositives),
    falsePositives: Float64Array.from(falsePositives),
    positives,
    negatives,
  };
}

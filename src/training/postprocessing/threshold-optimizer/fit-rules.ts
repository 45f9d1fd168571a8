import { DataValidationError } from '../../../exceptions/index.ts';
import { sumOf } from '../../../internal/values.ts';
import { constrainedRates, labelsNeeded, type ThresholdObjectiveName } from './constraints.ts';
import { type DecisionCounts, type RateName, RATES } from './rates.ts';
import { type OddsGain, type OddsPoint, relaxedOdds } from './relaxed-odds.ts';
import { countsAt, operationAt, type ScoreCurve, type ScoreCurves } from './score-curve.ts';
import {
  deterministicRule,
  firstOfLargest,
  freezeRule,
  type GroupThresholds,
  mixDecisions,
  type PooledThreshold,
  ROUNDING,
  type ThresholdInterpolation,
  type ThresholdOperation,
  type ThresholdRules,
  type ThresholdSettings,
  unitGrid,
} from './threshold-rules.ts';
import { hullAt, hullOnGrid, ruleAt, type TradeoffHull, tradeoffHull } from './tradeoff-hull.ts';

/** The result of {@link bestWithinTolerance}: one grid index per curve. */
interface PlacesWithinTolerance {
  readonly indices: readonly number[];
  /** The weighted sum of the curves' values at these indexes. */
  readonly maximum: number;
}

/**
 * Finds one index per curve on a common grid. The indexes maximise the weighted sum of the curves' values. The grid
 * values at the indexes may differ by at most `tolerance`. If several choices have the same sum, the function selects
 * the indexes that are closest together and, among these, the indexes farthest to the right.
 *
 * A window with the width `tolerance` slides over the grid. Each curve has a queue of descending values, whose head is
 * the largest value in the window. Takes O(curves x grid) time.
 * @param x the grid, ascending
 * @param curves for each curve, one value per grid point
 * @param weights one weight per curve
 */
export function bestWithinTolerance(
  x: Float64Array,
  curves: readonly Float64Array[],
  weights: ArrayLike<number>,
  tolerance: number,
): PlacesWithinTolerance {
  const windows = curves.map((curve) => new WindowMaximum(curve));
  let best: PlacesWithinTolerance = { indices: [], maximum: -Infinity };
  let bestSpread = Infinity;
  let start = 0;
  for (let end = 0; end < x.length; end++) {
    while ((x[end] as number) - (x[start] as number) > tolerance + ROUNDING) start++;
    const indices = windows.map((window) => window.slide(start, end));
    const maximum = indices.reduce(
      (sum, index, k) => sum + (weights[k] as number) * ((curves[k] as Float64Array)[index] as number),
      0,
    );
    if (maximum < best.maximum - ROUNDING) continue;
    const spread = (x[Math.max(...indices)] as number) - (x[Math.min(...indices)] as number);
    if (maximum <= best.maximum + ROUNDING && spread > bestSpread) continue;
    best = { indices, maximum };
    bestSpread = spread;
  }
  return best;
}

/** Finds the index of the largest value in a window that moves to the right. In a tie, the last index is returned. */
class WindowMaximum {
  readonly #values: Float64Array;
  /** The indexes in the window whose values are larger than all later values in the window. */
  readonly #queue: Int32Array;
  #head = 0;
  #size = 0;

  constructor(values: Float64Array) {
    this.#values = values;
    this.#queue = new Int32Array(values.length);
  }

  /** Adds the value at `end` and removes the values before `start`. */
  slide(start: number, end: number): number {
    const value = this.#values[end] as number;
    const valueAt = (index: number): number => this.#values[this.#queue[index] as number] as number;
    // The value at the end of the queue is the smallest value in the queue.
    while (this.#size > this.#head && valueAt(this.#size - 1) <= value) this.#size--;
    this.#queue[this.#size++] = end;
    while ((this.#queue[this.#head] as number) < start) this.#head++;
    return this.#queue[this.#head] as number;
  }
}

/**
 * Searches the grid for the constrained rate of each group, which is the same for all groups or differs by at most
 * `tolerance`. The rates maximise the mean of the groups' objective values, weighted by the groups' shares. If several
 * values are equally good, the first value is selected. Takes O(groups x grid) time.
 */
function chooseRates(
  hulls: readonly TradeoffHull[],
  shares: Float64Array,
  { gridSize, tolerance }: ThresholdSettings,
): Float64Array {
  const grid = unitGrid(gridSize);
  if (tolerance > 0) {
    const curves = hulls.map((hull) => hullOnGrid(hull, grid));
    const { indices: places } = bestWithinTolerance(grid, curves, shares, tolerance);
    return Float64Array.from(places, (index) => grid[index] as number);
  }
  const total = new Float64Array(grid.length);
  for (const [group, hull] of hulls.entries()) {
    const share = shares[group] as number;
    const heights = hullOnGrid(hull, grid);
    for (let index = 0; index < grid.length; index++)
      total[index] = (total[index] as number) + share * (heights[index] as number);
  }
  return new Float64Array(hulls.length).fill(grid[firstOfLargest(total)] as number);
}

/**
 * Chooses a point for each group in the plane of false and true positive rates. The points maximise the objective over
 * all rows. If the tolerance is 0, all groups share one point on the lower envelope of the groups' hulls. Every group
 * can reach the points of this envelope.
 */
async function chooseOdds(
  hulls: readonly TradeoffHull[],
  curves: readonly ScoreCurve[],
  settings: ThresholdSettings,
): Promise<OddsPoint[]> {
  if (settings.tolerance > 0) return relaxedOdds(hulls, oddsGains(curves, settings.objective), settings.tolerance);
  const grid = unitGrid(settings.gridSize);
  const envelope = new Float64Array(grid.length).fill(1);
  for (const hull of hulls) {
    const heights = hullOnGrid(hull, grid);
    for (let index = 0; index < grid.length; index++) {
      envelope[index] = Math.min(envelope[index] as number, heights[index] as number);
    }
  }
  const totals = totalsOf(curves);
  const values = grid.map((x, index) =>
    RATES[settings.objective]({
      truePositives: totals.positives * (envelope[index] as number),
      falsePositives: totals.negatives * x,
      ...totals,
    }),
  );
  const best = firstOfLargest(values);
  const point = { x: grid[best] as number, y: envelope[best] as number };
  return hulls.map(() => point);
}

/**
 * Returns how much the objective over all rows changes per unit of each group's true positive rate and false positive
 * rate.
 */
function oddsGains(curves: readonly ScoreCurve[], objective: ThresholdObjectiveName): OddsGain[] {
  const { positives, negatives } = totalsOf(curves);
  const [perPositive, perNegative] =
    objective === 'balanced_accuracy_score'
      ? [0.5 / positives, 0.5 / negatives]
      : [1 / (positives + negatives), 1 / (positives + negatives)];
  return curves.map((curve) => ({
    truePositiveRate: curve.positives * perPositive,
    falsePositiveRate: curve.negatives * perNegative,
  }));
}

function totalsOf(groups: readonly (ScoreCurve | DecisionCounts)[]): { positives: number; negatives: number } {
  return {
    positives: sumOf(groups.map(({ positives }) => positives)),
    negatives: sumOf(groups.map(({ negatives }) => negatives)),
  };
}

/**
 * If the distance of a hull from the diagonal is at most this value, the hull is treated as the diagonal, whose points
 * are also reached by decisions that ignore the score.
 */
const ON_DIAGONAL = 1e-12;

/**
 * Chooses a rule per group that maximises the objective under the constraint.
 * @throws {DataValidationError} if a group lacks a label that the constraint or the objective needs
 */
export async function fitRules(
  { labels, nZeroWeight, groups: curves, pooled }: ScoreCurves,
  settings: ThresholdSettings,
): Promise<ThresholdRules> {
  assertLabels(labels, curves, settings);
  const interpolations = await chooseRules(curves, settings);
  const expected = curves.map((curve, code) => expectedCounts(curve, interpolations[code] as ThresholdInterpolation));
  const groups = interpolations.map((interpolation, code) => ({
    group: labels[code] as string,
    n: (curves[code] as ScoreCurve).n,
    interpolation,
    ...ratesOf(expected[code] as DecisionCounts),
  }));
  return Object.freeze({
    ...settings,
    n: pooled.n,
    nZeroWeight,
    groups: Object.freeze(groups.map((group) => Object.freeze(group))),
    objectiveValue: objectiveOf(expected, settings),
    gap: Math.max(...constrainedRates(settings.constraint).map((rate) => gapOf(expected, rate))),
    pooled: pooledThreshold(pooled, settings),
  });
}

async function chooseRules(
  curves: readonly ScoreCurve[],
  settings: ThresholdSettings,
): Promise<ThresholdInterpolation[]> {
  const { constraint, objective, flip } = settings;
  if (constraint === 'equalized_odds') {
    const hulls = curves.map((curve) => tradeoffHull(curve, 'false_positive_rate', 'true_positive_rate', flip));
    const points = await chooseOdds(hulls, curves, settings);
    return hulls.map((hull, code) => freezeRule(ruleThrough(hull, points[code] as OddsPoint)));
  }
  const [rate] = constrainedRates(constraint) as readonly [RateName];
  const hulls = curves.map((curve) => tradeoffHull(curve, rate, objective, flip));
  const weights = Float64Array.from(curves, ({ positives, negatives }) => positives + negatives);
  const total = sumOf(weights);
  const shares = weights.map((weight) => weight / total);
  const rates = chooseRates(hulls, shares, settings);
  return hulls.map((hull, code) => freezeRule(ruleAt(hull, rates[code] as number)));
}

/**
 * Returns the rule that reaches a point (x, y) between the hull and the diagonal. With probability `pIgnore`, the rule
 * ignores the score and decides 1 with probability x, which lowers the height from the hull to y.
 */
function ruleThrough(hull: TradeoffHull, { x, y }: OddsPoint): ThresholdInterpolation {
  const height = hullAt(hull, x);
  const pIgnore = height - x <= ON_DIAGONAL ? 0 : (height - y) / (height - x);
  return { ...ruleAt(hull, x), pIgnore: Math.min(1, Math.max(0, pIgnore)), predictionConstant: x };
}

function ratesOf(counts: DecisionCounts): Omit<GroupThresholds, 'group' | 'n' | 'interpolation'> {
  const { positives, negatives } = counts;
  return {
    weight: positives + negatives,
    selectionRate: RATES.selection_rate(counts),
    truePositiveRate: positives > 0 ? RATES.true_positive_rate(counts) : null,
    falsePositiveRate: negatives > 0 ? RATES.false_positive_rate(counts) : null,
    accuracy: RATES.accuracy_score(counts),
  };
}

/**
 * Computes the objective. For equalized odds, it is computed over all rows. For other constraints, it is the weighted
 * mean of the groups' values.
 */
function objectiveOf(groups: readonly DecisionCounts[], { constraint, objective }: ThresholdSettings): number {
  const total = {
    truePositives: sumOf(groups.map(({ truePositives }) => truePositives)),
    falsePositives: sumOf(groups.map(({ falsePositives }) => falsePositives)),
    ...totalsOf(groups),
  };
  if (constraint === 'equalized_odds') return RATES[objective](total);
  const weight = total.positives + total.negatives;
  return groups.reduce(
    (sum, counts) => sum + ((counts.positives + counts.negatives) / weight) * RATES[objective](counts),
    0,
  );
}

function gapOf(groups: readonly DecisionCounts[], rate: RateName): number {
  const rates = groups.map(RATES[rate]);
  return rates.reduce((a, b) => Math.max(a, b)) - rates.reduce((a, b) => Math.min(a, b));
}

function assertLabels(
  labels: readonly string[],
  curves: readonly ScoreCurve[],
  { constraint, objective }: ThresholdSettings,
): void {
  for (const label of labelsNeeded(constraint, objective)) {
    const code = curves.findIndex((curve) => (label === 1 ? curve.positives : curve.negatives) === 0);
    if (code < 0) continue;
    const group = labels[code] as string;
    throw new DataValidationError(
      `The group '${group}' has no row labelled ${String(label)}, so ${constraint} with ${objective} is undefined for it.`,
      {
        code: 'unknown-label',
        context: { argument: 'y', group, label },
        suggestion:
          'Provide more rows, merge the group with another group, exclude it, or use demographic_parity with accuracy_score, which does not need both labels in every group.',
      },
    );
  }
}

/**
 * Finds the single threshold that is best for all rows together. In a tie, the function prefers thresholds that select
 * high scores, and then the threshold that selects the fewest rows.
 */
function pooledThreshold(curve: ScoreCurve, { objective, flip }: ThresholdSettings): PooledThreshold {
  const indices = curve.above.length;
  const values = Float64Array.from({ length: flip ? 2 * indices : indices }, (_, candidate) => {
    const { position, operator } = candidateOf(candidate);
    return RATES[objective](countsAt(curve, position, operator));
  });
  const best = firstOfLargest(values);
  const { position, operator } = candidateOf(best);
  return Object.freeze({
    interpolation: deterministicRule(operationAt(curve, position, operator)),
    objectiveValue: values[best] as number,
  });

  /**
   * Converts the number of a candidate to an index of the curve and a direction. A larger index selects more rows with
   * high scores ('>') or fewer rows with low scores ('<').
   */
  function candidateOf(candidate: number): { position: number; operator: '>' | '<' } {
    return candidate < indices
      ? { position: candidate, operator: '>' }
      : { position: 2 * indices - 1 - candidate, operator: '<' };
  }
}

/**
 * Computes the expected counts of the rows that a rule selects from a group: a mixture of the counts that the rule's
 * two operations select.
 */
function expectedCounts(curve: ScoreCurve, rule: ThresholdInterpolation): DecisionCounts {
  const { positives, negatives } = curve;
  const first = countsUnder(curve, rule.operation0);
  const second = countsUnder(curve, rule.operation1);
  const mix = (all: number, selected0: number, selected1: number): number =>
    // This check avoids 0 / 0 if the group has no rows with the label.
    all === 0 ? 0 : all * mixDecisions(rule, selected0 / all, selected1 / all);
  return {
    truePositives: mix(positives, first.truePositives, second.truePositives),
    falsePositives: mix(negatives, first.falsePositives, second.falsePositives),
    positives,
    negatives,
  };
}

/** Counts the rows that an operation selects. */
function countsUnder(curve: ScoreCurve, { operator, threshold }: ThresholdOperation): DecisionCounts {
  const index = curve.below.findIndex((score) => (operator === '>' ? score <= threshold : score < threshold));
  return countsAt(curve, index < 0 ? curve.below.length - 1 : index, operator);
}

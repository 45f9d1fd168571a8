import type { ThresholdObjectiveName } from './constraints.ts';
import { firstOfLargest, unitGrid } from './grid.ts';
import { RATES } from './rates.ts';
import { type OddsGain, type OddsPoint, relaxedOdds } from './relaxed-odds.ts';
import type { ScoreCurve } from './score-curve.ts';
import type { ThresholdSettings } from './threshold-rules.ts';
import { hullOnGrid, type TradeoffHull } from './tradeoff-hull.ts';
import { bestWithinTolerance } from './within-tolerance.ts';

/**
 * The constrained rate of each group at which the mean of the groups' objective
 * values, by their shares of the weight, is largest: one common rate, or rates at
 * most `tolerance` apart. On the grid; the first of equals. O(groups x grid).
 */
export function chooseRates(
  hulls: readonly TradeoffHull[],
  shares: Float64Array,
  { gridSize, tolerance }: ThresholdSettings,
): Float64Array {
  const grid = unitGrid(gridSize);
  if (tolerance > 0) {
    const curves = hulls.map((hull) => hullOnGrid(hull, grid));
    const { places } = bestWithinTolerance(grid, curves, shares, tolerance);
    return Float64Array.from(places, (place) => grid[place] as number);
  }
  const total = new Float64Array(grid.length);
  for (const [group, hull] of hulls.entries()) {
    const share = shares[group] as number;
    const heights = hullOnGrid(hull, grid);
    for (let place = 0; place < grid.length; place++)
      total[place] = (total[place] as number) + share * (heights[place] as number);
  }
  return new Float64Array(hulls.length).fill(grid[firstOfLargest(total)] as number);
}

/**
 * The point of each group in the plane of false and true positive rates at which
 * the objective over all rows is largest. Without a tolerance it is one point
 * for all, on the lower envelope of the groups' hulls: what every group reaches.
 */
export async function chooseOdds(
  hulls: readonly TradeoffHull[],
  curves: readonly ScoreCurve[],
  settings: ThresholdSettings,
): Promise<OddsPoint[]> {
  if (settings.tolerance > 0) return relaxedOdds(hulls, oddsGains(curves, settings.objective), settings.tolerance);
  const grid = unitGrid(settings.gridSize);
  const envelope = new Float64Array(grid.length).fill(1);
  for (const hull of hulls) {
    const heights = hullOnGrid(hull, grid);
    for (let place = 0; place < grid.length; place++) {
      envelope[place] = Math.min(envelope[place] as number, heights[place] as number);
    }
  }
  const totals = totalsOf(curves);
  const values = grid.map((x, place) =>
    RATES[settings.objective]({
      truePositives: totals.positives * (envelope[place] as number),
      falsePositives: totals.negatives * x,
      ...totals,
    }),
  );
  const best = firstOfLargest(values);
  const point = { x: grid[best] as number, y: envelope[best] as number };
  return hulls.map(() => point);
}

/** What a unit of each group's rates changes in the objective over all rows. */
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

function totalsOf(curves: readonly ScoreCurve[]): { positives: number; negatives: number } {
  let [positives, negatives] = [0, 0];
  for (const curve of curves) {
    positives += curve.positives;
    negatives += curve.negatives;
  }
  return { positives, negatives };
}

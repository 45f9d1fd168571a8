import { DataValidationError } from '../../../exceptions/index.ts';
import { chooseOdds, chooseRates } from './choose-points.ts';
import { constrainedRates, labelsNeeded } from './constraints.ts';
import { expectedCounts, sumCounts } from './expected-counts.ts';
import { pooledThreshold } from './pooled-threshold.ts';
import { type DecisionCounts, type RateName, RATES } from './rates.ts';
import type { OddsPoint } from './relaxed-odds.ts';
import { type ScoreCurve, scoreCurves } from './score-curve.ts';
import type { ScoredRows } from './scored-rows.ts';
import { freezeRule, type ThresholdInterpolation } from './threshold-rule.ts';
import type { GroupThresholds, ThresholdRules, ThresholdSettings } from './threshold-rules.ts';
import { hullAt, ruleAt, type TradeoffHull, tradeoffHull } from './tradeoff-hull.ts';

/** A hull this close to the diagonal is on it: what constants reach too. */
const ON_DIAGONAL = 1e-12;

/**
 * Chooses a rule per group: the objective as large as the constraint allows.
 * @throws {DataValidationError} for a group that lacks a label which the constraint or the objective needs
 */
export async function fitRules(rows: ScoredRows, settings: ThresholdSettings): Promise<ThresholdRules> {
  const { groups: curves, pooled } = scoreCurves(rows);
  assertLabels(rows.groups.labels, curves, settings);
  const interpolations = await chooseRules(curves, settings);
  const expected = curves.map((curve, code) => expectedCounts(curve, interpolations[code] as ThresholdInterpolation));
  const groups = interpolations.map((interpolation, code) => ({
    group: rows.groups.labels[code] as string,
    n: (curves[code] as ScoreCurve).n,
    interpolation,
    ...ratesOf(expected[code] as DecisionCounts),
  }));
  return Object.freeze({
    ...settings,
    n: rows.scores.length,
    nZeroWeight: rows.nZeroWeight,
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
  const total = curves.reduce((sum, curve) => sum + weightOf(curve), 0);
  const shares = Float64Array.from(curves, (curve) => weightOf(curve) / total);
  const rates = chooseRates(hulls, shares, settings);
  return hulls.map((hull, code) => freezeRule(ruleAt(hull, rates[code] as number)));
}

/** The rule that reaches a point between the hull and the diagonal: x by constant, as often as needed to come down to y. */
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

/** Over all rows for equalized odds; the mean of the groups' values, by weight, for the others. */
function objectiveOf(groups: readonly DecisionCounts[], { constraint, objective }: ThresholdSettings): number {
  const total = sumCounts(groups);
  if (constraint === 'equalized_odds') return RATES[objective](total);
  const weight = total.positives + total.negatives;
  return groups.reduce(
    (sum, counts) => sum + ((counts.positives + counts.negatives) / weight) * RATES[objective](counts),
    0,
  );
}

function gapOf(groups: readonly DecisionCounts[], rate: RateName): number {
  const range = groups
    .map(RATES[rate])
    .reduce(({ least, most }, value) => ({ least: Math.min(least, value), most: Math.max(most, value) }), {
      least: Infinity,
      most: -Infinity,
    });
  return range.most - range.least;
}

function weightOf({ positives, negatives }: ScoreCurve): number {
  return positives + negatives;
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
      `The group '${group}' has no row labelled ${String(label)}, so ${constraint} with ${objective} has no value there.`,
      {
        context: { argument: 'y', group, label },
        suggestion:
          'Give more rows, join the group to another, leave it out, or take demographic_parity with accuracy_score, which needs no label in every group.',
      },
    );
  }
}

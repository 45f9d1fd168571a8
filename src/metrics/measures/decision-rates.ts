import {
  ALL_CELLS,
  CELLS_BY_DECISION,
  cellIndex,
  CELLS_PER_GROUP,
  cellsWith,
  type ClassificationStats,
  LABELLED_CELLS,
  sumCells,
} from '../statistics/group-stats.ts';
import { clusterErrors } from '../statistics/cluster-stats.ts';
import type { ClusterErrors } from '../../stats/cluster-gap.ts';
import { effectiveCount, type GroupMeasure, type MeasureDefinition, type RateSampling } from './group-measure.ts';

const TRUE_NEGATIVE = cellIndex(0, 0);
const FALSE_POSITIVE = cellIndex(0, 1);
const FALSE_NEGATIVE = cellIndex(1, 0);
const TRUE_POSITIVE = cellIndex(1, 1);

/** The cells in the numerator and the denominator of a rate. */
interface RateCells {
  readonly above: readonly number[];
  readonly below: readonly number[];
  readonly of: string;
}

const POSITIVES = { below: cellsWith([1]), of: 'rows with a positive true label' };
const NEGATIVES = { below: cellsWith([0]), of: 'rows with a negative true label' };
const SELECTED = { below: cellsWith([0, 1], [1]), of: 'labelled rows with a positive decision' };
const REFUSED = { below: cellsWith([0, 1], [0]), of: 'labelled rows with a negative decision' };
const ALL_LABELLED = { below: LABELLED_CELLS, of: 'labelled rows' };

const RATE_CELLS = {
  selection_rate: { above: CELLS_BY_DECISION.positive, below: ALL_CELLS, of: 'rows' },
  true_positive_rate: { above: [TRUE_POSITIVE], ...POSITIVES },
  false_negative_rate: { above: [FALSE_NEGATIVE], ...POSITIVES },
  false_positive_rate: { above: [FALSE_POSITIVE], ...NEGATIVES },
  true_negative_rate: { above: [TRUE_NEGATIVE], ...NEGATIVES },
  precision: { above: [TRUE_POSITIVE], ...SELECTED },
  false_discovery_rate: { above: [FALSE_POSITIVE], ...SELECTED },
  negative_predictive_value: { above: [TRUE_NEGATIVE], ...REFUSED },
  false_omission_rate: { above: [FALSE_NEGATIVE], ...REFUSED },
  accuracy: { above: [TRUE_NEGATIVE, TRUE_POSITIVE], ...ALL_LABELLED },
  error_rate: { above: [FALSE_POSITIVE, FALSE_NEGATIVE], ...ALL_LABELLED },
  base_rate: { above: [FALSE_NEGATIVE, TRUE_POSITIVE], ...ALL_LABELLED },
} as const satisfies Record<string, RateCells>;

/** The rates of binary decisions. Each rate is a share of rows. */
export type DecisionRateName = keyof typeof RATE_CELLS;

/** Returns the cells of {@link ClassificationStats} in a rate's numerator (`above`) and denominator (`below`). */
export function rateCells(name: DecisionRateName): Pick<RateCells, 'above' | 'below'> {
  return RATE_CELLS[name];
}

/** Returns whether a measure is a rate of binary decisions. */
export function isDecisionRate(name: string): name is DecisionRateName {
  return Object.hasOwn(RATE_CELLS, name);
}

/**
 * Divides the part of each group by the total of the group. The result is NaN if the total is 0 or infinite, since any
 * share of an infinite total would be 0.
 */
function shares(parts: Float64Array, complete: Float64Array): Float64Array {
  return parts.map((part, group) => (Number.isFinite(complete[group]) ? part / (complete[group] as number) : NaN));
}

/** Computes one rate of every group; NaN if a group's denominator is empty. */
export function decisionRate(
  stats: ClassificationStats,
  name: DecisionRateName,
): GroupMeasure & { sampling: RateSampling } {
  const { above, below, of }: RateCells = RATE_CELLS[name];
  const numerators = sumCells(stats.weights, above);
  const denominators = sumCells(stats.weights, below);
  const squares = sumCells(stats.squaredWeights, below);
  const values = shares(numerators, denominators);
  return {
    name,
    values,
    denominatorCounts: sumCells(stats.counts, below),
    denominatorName: of,
    sampling: {
      kind: 'rates',
      numerators,
      denominators,
      effectiveCounts: denominators.map((weight, group) => effectiveCount(weight, squares[group] as number)),
      clusters: clusterErrorsOf(stats, [below], rateInfluence({ above, below }, values, denominators)),
    },
  };
}

/**
 * Returns the influence of a row in each cell on a rate R = above / below, [groups, 6]: (1 - R) / below for a cell of the
 * numerator, -R / below for another cell of the denominator, and 0 for all others.
 */
function rateInfluence(
  { above, below }: Pick<RateCells, 'above' | 'below'>,
  rates: Float64Array,
  denominators: Float64Array,
): Float64Array {
  const influence = new Float64Array(rates.length * CELLS_PER_GROUP);
  rates.forEach((rate, group) => {
    const first = group * CELLS_PER_GROUP;
    const total = denominators[group] as number;
    for (const cell of below) influence[first + cell] = -rate / total;
    for (const cell of above) influence[first + cell] = (1 - rate) / total;
  });
  return influence;
}

/** Computes the errors of a measure that needs rows in some cells, or in each of several lists of cells. */
function clusterErrorsOf(
  { clusters, labels }: ClassificationStats,
  cells: readonly (readonly number[])[],
  influence: Float64Array,
): ClusterErrors | undefined {
  if (clusters === undefined) return undefined;
  const needed = cells.map((own) =>
    Float64Array.from({ length: labels.length * CELLS_PER_GROUP }, (_, cell) =>
      Number(own.includes(cell % CELLS_PER_GROUP)),
    ),
  );
  return clusterErrors(clusters, { influence, needed });
}

/**
 * Returns the variance of a rate. One success and one failure are added (Agresti and Caffo 2000), so that the variance
 * is never 0.
 */
export function rateVariance(rate: number, trials: number): number {
  const steady = (rate * trials + 1) / (trials + 2);
  return (steady * (1 - steady)) / (trials + 2);
}

/** Computes (TPR + TNR) / 2, with the standard error of a mean of two independent rates. */
function balancedAccuracy(stats: ClassificationStats): GroupMeasure {
  const rates = [decisionRate(stats, 'true_positive_rate'), decisionRate(stats, 'true_negative_rate')] as const;
  const [tpr, tnr] = rates;
  const variance = ({ values, sampling }: typeof tpr, group: number): number => {
    return rateVariance(values[group] as number, sampling.effectiveCounts[group] as number);
  };
  return {
    name: 'balanced_accuracy',
    values: tpr.values.map((value, group) => (value + (tnr.values[group] as number)) / 2),
    denominatorCounts: tpr.denominatorCounts.map((n, group) => Math.min(n, tnr.denominatorCounts[group] as number)),
    denominatorName: 'rows of the less frequent true label',
    sampling: {
      kind: 'means',
      standardErrors: tpr.values.map((_, group) => Math.sqrt(variance(tpr, group) + variance(tnr, group)) / 2),
      sizes: tpr.sampling.effectiveCounts.map((n, group) => n + (tnr.sampling.effectiveCounts[group] as number)),
      ceiling: 1,
      clusters: clusterErrorsOf(stats, [POSITIVES.below, NEGATIVES.below], meanInfluence(rates)),
    },
  };
}

function meanInfluence(rates: readonly (GroupMeasure & { sampling: RateSampling })[]): Float64Array {
  const parts = rates.map(({ name, values, sampling }) =>
    rateInfluence(RATE_CELLS[name as DecisionRateName], values, sampling.denominators),
  );
  const [first = new Float64Array(), ...others] = parts;
  return first.map((value, cell) => others.reduce((sum, other) => sum + (other[cell] as number), value) / parts.length);
}

/**
 * Computes F1 = 2 TP / (2 TP + FP + FN) = 2 s / (1 + s) with s = TP / (TP + FP + FN), a share of rows. The standard
 * error of F1 is the standard error of s, multiplied by the derivative 2 / (1 + s)^2.
 */
function f1(stats: ClassificationStats): GroupMeasure {
  const below = [TRUE_POSITIVE, FALSE_POSITIVE, FALSE_NEGATIVE];
  const hits = sumCells(stats.weights, [TRUE_POSITIVE]);
  const weights = sumCells(stats.weights, below);
  const squares = sumCells(stats.squaredWeights, below);
  const hitShares = shares(hits, weights);
  const sizes = weights.map((weight, group) => effectiveCount(weight, squares[group] as number));
  return {
    name: 'f1',
    values: hitShares.map((share) => (2 * share) / (1 + share)),
    denominatorCounts: sumCells(stats.counts, below),
    denominatorName: 'labelled rows with a positive label or decision',
    sampling: {
      kind: 'means',
      standardErrors: hitShares.map(
        (share, group) => (2 / (1 + share) ** 2) * Math.sqrt(rateVariance(share, sizes[group] as number)),
      ),
      sizes,
      ceiling: 1,
      clusters: clusterErrorsOf(
        stats,
        [below],
        rateInfluence({ above: [TRUE_POSITIVE], below }, hitShares, weights).map(
          (value, cell) => (value * 2) / (1 + (hitShares[Math.floor(cell / CELLS_PER_GROUP)] as number)) ** 2,
        ),
      ),
    },
  };
}

/** Returns the number of rows of each group. */
function count(stats: ClassificationStats): GroupMeasure {
  const counts = sumCells(stats.counts, ALL_CELLS);
  return {
    name: 'count',
    values: counts,
    denominatorCounts: counts,
    denominatorName: 'rows',
    sampling: { kind: 'none', whyMissing: 'none counted' },
  };
}

function rateDefinition(name: DecisionRateName): MeasureDefinition<ClassificationStats> {
  return {
    kind: 'classification',
    needsTruth: name !== 'selection_rate',
    measure: (stats) => decisionRate(stats, name),
  };
}

/** The measures of decisions, by name. */
export const DECISION_MEASURES = {
  ...(Object.fromEntries(
    (Object.keys(RATE_CELLS) as DecisionRateName[]).map((name) => [name, rateDefinition(name)]),
  ) as Record<DecisionRateName, MeasureDefinition<ClassificationStats>>),
  balanced_accuracy: { kind: 'classification', needsTruth: true, measure: balancedAccuracy },
  f1: { kind: 'classification', needsTruth: true, measure: f1 },
  count: { kind: 'classification', needsTruth: false, measure: count },
} as const satisfies Record<string, MeasureDefinition<ClassificationStats>>;

import { DataValidationError } from '../../exceptions/index.ts';
import { sumOf } from '../../internal/values.ts';
import type { LossSums, ScoreStats } from '../statistics/group-stats.ts';
import { clusterErrors } from '../statistics/cluster-stats.ts';
import type { ClusterErrors } from '../../stats/cluster-gap.ts';
import { logLoss } from '../statistics/score-grid.ts';
import { effectiveCount, type GroupMeasure, type MeasureDefinition } from './group-measure.ts';

/** The number of bins of equal weight for calibration. */
const CALIBRATION_BINS = 10;

/**
 * The tolerance at bin edges. Without this tolerance, a different order of summing weights could move a score to
 * another bin.
 */
const ON_THE_EDGE = 1e-9;

/** A pair of values: one for the negative and one for the positive true label. */
type ByLabel<T> = readonly [no: T, yes: T];

/** The scores of one group, ascending, with the weights of both true labels. */
interface GroupScores {
  readonly scores: Float64Array;
  readonly weights: ByLabel<Float64Array>;
  readonly totals: ByLabel<number>;
  /** The total weight of both labels. */
  readonly total: number;
  /** The effective number of rows of each true label. */
  readonly sizes: ByLabel<number>;
  readonly rows: ByLabel<number>;
  /** The sums of the exact log losses; null if the scores are exact. */
  readonly loss: Readonly<Record<keyof LossSums, number>> | null;
}

/**
 * A value with its standard error. `size` is the effective number of rows, which is 1 more than the degrees of freedom
 * of the standard error.
 */
interface Estimate {
  readonly value: number;
  readonly standardError: number;
  readonly size: number;
  /** The influence of a row with each score and true label on the value; undefined if it is not known. */
  readonly influence?: (() => ByLabel<Float64Array>) | undefined;
}

/**
 * Returns an estimate without a value. The size of the estimate shows whether the group has no rows or its weights
 * overflow.
 */
function noEstimate({ sizes: [sizeNo, sizeYes] }: GroupScores): Estimate {
  return { value: NaN, standardError: NaN, size: sizeNo + sizeYes };
}

/**
 * Computes the area under the ROC curve: P(score of a positive > score of a negative) + P(equal scores) / 2. The
 * standard error of the area follows DeLong, DeLong and Clarke-Pearson (1988), with Welch's degrees of freedom for its
 * two parts. The standard error is NaN if only one row has one of the true labels.
 */
function rocAuc({ weights, totals, sizes }: GroupScores): Estimate {
  const [no, yes] = weights;
  const [totalNo, totalYes] = totals;
  const [sizeNo, sizeYes] = sizes;
  const count = no.length;
  const negativesBelow = new Float64Array(count);
  const positivesAbove = new Float64Array(count);
  let below = 0;
  let upTo = 0;
  for (let index = 0; index < count; index++) {
    negativesBelow[index] = (below + (no[index] as number) / 2) / totalNo;
    upTo += yes[index] as number;
    positivesAbove[index] = (totalYes - upTo + (yes[index] as number) / 2) / totalYes;
    below += no[index] as number;
  }
  const value = weightedMean(negativesBelow, yes, totalYes);
  const influence = (): ByLabel<Float64Array> => [
    positivesAbove.map((share) => (share - value) / totalNo),
    negativesBelow.map((share) => (share - value) / totalYes),
  ];
  // Sizes are NaN if weights overflow when squared; then the standard error is unknown.
  if (!(sizeYes > 1 && sizeNo > 1)) return { value, standardError: NaN, size: Math.min(1, sizeYes, sizeNo), influence };
  const ofYes = weightedVariance(negativesBelow, yes, totalYes, value) / (sizeYes - 1);
  const ofNo = weightedVariance(positivesAbove, no, totalNo, value) / (sizeNo - 1);
  const variance = ofYes + ofNo;
  const degrees = variance ** 2 / (ofYes ** 2 / (sizeYes - 1) + ofNo ** 2 / (sizeNo - 1));
  const size = 1 + (variance > 0 ? degrees : Math.min(sizeYes, sizeNo) - 1);
  return { value, standardError: Math.sqrt(variance), size, influence };
}

function weightedMean(values: Float64Array, weights: Float64Array, total: number): number {
  return values.reduce((sum, value, index) => sum + value * (weights[index] as number), 0) / total;
}

function weightedVariance(values: Float64Array, weights: Float64Array, total: number, mean: number): number {
  return values.reduce((sum, value, index) => sum + (value - mean) ** 2 * (weights[index] as number), 0) / total;
}

/**
 * Computes the expected calibration error over bins of equal weight: sum_b share_b |positive rate_b - mean score_b|.
 * The calibration error has no standard error, since an interval around it would not cover the true value: chance alone
 * makes the error positive, and larger in small groups.
 */
function calibrationError(group: GroupScores): Estimate {
  const { scores, weights, total } = group;
  const [no, yes] = weights;
  const bins = Array.from({ length: CALIBRATION_BINS }, () => ({ weight: 0, yes: 0, score: 0 }));
  let before = 0;
  scores.forEach((score, index) => {
    const weight = (no[index] as number) + (yes[index] as number);
    const middle = (before + weight / 2) / total;
    const position = Math.floor(middle * CALIBRATION_BINS + ON_THE_EDGE);
    const bin = bins[Math.min(CALIBRATION_BINS - 1, position)] as (typeof bins)[number];
    bin.weight += weight;
    bin.yes += yes[index] as number;
    bin.score += weight * score;
    before += weight;
  });
  const filled = bins.filter(({ weight }) => weight > 0);
  return { ...noEstimate(group), value: filled.reduce((sum, bin) => sum + Math.abs(bin.yes - bin.score) / total, 0) };
}

/** Returns a function that computes the mean of a loss over the rows of a group, with its standard error. */
function meanLoss(loss: (score: number, truth: 0 | 1) => number): (group: GroupScores) => Estimate {
  return ({ scores, weights: [no, yes], total, sizes: [sizeNo, sizeYes] }) => {
    const mean = (power: (score: number, truth: 0 | 1) => number): number =>
      scores.reduce(
        (sum, score, index) =>
          sum +
          // A weight of 0 times an infinite loss counts as 0.
          ((no[index] as number) > 0 ? (no[index] as number) * power(score, 0) : 0) +
          ((yes[index] as number) > 0 ? (yes[index] as number) * power(score, 1) : 0),
        0,
      ) / total;
    const value = mean(loss);
    const variance = mean((score, truth) => (loss(score, truth) - value) ** 2);
    const influence = (): ByLabel<Float64Array> => [
      scores.map((score) => (loss(score, 0) - value) / total),
      scores.map((score) => (loss(score, 1) - value) / total),
    ];
    return { ...meanEstimate(value, variance, sizeNo + sizeYes), influence };
  };
}

/** Returns the measure of a mean over the rows of one true label. */
function meanWithin(truth: 0 | 1, valueOf: (score: number) => number): ScoreMeasure {
  const estimate = ({ scores, weights, totals, sizes }: GroupScores): Estimate => {
    const values = scores.map(valueOf);
    const value = weightedMean(values, weights[truth], totals[truth]);
    const variance = weightedVariance(values, weights[truth], totals[truth], value);
    const influence = (): ByLabel<Float64Array> => {
      const own = values.map((one) => (one - value) / totals[truth]);
      const none = new Float64Array(own.length);
      return truth === 1 ? [none, own] : [own, none];
    };
    return { ...meanEstimate(value, variance, sizes[truth]), influence };
  };
  return { estimate, rows: truth === 1 ? 'positives' : 'negatives', needsProbabilities: true, ceiling: 1 };
}

function meanEstimate(value: number, variance: number, size: number): Estimate {
  return { value, standardError: size > 1 ? Math.sqrt(variance / (size - 1)) : NaN, size };
}

/**
 * Computes the mean log loss. For rounded scores it uses the exact sums, since rounding may have changed a small score
 * to 0.
 */
function meanLogLoss(group: GroupScores): Estimate {
  const { loss, total, sizes } = group;
  if (loss === null) return meanLoss(logLoss)(group);
  const value = loss.sums / total;
  return meanEstimate(value, Math.max(0, loss.squares / total - value ** 2), sizes[0] + sizes[1]);
}

/** The definition of a score measure. */
interface ScoreMeasure {
  readonly estimate: (group: GroupScores) => Estimate;
  /** The kind of rows that a group must have, because the measure is undefined without them. */
  readonly rows: 'both labels' | 'all' | 'positives' | 'negatives';
  readonly needsProbabilities: boolean;
  readonly ceiling?: number;
  /** A note that is added to every value. A measure with a note has no interval. */
  readonly caution?: string;
}

const DENOMINATORS = {
  'both labels': 'rows of the less frequent true label',
  all: 'rows',
  positives: 'rows with a positive true label',
  negatives: 'rows with a negative true label',
} as const;

function measureScores(name: string, { estimate, rows, needsProbabilities, ceiling, caution }: ScoreMeasure) {
  return (stats: ScoreStats): GroupMeasure => {
    if (needsProbabilities) assertProbabilities(stats, name);
    const groups = splitGroups(stats);
    const counts = groups.map(({ rows: [no, yes] }) => {
      if (rows === 'all') return no + yes;
      if (rows === 'both labels') return Math.min(no, yes);
      return rows === 'positives' ? yes : no;
    });
    const estimates = groups.map((group, index) => {
      const hasWeight = group.total > 0 && Number.isFinite(group.total);
      return (counts[index] as number) > 0 && hasWeight ? estimate(group) : noEstimate(group);
    });
    return {
      name,
      values: Float64Array.from(estimates, ({ value }) => value),
      denominatorCounts: Float64Array.from(counts),
      denominatorName: DENOMINATORS[rows],
      sampling: {
        kind: 'means',
        standardErrors: Float64Array.from(estimates, ({ standardError }) => standardError),
        sizes: Float64Array.from(estimates, ({ size }) => size),
        whyNoErrors: caution ?? whyNoClusters(stats, estimates),
        ceiling,
        clusters: clustersOf(stats, estimates, groups, rows),
      },
      notes: [
        ...(stats.step === 0 || (name === 'log_loss' && stats.losses !== null) ? [] : [gridNote(stats, groups, name)]),
        ...(caution === undefined ? [] : [caution]),
      ],
    };
  };
}

function whyNoClusters({ clusters }: ScoreStats, estimates: readonly Estimate[]): string | undefined {
  if (
    clusters === undefined ||
    estimates.every(({ influence, value }) => influence !== undefined || Number.isNaN(value))
  )
    return undefined;
  return 'the effect of clusters on rounded scores is not known';
}

/** Computes the errors of the estimates from clusters. The cells are the scores of all groups, twice: by true label. */
function clustersOf(
  { clusters, scores }: ScoreStats,
  estimates: readonly Estimate[],
  groups: readonly GroupScores[],
  rows: ScoreMeasure['rows'],
): ClusterErrors | undefined {
  if (clusters === undefined) return undefined;
  const cells = new Float64Array(2 * scores.length);
  let first = 0;
  groups.forEach((group, index) => {
    const influence = estimates[index]?.influence?.();
    if (influence !== undefined) {
      for (const truth of [0, 1] as const)
        influence[truth].forEach((value, entry) => (cells[2 * (first + entry) + truth] = value));
    }
    first += group.scores.length;
  });
  const withLabel = (...truths: readonly number[]): Float64Array =>
    cells.map((_, cell) => Number(truths.includes(cell % 2)));
  const needed = {
    all: [withLabel(0, 1)],
    positives: [withLabel(1)],
    negatives: [withLabel(0)],
    'both labels': [withLabel(0), withLabel(1)],
  }[rows];
  return clusterErrors(clusters, { influence: cells, needed });
}

/** Describes how far rounding the scores to the grid can change the measure. */
function gridNote(stats: ScoreStats, groups: readonly GroupScores[], name: string): string {
  const rounded = `scores were rounded to multiples of ${String(stats.step)}`;
  if (name === 'log_loss') return `${rounded}, which changes the log loss considerably for scores near 0 or 1`;
  if (name !== 'roc_auc') return rounded;
  const ties = groups.map(({ weights: [no, yes], totals: [totalNo, totalYes] }) =>
    totalNo > 0 && totalYes > 0
      ? no.reduce((sum, weight, index) => sum + weight * (yes[index] as number), 0) / (2 * totalNo * totalYes)
      : 0,
  );
  return `${rounded}, which changes no group's AUC by more than ${ties.reduce((most, tie) => Math.max(most, tie), 0).toExponential(1)}`;
}

function splitGroups(stats: ScoreStats): GroupScores[] {
  const starts = Int32Array.from(stats.labels, () => stats.groups.length);
  const ends = new Int32Array(stats.labels.length);
  stats.groups.forEach((group, index) => {
    starts[group] = Math.min(starts[group] as number, index);
    ends[group] = index + 1;
  });
  return stats.labels.map((_, group) => {
    const first = Math.min(starts[group] as number, ends[group] as number);
    const end = ends[group] as number;
    const column = (table: Float64Array, truth: 0 | 1): Float64Array =>
      Float64Array.from({ length: end - first }, (__, index) => table[2 * (first + index) + truth] as number);
    const weights = [column(stats.weights, 0), column(stats.weights, 1)] as const;
    const sums = (table: Float64Array): ByLabel<number> => [sumOf(column(table, 0)), sumOf(column(table, 1))];
    const [totals, squares] = [sums(stats.weights), sums(stats.squaredWeights)];
    return {
      scores: stats.scores.slice(first, end),
      weights,
      totals,
      total: totals[0] + totals[1],
      sizes: [effectiveCount(totals[0], squares[0]), effectiveCount(totals[1], squares[1])],
      rows: sums(stats.counts),
      loss: stats.losses && {
        sums: stats.losses.sums[group] as number,
        squares: stats.losses.squares[group] as number,
      },
    };
  });
}

function assertProbabilities(stats: ScoreStats, name: string): void {
  const outside = stats.scores.find((score) => score < 0 || score > 1);
  if (outside === undefined) return;
  throw new DataValidationError(`${name} needs scores from 0 to 1, but there is a score of ${String(outside)}.`, {
    code: 'invalid-value',
    context: { metric: name, value: outside },
    suggestion:
      'Divide scores in percent by 100. Convert other scores to probabilities first (a logistic function, or a calibrator).',
  });
}

function definition(name: string, measure: ScoreMeasure): MeasureDefinition<ScoreStats> {
  return { kind: 'scores', needsTruth: true, measure: measureScores(name, measure) };
}

const SCORE_MEASURE_PARTS = {
  roc_auc: { estimate: rocAuc, rows: 'both labels', needsProbabilities: false, ceiling: 1 },
  expected_calibration_error: {
    estimate: calibrationError,
    rows: 'all',
    needsProbabilities: true,
    ceiling: 1,
    caution:
      'the expected calibration error of few rows is inflated by chance, so a small group appears worse than a large one',
  },
  log_loss: { estimate: meanLogLoss, rows: 'all', needsProbabilities: true },
  brier_score: {
    estimate: meanLoss((score, truth) => (score - truth) ** 2),
    rows: 'all',
    needsProbabilities: true,
    ceiling: 1,
  },
  generalized_true_positive_rate: meanWithin(1, (score) => score),
  generalized_false_negative_rate: meanWithin(1, (score) => 1 - score),
  generalized_false_positive_rate: meanWithin(0, (score) => score),
  generalized_true_negative_rate: meanWithin(0, (score) => 1 - score),
} as const satisfies Record<string, ScoreMeasure>;

/** The measures of scores, by name. */
export const SCORE_MEASURES = Object.fromEntries(
  Object.entries(SCORE_MEASURE_PARTS).map(([name, measure]) => [name, definition(name, measure)]),
) as Readonly<Record<keyof typeof SCORE_MEASURE_PARTS, MeasureDefinition<ScoreStats>>>;

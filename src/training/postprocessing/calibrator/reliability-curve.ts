import { reliabilityChart, type ReliabilityPanel } from '../../../charts/reliability-chart.ts';
import { chartFormat, renderChart } from '../../../charts/render-chart.ts';
import { DataValidationError } from '../../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../../internal/arguments.ts';
import { writeFileAtomic } from '../../../io/atomic-write.ts';
import { effectiveCount } from '../../../metrics/measures/group-measure.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { scoreEntries, type ScoreEntry } from '../../../metrics/statistics/score-grid.ts';
import { requireInteger, requireLevel } from '../../../stats/parameters.ts';
import { wilsonInterval } from '../../../stats/proportion-interval.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import {
  MEASURE_CALIBRATION_OPTION_NAMES,
  type MeasureCalibrationOptions,
  readScoreStats,
} from './measure-calibration.ts';

/** Options of {@link reliabilityCurve}. */
export interface ReliabilityCurveOptions extends MeasureCalibrationOptions {
  /**
   * The number of bins per group, each with about the same weight of rows.
   * @defaultValue 10
   */
  readonly bins?: number | undefined;
  /**
   * The minimum number of rows per bin, because the share of positives among few rows is mostly noise. If a group has
   * fewer rows than bins x minBinSize, it gets fewer bins, but at least one bin.
   * @defaultValue 1
   */
  readonly minBinSize?: number | undefined;
  /**
   * Confidence level of the intervals, in (0, 1).
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
}

const DEFAULTS = { ...MEASURE_CALIBRATION_OPTION_NAMES, bins: 10, minBinSize: 1, level: 0.95 };

/** A bin: rows of one group with similar scores. */
export interface ReliabilityBin {
  readonly n: number;
  /** The weighted mean of scores. */
  readonly meanScore: number;
  /** The weighted share of positives. */
  readonly positiveRate: number;
  /**
   * The lower end of Wilson's interval for the share of positives. The interval is computed from the effective number
   * of rows.
   */
  readonly low: number;
  readonly high: number;
}

/** The non-empty bins of one group, in ascending order of score. */
export interface GroupReliability {
  readonly group: string;
  readonly n: number;
  readonly bins: readonly ReliabilityBin[];
}

/** Reliability curves of groups. */
export interface ReliabilityCurves {
  /** The groups that have rows, in the order of their labels. */
  readonly groups: readonly GroupReliability[];
  readonly bins: number;
  readonly minBinSize: number;
  readonly level: number;
  /** The number of excluded rows, which lack a score, a label, a group or a weight. */
  readonly nDropped: number;
}

/**
 * If the position of a score is below the lower edge of a bin by at most this value, the score belongs to the bin. The
 * order in which weights are summed therefore does not affect the bin of a score.
 */
const ON_THE_EDGE = 1e-9;

/**
 * Computes reliability curves: for each group, the share of positives and the mean score in bins of about equal weight.
 * If both values agree in every bin, the scores are calibrated.
 *
 * Rows with equal scores are in the same bin, which contains the middle of their mass. A group with few distinct scores
 * therefore has fewer bins. With ten bins, the sum over bins of the share of rows times |positiveRate - meanScore| is
 * the expected calibration error. If there are more than 65,536 distinct scores, or if the scores are a tensor, scores
 * are rounded to multiples of 2^-14 at most.
 * @param scores [rows], from 0 to 1
 * @param y [rows], 0 or 1
 * @throws {ValueError} if bins or minBinSize is not a whole number of at least 1, or level is outside (0, 1)
 * @throws {DataValidationError} if scores are outside [0, 1], labels are not 0 or 1, lengths differ, or no row has
 * all values
 * @example
 * ```ts
 * import { reliabilityCurve } from 'evenhand/training';
 *
 * const { groups } = await reliabilityCurve([0.1, 0.1, 0.9, 0.9], [0, 1, 1, 1], ['a', 'a', 'a', 'a'], { bins: 2 });
 * console.log(groups[0].bins.map(({ meanScore, positiveRate, n }) => [meanScore, positiveRate, n]));
 * // [ [ 0.1, 0.5, 2 ], [ 0.9, 1, 2 ] ]
 * ```
 */
export async function reliabilityCurve(
  scores: ColumnSource,
  y: ColumnSource,
  groups: SensitiveSource,
  options: ReliabilityCurveOptions = {},
): Promise<ReliabilityCurves> {
  assertKnownOptions('reliabilityCurve', options, DEFAULTS);
  const bins = requireInteger('bins', options.bins ?? DEFAULTS.bins, 1);
  const minBinSize = requireInteger('minBinSize', options.minBinSize ?? DEFAULTS.minBinSize, 1);
  const level = requireLevel('level', options.level ?? DEFAULTS.level);
  return curvesOf(await readScoreStats(scores, y, groups, options), { bins, minBinSize, level });
}

/** Computes the reliability curves of score statistics. */
export function curvesOf(
  stats: ScoreStats,
  {
    bins = DEFAULTS.bins,
    minBinSize = DEFAULTS.minBinSize,
    level = DEFAULTS.level,
  }: Partial<Pick<ReliabilityCurves, 'bins' | 'minBinSize' | 'level'>>,
): ReliabilityCurves {
  const entriesOf = stats.labels.map((): ScoreEntry[] => []);
  for (const entry of scoreEntries(stats)) entriesOf[entry.group]?.push(entry);
  const curves = entriesOf.flatMap((entries, group) => {
    const n = entries.reduce((sum, { counts }) => sum + counts[0] + counts[1], 0);
    const count = Math.max(1, Math.min(bins, Math.floor(n / minBinSize)));
    const found = binsOf(entries, count, level);
    return found.length === 0
      ? []
      : [Object.freeze({ group: stats.labels[group] as string, n, bins: Object.freeze(found) })];
  });
  return Object.freeze({ groups: Object.freeze(curves), bins, minBinSize, level, nDropped: stats.nDropped });
}

/** Sums over the rows of a bin. */
interface BinSums {
  n: number;
  weight: number;
  squaredWeight: number;
  yes: number;
  score: number;
}

/** Assigns distinct ascending scores to bins, by the midpoint of the cumulative weight of the rows with a score. */
function binsOf(entries: readonly ScoreEntry[], count: number, level: number): ReliabilityBin[] {
  const total = entries.reduce((sum, { weights }) => sum + weights[0] + weights[1], 0);
  const bins = Array.from({ length: count }, (): BinSums => ({ n: 0, weight: 0, squaredWeight: 0, yes: 0, score: 0 }));
  let before = 0;
  for (const { score, counts, weights, squaredWeights } of entries) {
    const weight = weights[0] + weights[1];
    if (weight === 0) continue;
    const index = Math.floor(((before + weight / 2) / total) * count + ON_THE_EDGE);
    const bin = bins[Math.min(count - 1, index)] as BinSums;
    bin.n += counts[0] + counts[1];
    bin.weight += weight;
    bin.squaredWeight += squaredWeights[0] + squaredWeights[1];
    bin.yes += weights[1];
    bin.score += weight * score;
    before += weight;
  }
  return bins.filter(({ weight }) => weight > 0).map((bin) => finishBin(bin, level));
}

function finishBin({ n, weight, squaredWeight, yes, score }: BinSums, level: number): ReliabilityBin {
  const size = effectiveCount(weight, squaredWeight);
  const [low, high] = wilsonInterval((yes / weight) * size, size, level);
  return Object.freeze({ n, meanScore: score / weight, positiveRate: yes / weight, low, high });
}

/** The curves of the same rows before and after calibration. */
export interface ReliabilityComparison {
  readonly before: ReliabilityCurves;
  readonly after: ReliabilityCurves;
}

/** Options of {@link plotReliability}. */
export interface PlotReliabilityOptions {
  /** The path of the plot. The extension (.svg, .png or .html) determines the format. */
  readonly savePath: string;
  /** The title above the plot. */
  readonly title?: string | undefined;
  /** A line under the title. */
  readonly subtitle?: string | undefined;
}

const PLOT_RELIABILITY_OPTION_NAMES: OptionNames<PlotReliabilityOptions> = {
  savePath: true,
  title: true,
  subtitle: true,
};

/**
 * Draws reliability curves, with one panel per group. Each curve plots the share of positives in each bin against the
 * mean score of the bin, with confidence intervals. The diagonal shows perfect calibration. If curves before and after
 * calibration are given, each panel shows both. If there are more than sixteen groups, only the sixteen largest groups
 * are drawn, and a note in the plot says so.
 * @returns the path of the written file
 * @throws {DataValidationError} if there is no group to draw, or if the path cannot be written
 * @throws {DependencyError} if the packages for drawing are not installed
 * @example
 * ```ts
 * import { plotReliability, reliabilityCurve } from 'evenhand/training';
 *
 * const curves = await reliabilityCurve([0.1, 0.3, 0.6, 0.9], [0, 1, 0, 1], ['a', 'b', 'a', 'b']);
 * console.log(await plotReliability(curves, { savePath: 'reliability.svg' }));
 * // reliability.svg
 * ```
 */
export async function plotReliability(
  curves: ReliabilityCurves | ReliabilityComparison,
  options: PlotReliabilityOptions,
): Promise<string> {
  assertKnownOptions('plotReliability', options, PLOT_RELIABILITY_OPTION_NAMES);
  const format = chartFormat(options.savePath);
  const { before, after } = 'before' in curves ? curves : { before: curves, after: undefined };
  if (before.groups.length === 0) {
    throw new DataValidationError('There is no group to draw.', {
      code: 'unknown-label',
      suggestion: 'Compute the curves from rows that have a group, a score and a label.',
    });
  }
  const panels = before.groups.map(({ group, n, bins }): ReliabilityPanel => ({
    label: group,
    n,
    before: bins,
    after: after?.groups.find((other) => other.group === group)?.bins,
  }));
  const { title, subtitle } = options;
  const chart = reliabilityChart(panels, { title, subtitle, level: before.level });
  await writeFileAtomic(options.savePath, await renderChart(chart, format));
  return options.savePath;
}

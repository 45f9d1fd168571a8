import { reliabilityChart, type ReliabilityPanel } from '../../../charts/reliability-chart.ts';
import { chartFormat, renderChart } from '../../../charts/render-chart.ts';
import { DataValidationError } from '../../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../../internal/arguments.ts';
import { writeFileAtomic } from '../../../io/atomic-write.ts';
import type { ReliabilityCurves } from './reliability-curve.ts';

/** Curves of the same rows before and after calibration. */
export interface ReliabilityComparison {
  readonly before: ReliabilityCurves;
  readonly after: ReliabilityCurves;
}

/** Options of {@link plotReliability}. */
export interface PlotReliabilityOptions {
  /** Where to save the plot; the extension (.svg, .png or .html) selects the format. */
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
 * mean score of the bin, with confidence intervals and the diagonal of perfect calibration. If curves before and after
 * calibration are given, each panel shows both. If there are more than sixteen groups, only the largest are drawn, and
 * the plot says so.
 * @returns the path of the written file
 * @throws {DataValidationError} if there is no group to draw, or the path cannot be written
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

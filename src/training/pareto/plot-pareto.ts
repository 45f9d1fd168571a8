import path from 'node:path';

import { paretoChart } from '../../charts/pareto-chart.ts';
import { chartFormat, renderChart } from '../../charts/render-chart.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { counted } from '../../internal/format.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { ParetoPoint } from './pareto-points.ts';
import { type ParetoSweep, paretoToJson } from './pareto-sweep.ts';

/** Options of {@link plotPareto}. */
export interface PlotParetoOptions {
  /** The path of the plot. Its extension (.svg, .png or .html) determines the format. */
  readonly savePath: string;
  /** The title above the plot. */
  readonly title?: string | undefined;
  /**
   * Whether to also write the points as a JSON file next to the plot.
   * @defaultValue false
   */
  readonly withPoints?: boolean | undefined;
}

const PLOT_PARETO_OPTION_NAMES: OptionNames<PlotParetoOptions> = { savePath: true, title: true, withPoints: true };

/**
 * Plots the points of a sweep: accuracy against demographic parity difference, with intervals. A line connects the
 * non-dominated points.
 * @returns the paths written
 * @throws {DataValidationError} if no point has a gap, or if the path cannot be written
 * @throws {DependencyError} if the packages for charts are not installed
 */
export async function plotPareto(
  points: readonly ParetoPoint[] | ParetoSweep,
  options: PlotParetoOptions,
): Promise<string[]> {
  assertKnownOptions('plotPareto', options, PLOT_PARETO_OPTION_NAMES);
  const format = chartFormat(options.savePath);
  const drawable = points.filter((point) => !Number.isNaN(point.dpDiff));
  if (drawable.length === 0) {
    throw new DataValidationError(
      'There are no points to draw, because every demographic parity difference is undefined.',
      {
        code: 'empty-data',
        suggestion: 'Check the group sizes of the held-out rows.',
      },
    );
  }
  const chart = paretoChart(drawable, { title: options.title, subtitle: subtitleOf(points) });
  const written = [options.savePath];
  await writeFileAtomic(options.savePath, await renderChart(chart, format));
  if (options.withPoints === true) {
    const beside = pointsPath(options.savePath);
    await writeFileAtomic(beside, `${JSON.stringify(paretoToJson(points), undefined, 2)}\n`);
    written.push(beside);
  }
  return written;
}

/** Returns the path of the JSON file with the points of a plot, next to the plot. */
export function pointsPath(savePath: string): string {
  const { dir, name } = path.parse(savePath);
  return path.join(dir, `${name}.json`);
}

function subtitleOf(points: readonly ParetoPoint[] | ParetoSweep): string {
  if (!('nTest' in points)) return '';
  const { target, sensitive, nTest, folds, penalty, positiveLabel } = points;
  const outcome = positiveLabel === null ? target : `${target} = ${positiveLabel}`;
  const rows = counted(nTest, 'row');
  const how = folds === null ? `${rows} held out` : `${rows}, cross-fitted in ${String(folds)} folds`;
  return `${outcome} by ${sensitive.join(' x ')}; ${how}; penalty ${penalty}; 95% intervals`;
}

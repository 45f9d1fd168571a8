import { chartFormat, renderChart } from '../../charts/render-chart.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { DetectorReportFields } from './detector-report-fields.ts';
import { proxyMap } from './proxy-map.ts';

/** Options of {@link plotProxies}. */
export interface PlotProxiesOptions {
  /** Where to save the plot; its extension (.svg, .png or .html) decides the form. */
  readonly savePath: string;
  /**
   * Above the plot.
   * @defaultValue 'How closely columns go with attributes'
   */
  readonly title?: string | undefined;
}

const PLOT_PROXIES_OPTION_NAMES: OptionNames<PlotProxiesOptions> = { savePath: true, title: true };

/**
 * Draws a heat map: a row for each column of the data, a column for each
 * attribute, in every cell their association from 0 to 1, proxies marked.
 * @returns the path written
 * @throws {DataValidationError} where no column was tested, or the path cannot be written
 * @throws {DependencyError} where the packages that draw are not installed
 */
export async function plotProxies(report: DetectorReportFields, options: PlotProxiesOptions): Promise<string> {
  assertKnownOptions('plotProxies', options, PLOT_PROXIES_OPTION_NAMES);
  const format = chartFormat(options.savePath);
  const chart = proxyMap(report, options.title);
  if (chart === undefined) {
    throw new DataValidationError('There is nothing to draw: no column was tested against an attribute.', {
      suggestion: 'See meta.skipped for the reasons.',
    });
  }
  await writeFileAtomic(options.savePath, await renderChart(chart, format));
  return options.savePath;
}

import type { Chart } from '../../charts/chart.ts';
import { heatMapChart } from '../../charts/heat-map-chart.ts';
import { chartFormat, renderChart } from '../../charts/render-chart.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { DetectorReportFields } from './detector-report-fields.ts';

/** Options of {@link plotProxies}. */
export interface PlotProxiesOptions {
  /** The path of the plot. The extension (.svg, .png or .html) determines the format. */
  readonly savePath: string;
  /**
   * The title above the plot.
   * @defaultValue 'Association between columns and attributes'
   */
  readonly title?: string | undefined;
}

const PLOT_PROXIES_OPTION_NAMES: OptionNames<PlotProxiesOptions> = { savePath: true, title: true };

/**
 * Draws a heat map with a row for each column of the data and a column for each attribute. Every cell shows the
 * association of its column and its attribute, from 0 to 1. Proxies are marked.
 * @returns the path written
 * @throws {DataValidationError} if no column was tested, or if the path cannot be written
 * @throws {DependencyError} if the packages for charts are not installed
 */
export async function plotProxies(report: DetectorReportFields, options: PlotProxiesOptions): Promise<string> {
  assertKnownOptions('plotProxies', options, PLOT_PROXIES_OPTION_NAMES);
  const format = chartFormat(options.savePath);
  const chart = proxyMap(report, options.title);
  if (chart === undefined) {
    throw new DataValidationError('There is nothing to plot, because no column was tested against an attribute.', {
      code: 'empty-data',
      suggestion: 'See meta.skipped for the reasons.',
    });
  }
  await writeFileAtomic(options.savePath, await renderChart(chart, format));
  return options.savePath;
}

/** Returns the heat map of every column's association with every attribute; undefined if no column was tested. */
export function proxyMap({ meta, body }: DetectorReportFields, title?: string): Chart | undefined {
  const attributes = [...new Set(body.associations.map(({ attribute }) => attribute))];
  const columns = [...new Set(body.associations.map(({ column }) => column))];
  if (columns.length === 0) return undefined;
  const indices = [attributes, columns].map((names) => new Map(names.map((name, index) => [name, index])));
  const [attributeIndices, columnIndices] = indices as [Map<string, number>, Map<string, number>];
  const values = columns.map(() => new Array<number>(attributes.length).fill(NaN));
  for (const { attribute, column, value } of body.associations) {
    const row = values[columnIndices.get(column) as number] as number[];
    row[attributeIndices.get(attribute) as number] = value;
  }
  return heatMapChart(
    { rows: columns, columns: attributes, values, threshold: meta.proxyThreshold },
    {
      title: title ?? 'Association between columns and attributes',
      subtitle: `Cramér's V for text, eta squared for numbers; proxies (at least ${String(meta.proxyThreshold)}) are orange and bold`,
    },
  );
}

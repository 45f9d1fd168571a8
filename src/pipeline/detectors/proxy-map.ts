import type { Chart } from '../../charts/chart.ts';
import { heatMapChart } from '../../charts/heat-map-chart.ts';
import type { DetectorReportFields } from './detector-report-fields.ts';

/** The heat map of every column's association with every attribute; undefined where no column was tested. */
export function proxyMap({ meta, body }: DetectorReportFields, title?: string): Chart | undefined {
  const attributes = [...new Set(body.associations.map(({ attribute }) => attribute))];
  const columns = [...new Set(body.associations.map(({ column }) => column))];
  if (columns.length === 0) return undefined;
  const places = [attributes, columns].map((names) => new Map(names.map((name, place) => [name, place])));
  const [attributePlaces, columnPlaces] = places as [Map<string, number>, Map<string, number>];
  const values = columns.map(() => new Array<number>(attributes.length).fill(NaN));
  for (const { attribute, column, value } of body.associations) {
    const row = values[columnPlaces.get(column) as number] as number[];
    row[attributePlaces.get(attribute) as number] = value;
  }
  return heatMapChart(
    { rows: columns, columns: attributes, values, threshold: meta.proxyThreshold },
    {
      title: title ?? 'How closely columns go with attributes',
      subtitle: `Cramér's V for text, eta squared for numbers; proxies from ${String(meta.proxyThreshold)} on are orange and bold`,
    },
  );
}

import type { Chart } from '../../charts/chart.ts';
import { groupValuesChart, type GroupValuesLayout } from '../../charts/group-values-chart.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { own } from '../../internal/values.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import type { FileValidation } from '../measure-attributes.ts';
import { intervalName, measuresOf } from '../metric-facts.ts';

/** Returns one chart for each measure of each attribute, even if several metrics use the measure. */
export function validationCharts(
  { attributes }: Pick<FileValidation, 'attributes'>,
  layout: GroupValuesLayout = {},
): Chart[] {
  return Object.entries(attributes).flatMap(([attribute, metrics]) => {
    const drawn = new Set<string>();
    return Object.values(metrics).flatMap((result) => {
      const measures = measuresOf(result).filter((measure) => !drawn.has(measure));
      for (const measure of measures) drawn.add(measure);
      return metricCharts(result, attribute, measures, layout);
    });
  });
}

/** Returns a chart of each measure that is defined for at least two groups. */
export function metricCharts(
  result: MetricResult,
  attribute: string,
  measures: readonly string[] = measuresOf(result),
  layout: GroupValuesLayout = {},
): Chart[] {
  return measures.flatMap((measure) => {
    const groups = Object.entries(result.perGroup).flatMap(([label, values]) => {
      const value = own(values, measure) ?? null;
      const ci = own(own(result.perGroupCi, label), measure) ?? null;
      return value === null ? [] : [{ label, n: own(result.nPerGroup, label) ?? 0, value, ci }];
    });
    if (groups.length < 2) return [];
    const subtitle = groups.some(({ ci }) => ci !== null)
      ? `Dots are values; lines are the ${intervalName(result.ciLevel)}s of the individual groups`
      : undefined;
    return [
      groupValuesChart(
        { title: `${inWords(measure)} by ${attribute}`, unit: unitOf(measure), groups },
        { ...layout, subtitle },
      ),
    ];
  });
}

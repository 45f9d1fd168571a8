import type { Chart } from '../../charts/chart.ts';
import { type ChartedMeasure, groupValuesChart, type GroupValuesLayout } from '../../charts/group-values-chart.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { own } from '../../internal/values.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import type { FileValidation } from '../measure-attributes.ts';
import { intervalName, measuresOf } from '../metric-facts.ts';

/** The values of a measure for every group of an attribute. */
interface AttributeMeasure extends ChartedMeasure {
  /** The confidence level of the intervals; null if it is unknown or there are none. */
  readonly level: number | null;
}

/** Returns the values of each measure of each attribute once, even if several metrics use the measure. */
export function validationMeasures({ attributes }: Pick<FileValidation, 'attributes'>): AttributeMeasure[] {
  return Object.entries(attributes).flatMap(([attribute, metrics]) => {
    const drawn = new Set<string>();
    return Object.values(metrics).flatMap((result) => {
      const measures = measuresOf(result).filter((measure) => !drawn.has(measure));
      for (const measure of measures) drawn.add(measure);
      return metricMeasures(result, attribute, measures);
    });
  });
}

/** Returns one chart for each measure of each attribute, even if several metrics use the measure. */
export function validationCharts(
  validation: Pick<FileValidation, 'attributes'>,
  layout: GroupValuesLayout = {},
): Chart[] {
  return validationMeasures(validation).map((measure) => measureChart(measure, layout));
}

/** Returns a chart of each measure that is defined for at least two groups. */
export function metricCharts(result: MetricResult, attribute: string): Chart[] {
  return metricMeasures(result, attribute, measuresOf(result)).map((measure) => measureChart(measure));
}

function metricMeasures(result: MetricResult, attribute: string, measures: readonly string[]): AttributeMeasure[] {
  return measures.flatMap((measure) => {
    const groups = Object.entries(result.perGroup).flatMap(([label, values]) => {
      const value = own(values, measure) ?? null;
      const ci = own(own(result.perGroupCi, label), measure) ?? null;
      return value === null ? [] : [{ label, n: own(result.nPerGroup, label) ?? 0, value, ci }];
    });
    if (groups.length < 2) return [];
    return [{ title: `${inWords(measure)} by ${attribute}`, unit: unitOf(measure), groups, level: result.ciLevel }];
  });
}

function measureChart({ level, ...measure }: AttributeMeasure, layout: GroupValuesLayout = {}): Chart {
  const hasIntervals = measure.groups.some(({ ci }) => ci !== null);
  const subtitle = hasIntervals
    ? `Dots are values; lines are the ${intervalName(level)}s of the individual groups`
    : undefined;
  return groupValuesChart(measure, { ...layout, subtitle });
}

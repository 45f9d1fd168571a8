import type { Chart } from '../../charts/chart.ts';
import { groupValuesChart } from '../../charts/group-values-chart.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { own } from '../../internal/values.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { intervalName, measuresOf } from '../metric-facts.ts';

/** Returns a chart of each measure that at least two groups have. */
export function metricCharts(result: MetricResult, attribute: string): Chart[] {
  return measuresOf(result).flatMap((measure) => {
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
      groupValuesChart({ title: `${inWords(measure)} by ${attribute}`, unit: unitOf(measure), groups }, { subtitle }),
    ];
  });
}

import { inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import type { ReportFact } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { intervalName } from '../html/metric-charts.ts';
import { own, tableCount, tableNumber, tableValue } from '../html/report-numbers.ts';
import type { WorkflowMetrics } from '../workflow/workflow-result.ts';
import { accuracyInterval, levelOf } from './change-table.ts';
import { rangeText } from './change-words.ts';

/** One step of a workflow in a few numbers: of several attributes the worst of each metric. */
export function stepSummary(metrics: WorkflowMetrics): ReportFact[] {
  const { n, accuracy, meanAbsoluteError } = metrics;
  const level = levelOf(metrics);
  const performance: ReportFact[] =
    accuracy !== null
      ? [
          {
            name: 'Accuracy',
            value: tableValue(accuracy, 'share'),
            remark: `${intervalName(level)} ${accuracyInterval(accuracy, n, level)}`,
          },
        ]
      : meanAbsoluteError !== null
        ? [{ name: 'Mean absolute error', value: tableNumber(meanAbsoluteError) }]
        : [];
  return [
    { name: 'Rows judged', value: tableCount(n), remark: 'held out from training' },
    ...performance,
    ...Object.entries(metrics.metrics).map(([metric, result]) => ({
      name: inWords(metric),
      value: tableNumber(result.value),
      remark: remarkOf(metric, result, metrics),
    })),
  ];
}

function remarkOf(metric: string, result: MetricResult, { attributes }: WorkflowMetrics): string {
  if (result.undefinedReason !== null) return result.undefinedReason;
  const interval = result.ci === null ? [] : [`${intervalName(result.ciLevel)} ${rangeText(result.ci)}`];
  const place = Object.keys(attributes).find((name) => own(own(attributes, name), metric)?.value === result.value);
  const isWorst = Object.keys(attributes).length > 1 && place !== undefined;
  return [...interval, ...(isWorst ? [`the worst, by ${labelText(place)}`] : [])].join('; ');
}

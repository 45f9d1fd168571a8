import { capital, rangeText, tableNumber, tableValue } from '../../internal/format.ts';
import { noteBlocks, numberColumn, type ReportBlock, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import { intervalName } from '../html/metric-charts.ts';
import type { WorkflowFindings, WorkflowMetrics } from '../workflow-result.ts';
import { own } from '../../internal/values.ts';
import { metricChange, signedValue } from './verdict-words.ts';

/** The level of the accuracy interval if no metric has an interval. */
const LEVEL = 0.95;

/** Returns the table of every metric before and after, and the reasons of undefined values. */
export function changeBlocks(findings: WorkflowFindings): ReportBlock[] {
  return [changeTable(findings), ...noteBlocks('Undefined values:', undefinedReasons(findings))];
}

function changeTable(findings: WorkflowFindings): ReportTable {
  const { baselineMetrics: before, finalMetrics: after, validation } = findings;
  const level = levelOf(after);
  const interval = numberColumn(capital(intervalName(level)));
  const metricRows = Object.entries(after.attributes).flatMap(([attribute, results]) =>
    Object.entries(results).map(([metric, to]) => {
      const from = own(own(before.attributes, attribute), metric);
      const isJudged = metric === validation.metric && attribute === validation.attribute;
      return [
        labelText(attribute),
        isJudged ? `${inWords(metric)} (judged)` : inWords(metric),
        ...valueAndInterval(from),
        ...valueAndInterval(to),
        metricChange(metric, from?.value ?? NaN, to.value),
      ];
    }),
  );
  return {
    kind: 'table',
    caption: 'Baseline, final and change',
    columns: [
      { name: 'Attribute' },
      { name: 'Metric' },
      numberColumn('Baseline'),
      interval,
      numberColumn('Final'),
      interval,
      numberColumn('Change'),
    ],
    rows: [...performanceRow(before, after, level), ...metricRows],
  };
}

function valueAndInterval(result: MetricResult | undefined): [value: string, interval: string] {
  if (result === undefined) return ['\u2013', '\u2013'];
  return [tableNumber(result.value), result.ci === null ? 'none' : rangeText(result.ci)];
}

/** Returns the accuracy of decisions, or the error of values, in the columns of the table. */
function performanceRow(before: WorkflowMetrics, after: WorkflowMetrics, level: number): string[][] {
  if (before.accuracy !== null && after.accuracy !== null) {
    const side = (accuracy: number, n: number): string[] => [
      tableValue(accuracy, 'share'),
      accuracyInterval(accuracy, n, level),
    ];
    const change = signedValue(after.accuracy - before.accuracy, 'share');
    return [['All rows', 'Accuracy', ...side(before.accuracy, before.n), ...side(after.accuracy, after.n), change]];
  }
  if (before.meanAbsoluteError === null || after.meanAbsoluteError === null) return [];
  const [from, to] = [before.meanAbsoluteError, after.meanAbsoluteError];
  const change = signedValue(to - from, 'number');
  return [['All rows', 'Mean absolute error', tableNumber(from), 'none', tableNumber(to), 'none', change]];
}

/** Formats the Wilson interval of a share of correct decisions. */
export function accuracyInterval(accuracy: number, n: number, level: number): string {
  return rangeText(wilsonInterval(accuracy * n, n, level), (end) => tableValue(end, 'share'));
}

/** Returns the level of the intervals, which is the same for all metrics of a workflow. */
export function levelOf({ attributes }: WorkflowMetrics): number {
  const levels = Object.values(attributes).flatMap((results) => Object.values(results).map(({ ciLevel }) => ciLevel));
  return levels.find((level) => level !== null) ?? LEVEL;
}

function undefinedReasons({ baselineMetrics, finalMetrics }: WorkflowFindings): string[] {
  const steps = [
    ['Baseline', baselineMetrics],
    ['Final', finalMetrics],
  ] as const;
  return steps.flatMap(([step, { attributes }]) =>
    Object.entries(attributes).flatMap(([attribute, results]) =>
      Object.entries(results).flatMap(([metric, { undefinedReason }]) =>
        undefinedReason === null
          ? []
          : [`${step}: ${inWords(metric)} by ${labelText(attribute)} is undefined: ${undefinedReason}.`],
      ),
    ),
  );
}

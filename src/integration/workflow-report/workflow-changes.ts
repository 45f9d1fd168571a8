import {
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportTable,
  type ReportVerdict,
  valueColumn,
} from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { capital, counted, NOTHING, rangeText, tableNumber, tableValue, type Unit } from '../../internal/format.ts';
import { own } from '../../internal/values.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import { intervalName } from '../metric-facts.ts';
import {
  resultsOf,
  unfairness,
  type ValidationResult,
  type WorkflowFindings,
  type WorkflowMetrics,
} from '../workflow-result.ts';

/** Builds the verdict box: the message of the gate, the change of the metric, and the cost in accuracy. */
export function workflowVerdict(findings: WorkflowFindings): ReportVerdict {
  const { validation, baselineMetrics, finalMetrics } = findings;
  const { passed, threshold } = validation;
  const kind = validation.verdict.status ?? 'none';
  const title =
    passed === null
      ? 'No threshold, no verdict'
      : `${kind.toUpperCase()} at threshold ${threshold === null ? 'none' : String(threshold)}`;
  return {
    kind,
    title,
    sentences: [
      ...(passed === null ? ['This report measures and does not judge.'] : [judged(findings)]),
      improvement(validation, Object.keys(finalMetrics.attributes).length),
      cost(baselineMetrics, finalMetrics),
    ].filter((sentence) => sentence !== ''),
  };
}

function judged({ validation, finalMetrics }: WorkflowFindings): string {
  const { message, verdict, attribute } = validation;
  const caution =
    verdict.straddles && !message.includes('straddles')
      ? ' The interval straddles the threshold: another sample could change this verdict.'
      : '';
  const attributes = Object.keys(finalMetrics.attributes).length;
  const location =
    attributes < 2 || message.includes('Judged by')
      ? ''
      : ` Judged by ${labelText(attribute)}, the worst of ${String(attributes)} attributes.`;
  return `${message}${caution}${location}`;
}

/** Describes in words how the judged metric changed, because the sign of a percentage is easily misread. */
function improvement(validation: ValidationResult, attributes: number): string {
  const { metric, baselineMetricValue: from, finalMetricValue: to, improvementPercent: percent } = validation;
  const which = attributes < 2 ? '' : ` (the worst of ${String(attributes)} attributes)`;
  const values = `${inWords(metric)}${which} went from ${tableNumber(from)} to ${tableNumber(to)}`;
  const [before, after] = [unfairness(metric, from), unfairness(metric, to)];
  if (percent === null || !Number.isFinite(percent)) {
    const isEven = Number.isFinite(to) && before === 0;
    const reason = isEven ? 'the baseline value is at parity' : 'one of the two values is undefined';
    return `${values}. The change in percent is not available, because ${reason}.`;
  }
  const found = after === before ? 'unchanged' : after < before ? 'reduced' : 'increased';
  const gap = metric.endsWith('_ratio') ? 'Its distance from 1' : 'The gap';
  return `Unfairness ${found}: ${values}. ${gap} changed by ${percentText(percent)}.`;
}

function percentText(percent: number): string {
  const size = Math.abs(percent).toFixed(1);
  return `${Number(size) === 0 ? '' : percent < 0 ? '\u2212' : '+'}${size}%`;
}

/** Describes the cost of a constraint: how much the accuracy or the error changed. */
export function cost(baseline: WorkflowMetrics, final: WorkflowMetrics): string {
  const [before, after] = [performanceOf(baseline), performanceOf(final)];
  if (before === undefined || after === undefined) return '';
  const { unit } = after;
  const subject = unit === 'share' ? 'Accuracy' : 'The mean absolute error';
  const change = signedValue(after.value - before.value, unit);
  return `${subject} went from ${tableValue(before.value, unit)} to ${tableValue(after.value, unit)}: ${change} on the same ${counted(final.n, 'held-out row')}.`;
}

/** The accuracy of a model or, for a regression, its error. It is given with a name and a unit. */
interface Performance {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
}

/** Returns the accuracy or the error of a model over all rows; undefined if it was not measured. */
export function performanceOf({ accuracy, meanAbsoluteError: error }: WorkflowMetrics): Performance | undefined {
  if (accuracy !== null) return { name: 'Accuracy', value: accuracy, unit: 'share' };
  return error === null ? undefined : { name: 'Mean absolute error', value: error, unit: 'number' };
}

/** Formats a change with its sign. A change of shares is in percentage points. */
export function signedValue(change: number, unit: Unit): string {
  if (!Number.isFinite(change)) return 'undefined';
  const size = unit === 'share' ? (100 * Math.abs(change)).toFixed(2) : tableNumber(Math.abs(change));
  const points = unit === 'share' ? ' points' : '';
  // A change that rounds to 0 is shown without a sign.
  const sign = Number.parseFloat(size) === 0 ? '' : change < 0 ? '\u2212' : '+';
  return `${sign}${size}${points}`;
}

/** Formats the change of a metric with its meaning: a smaller or larger gap, a ratio closer to or farther from 1. */
export function metricChange(metric: string, before: number, after: number): string {
  if (!Number.isFinite(before) || !Number.isFinite(after)) return 'undefined';
  const [from, to] = [unfairness(metric, before), unfairness(metric, after)];
  const change = signedValue(after - before, 'number');
  if (from === to) return `${change}, no change`;
  const words = metric.endsWith('_ratio') ? ['closer to 1', 'farther from 1'] : ['smaller gap', 'larger gap'];
  return `${change}, ${(to < from ? words[0] : words[1]) as string}`;
}

/** The level of the accuracy interval if no metric has an interval. */
const LEVEL = 0.95;

/** Returns a table of all metrics before and after, and the reasons for undefined values. */
export function changeBlocks(findings: WorkflowFindings): ReportBlock[] {
  return [changeTable(findings), ...noteBlocks('Undefined values:', undefinedReasons(findings))];
}

function changeTable(findings: WorkflowFindings): ReportTable {
  const { baselineMetrics: before, finalMetrics: after, validation } = findings;
  const level = levelOf(after);
  const interval = numberColumn(capital(intervalName(level)));
  const metricRows = resultsOf(after).map(({ attribute, metric, result: to }) => {
    const from = own(own(before.attributes, attribute), metric);
    const isJudged = metric === validation.metric && attribute === validation.attribute;
    return [
      labelText(attribute),
      isJudged ? `${inWords(metric)} (judged)` : inWords(metric),
      ...valueAndInterval(from),
      ...valueAndInterval(to),
      metricChange(metric, from?.value ?? NaN, to.value),
    ];
  });
  return {
    kind: 'table',
    caption: 'Baseline, final and change',
    columns: [
      { name: 'Attribute' },
      { name: 'Metric', isEssential: true, wraps: true },
      valueColumn('Baseline'),
      interval,
      valueColumn('Final'),
      interval,
      numberColumn('Change'),
    ],
    rows: [...performanceRow(before, after, level), ...metricRows],
  };
}

function valueAndInterval(result: MetricResult | undefined): [value: string, interval: string] {
  if (result === undefined) return [NOTHING, NOTHING];
  return [tableNumber(result.value), result.ci === null ? 'none' : rangeText(result.ci)];
}

/** Returns the table row for the accuracy of decisions or the error of a regression. */
function performanceRow(before: WorkflowMetrics, after: WorkflowMetrics, level: number): string[][] {
  const [from, to] = [performanceOf(before), performanceOf(after)];
  if (from === undefined || to === undefined) return [];
  const side = ({ value, unit }: Performance, metrics: WorkflowMetrics): string[] => [
    tableValue(value, unit),
    unit === 'share' ? accuracyInterval(value, metrics, level) : 'none',
  ];
  const change = signedValue(to.value - from.value, to.unit);
  return [['All rows', to.name, ...side(from, before), ...side(to, after), change]];
}

/** Formats the interval of a share of correct decisions: that of its clusters, or Wilson's interval. */
export function accuracyInterval(accuracy: number, { n, accuracyCi }: WorkflowMetrics, level: number): string {
  if (accuracyCi === null) return 'none';
  return rangeText(accuracyCi ?? wilsonInterval(accuracy * n, n, level), (end) => tableValue(end, 'share'));
}

/** Returns the level of the intervals, which is the same for all metrics of a workflow. */
export function levelOf(metrics: WorkflowMetrics): number {
  return resultsOf(metrics).find(({ result }) => result.ciLevel !== null)?.result.ciLevel ?? LEVEL;
}

function undefinedReasons({ baselineMetrics, finalMetrics }: WorkflowFindings): string[] {
  const reasonsIn = (step: string, metrics: WorkflowMetrics): string[] =>
    resultsOf(metrics).flatMap(({ attribute, metric, result: { undefinedReason: reason } }) =>
      reason === null ? [] : [`${step}: ${inWords(metric)} by ${labelText(attribute)} is undefined: ${reason}.`],
    );
  return [...reasonsIn('Baseline', baselineMetrics), ...reasonsIn('Final', finalMetrics)];
}

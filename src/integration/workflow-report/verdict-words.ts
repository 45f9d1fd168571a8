import type { ReportVerdict } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { counted, formatShare, tableNumber } from '../../internal/format.ts';
import type { ValidationResult, WorkflowFindings, WorkflowMetrics } from '../workflow-result.ts';

/** Builds the verdict box: the message of the gate, the change of the metric, and the cost in accuracy. */
export function workflowVerdict(findings: WorkflowFindings): ReportVerdict {
  const { validation, baselineMetrics, finalMetrics } = findings;
  const { passed, threshold } = validation;
  const kind = passed === null ? 'none' : passed ? 'pass' : 'fail';
  const title =
    passed === null
      ? 'No threshold, no verdict'
      : `${passed ? 'PASS' : 'FAIL'} at threshold ${threshold === null ? 'none' : String(threshold)}`;
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

/** Describes the change of the judged metric in words, since the sign of a percentage is easily misread. */
function improvement(validation: ValidationResult, attributes: number): string {
  const { metric, baselineMetricValue: from, finalMetricValue: to, improvementPercent: percent } = validation;
  const which = attributes < 2 ? '' : ` (the worst of ${String(attributes)} attributes)`;
  const values = `${inWords(metric)}${which} went from ${tableNumber(from)} to ${tableNumber(to)}`;
  if (percent === null || !Number.isFinite(percent)) {
    const isEven = Number.isFinite(to) && disparity(metric.endsWith('_ratio'), from) === 0;
    const reason = isEven ? 'the baseline value is at parity' : 'one of the two values is undefined';
    return `${values}. Improvement in percent: not available, because ${reason}.`;
  }
  const isRatio = metric.endsWith('_ratio');
  const [before, after] = [disparity(isRatio, from), disparity(isRatio, to)];
  const found = after === before ? 'unchanged' : after < before ? 'reduced' : 'increased';
  const measured = isRatio ? ', measured as distance from 1' : '';
  return `Unfairness ${found}: ${values}. Improvement: ${percentText(percent)} (negative is a reduction in unfairness${measured}).`;
}

function percentText(percent: number): string {
  const size = Math.abs(percent).toFixed(1);
  return `${Number(size) === 0 ? '' : percent < 0 ? '\u2212' : '+'}${size}%`;
}

/** Describes the change of accuracy, or of the error, which is the cost of a constraint. */
export function cost(baseline: WorkflowMetrics, final: WorkflowMetrics): string {
  if (baseline.accuracy !== null && final.accuracy !== null) {
    return `Accuracy went from ${formatShare(baseline.accuracy, 2)} to ${formatShare(final.accuracy, 2)}: ${signedValue(
      final.accuracy - baseline.accuracy,
      'share',
    )} on the same ${counted(final.n, 'held-out row')}.`;
  }
  if (baseline.meanAbsoluteError === null || final.meanAbsoluteError === null) return '';
  const [from, to] = [baseline.meanAbsoluteError, final.meanAbsoluteError];
  return `The mean absolute error went from ${tableNumber(from)} to ${tableNumber(to)}: ${signedValue(
    to - from,
    'number',
  )} on the same ${counted(final.n, 'held-out row')}.`;
}

/** Formats a change with its sign; a change of shares in percentage points. */
export function signedValue(change: number, unit: 'share' | 'number'): string {
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
  const isRatio = metric.endsWith('_ratio');
  const [from, to] = [disparity(isRatio, before), disparity(isRatio, after)];
  const change = signedValue(after - before, 'number');
  if (from === to) return `${change}, no change`;
  const words = isRatio ? ['closer to 1', 'farther from 1'] : ['smaller gap', 'larger gap'];
  return `${change}, ${(to < from ? words[0] : words[1]) as string}`;
}

/** Returns the distance of a metric from parity, regardless of direction. */
function disparity(isRatio: boolean, value: number): number {
  return isRatio ? 1 - Math.min(value, 1 / value) : Math.abs(value);
}

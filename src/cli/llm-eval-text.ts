import { FINDING_WORDS, findingOf, testedP, undefinedByReason } from '../llm-evals/report/finding.ts';
import type { LlmEvalVerdict } from '../llm-evals/report/index.ts';
import { verdictBox } from '../llm-evals/report/llm-eval-document.ts';
import { comparisonVerdict } from '../llm-evals/report/targets-document.ts';
import { missingByGroup, pairSuffix, signSentences } from '../llm-evals/report/report-words.ts';
import { costText } from '../llm-evals/report/spending-section.ts';
import type { LlmEvalResult } from '../llm-evals/run/llm-eval-result.ts';
import type { LlmTargetsResult } from '../llm-evals/run/llm-targets-result.ts';
import type { LlmMetricResult } from '../llm-evals/scoring/llm-metric-result.ts';
import type { LlmTargetDifference } from '../llm-evals/scoring/llm-target-difference.ts';
import { bracketText, counted, formatCount, formatLevel, formatNumber, pValueText } from '../internal/format.ts';
import { labelText, listed } from '../document/report-text.ts';
import { groupBy } from '../internal/values.ts';
import {
  briefReport,
  numberColumn,
  type ReportDocument,
  type ReportTable,
  valueColumn,
} from '../document/report-document.ts';

/**
 * The maximum number of table rows. The metrics of the gate and significant metrics are always shown. The metrics
 * closest to significance fill the remaining rows.
 */
const MAX_ROWS = 12;

/** Describes an evaluation for the terminal: the verdict, the number of answers, the main metrics and the spending. */
export function describeLlmEval(result: LlmEvalResult, verdict: LlmEvalVerdict): ReportDocument {
  const metrics = Object.values(result.metrics);
  const shown = metricsToShow(metrics, verdict, result.config.counterfactual?.controlDimension);
  const sentences = [
    ...signSentences(shown),
    ...restLines(metrics, shown),
    ...uncomparedLines(shown),
    ...excludedLines(shown),
    ...missingLines(shown),
    ...undefinedByReason(metrics.filter(isUndefined), ({ key }) => key),
    ...failedLines(result),
    spendingLine(result),
  ];
  return briefReport({
    title: 'Language model evaluation',
    subject: openingLine(result),
    verdict: verdictBox(result, verdict),
    blocks: [
      shown.length === 0 ? { kind: 'paragraph', text: 'No metric has a value.' } : metricTable(shown),
      { kind: 'list', items: sentences },
    ],
  });
}

/**
 * Describes a run with several targets for the terminal: the verdict, a row for each difference that is shown or close
 * to it, and the spending.
 */
export function describeLlmTargets(result: LlmTargetsResult, verdict: LlmEvalVerdict): ReportDocument {
  const differences = Object.values(result.differences);
  const shown = metricsToShow(differences, verdict, result.config.counterfactual?.controlDimension);
  const names = Object.entries(result.targets).map(([name, { config, actual }]) => {
    const answered = actual.answered + actual.cached;
    return `${name} (${config.model}): ${formatCount(answered)} ${answered === 1 ? 'answer' : 'answers'}`;
  });
  const sentences = [
    ...restLines(differences, shown),
    ...undefinedByReason(differences.filter(isUndefined), ({ key }) => key),
    ...failedLines(result),
    spendingLine(result),
  ];
  return briefReport({
    title: 'Language model comparison',
    subject: `${names.join('; ')}.`,
    verdict: comparisonVerdict(result, verdict),
    blocks: [
      shown.length === 0 ? { kind: 'paragraph', text: 'No difference has a value.' } : differenceTable(shown),
      { kind: 'list', items: sentences },
    ],
  });
}

function differenceTable(differences: readonly LlmTargetDifference[]): ReportTable {
  const { columns, rows } = metricTable(differences);
  const [name, value, ...others] = columns;
  return {
    kind: 'table',
    caption: '',
    columns: [name ?? { name: '' }, ...['First', 'Second'].map(numberColumn), value ?? { name: '' }, ...others],
    rows: rows.map(([title = '', ...cells], index) => {
      const values = differences[index]?.targetValues ?? [];
      return [title, ...values.map((each) => (Number.isNaN(each) ? '' : formatNumber(each, 3))), ...cells];
    }),
  };
}

/**
 * Returns the metrics to show, in the order of the run. Metrics of the control dimension are selected last, because
 * they are not findings.
 */
function metricsToShow<Metric extends LlmMetricResult>(
  metrics: readonly Metric[],
  verdict: LlmEvalVerdict,
  control: string | undefined,
): Metric[] {
  const rank = (metric: Metric): number =>
    control !== undefined && metric.dimension === control ? 3 : (testedP(metric) ?? 2);
  const always = metrics.filter(
    (metric) => Object.hasOwn(verdict.metrics, metric.key) || findingOf(metric) === 'shown',
  );
  const others = metrics
    .filter((metric) => !always.includes(metric) && !isUndefined(metric))
    .sort((a, b) => rank(a) - rank(b));
  const chosen = new Set([...always, ...others.slice(0, Math.max(0, MAX_ROWS - always.length))]);
  return metrics.filter((metric) => chosen.has(metric));
}

function isUndefined(metric: LlmMetricResult): boolean {
  return findingOf(metric) === 'undefined';
}

function restLines(metrics: readonly LlmMetricResult[], shown: readonly LlmMetricResult[]): string[] {
  const rest = metrics.filter((metric) => !shown.includes(metric) && !isUndefined(metric)).length;
  return rest === 0
    ? []
    : [
        `${counted(rest, 'more metric')}, none statistically distinguishable from noise, are in the reports and in --json.`,
      ];
}

function openingLine({ config, actual, collected }: LlmEvalResult): string {
  if (collected !== undefined && collected !== null) {
    return `${collected.source}: ${counted(collected.answered, 'collected answer')}.`;
  }
  const known = actual.cached === 0 ? '' : `, ${formatCount(actual.cached)} already known`;
  return `${config.model} (${config.provider}): ${formatCount(actual.answered)} answered${known}.`;
}

function metricTable(metrics: readonly LlmMetricResult[]): ReportTable {
  const level = metrics.find(({ ciLevel }) => ciLevel !== null)?.ciLevel ?? null;
  const interval = level === null ? 'Interval' : `${formatLevel(level)} interval`;
  return {
    kind: 'table',
    caption: '',
    columns: [
      { name: 'Metric', wraps: true },
      valueColumn('Value'),
      ...[interval, 'Mean by chance', '95% by chance below'].map(numberColumn),
      ...['Adjusted p', 'n'].map(valueColumn),
      numberColumn('Minimum detectable'),
      { name: 'Significant', isEssential: true },
    ],
    rows: metrics.map((metric) => [
      `${metric.key}${pairSuffix(metric)}`,
      formatNumber(metric.value, 3).replace(/^-(?=0\.0*$)/, ''),
      bracketText(metric.ci),
      metric.nullMean === null ? '' : formatNumber(metric.nullMean, 3),
      metric.nullQuantile === null ? '' : formatNumber(metric.nullQuantile, 3),
      pText(testedP(metric)),
      formatCount(metric.n),
      metric.minimumDetectableGap === null ? '' : formatNumber(metric.minimumDetectableGap, 2),
      FINDING_WORDS[findingOf(metric)],
    ]),
  };
}

function pText(p: number | null): string {
  return p === null ? '' : pValueText(p).replace(' ', '');
}

/** Returns a line for each value that no other one could be compared with; metrics with the same reason share it. */
function uncomparedLines(metrics: readonly LlmMetricResult[]): string[] {
  const all = metrics.flatMap(({ key, excluded }) =>
    Object.entries(excluded).map(([value, { n, reason }]) => ({
      key,
      text: `${labelText(value)} (${counted(n, 'answer')}): ${reason}`,
    })),
  );
  return Array.from(
    groupBy(all, ({ text }) => text),
    ([text, those]) =>
      `Not compared in ${listed(
        those.map(({ key }) => key),
        3,
      )}: ${text}.`,
  );
}

/** Returns a line for each reason for which answers are excluded from shown metrics; metrics with equal counts share it. */
function excludedLines(metrics: readonly LlmMetricResult[]): string[] {
  const excluded = metrics.flatMap(({ key, exclusions }) =>
    Object.entries(exclusions).flatMap(([reason, count]) => (count === 0 ? [] : [{ key, reason, count }])),
  );
  const rows = groupBy(excluded, ({ reason, count }) => JSON.stringify([reason, count]));
  return Array.from(rows.values(), (those) => {
    const [{ reason, count } = { reason: '', count: 0 }] = those;
    return `Excluded from ${listed(those.map(({ key }) => key), 3)}: ${counted(count, 'answer')} (${reason.replaceAll('_', ' ')}).`; // prettier-ignore
  });
}

/** Returns a line with the number of answers without a value of each group; metrics with equal counts share it. */
function missingLines(metrics: readonly LlmMetricResult[]): string[] {
  return missingByGroup(metrics).map(
    ({ metrics: those, byGroup }) =>
      `Without a value in ${listed(those.map(({ key }) => key), 3)}: ${byGroup.map(([group, count]) => `${labelText(group)} ${formatCount(count)}`).join(', ')}.`, // prettier-ignore
  );
}

function failedLines({ actual }: Pick<LlmEvalResult, 'actual'>): string[] {
  return actual.failed === 0 ? [] : [`${formatCount(actual.failed)} failed after all retries; the report says why.`];
}

function spendingLine({ planned, actual, collected }: Pick<LlmEvalResult, 'planned' | 'actual' | 'collected'>): string {
  if (collected !== undefined && collected !== null) return 'Spent: nothing, because no request was sent.';
  const tokens = actual.inputTokens + actual.outputTokens;
  // An answer without a token count is counted as if it had the maximum length.
  const [atMost, why] = actual.uncounted === 0 ? ['', ''] : ['at most ', `; ${counted(actual.uncounted, 'answer')} came without a count of tokens`]; // prettier-ignore
  const again =
    actual.retries === 0
      ? ''
      : `, ${formatCount(actual.retries)} of them ${actual.retries === 1 ? 'a retry' : 'retries'}`;
  const cost =
    actual.costUsd === null && planned.costUsd === null
      ? 'cost unknown'
      : `${actual.costUsd === null ? '' : atMost}${costText(actual.costUsd)} (planned ${costText(planned.costUsd)})`;
  return `Spent: ${counted(actual.requests, 'request')}${again} (planned ${formatCount(planned.requests)}), ${atMost}${counted(tokens, 'token')} (planned ${formatCount(planned.inputTokens + planned.outputTokens)}${why}), ${cost}, ${formatNumber(actual.seconds, 1)} s.`;
}

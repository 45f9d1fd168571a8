import { shortenLabel } from '../../charts/chart.ts';
import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { cutItems, labelText, listed, shownText } from '../../document/report-text.ts';
import { groupBy } from '../../internal/values.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { readDecision } from '../scoring/read-decision.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { metricTitle, missingByGroup, tableOf } from './report-words.ts';

/**
 * The maximum number of answers without a recognized decision that are shown for each value. `EXAMPLE_WIDTH` is the
 * maximum number of characters of each answer.
 */
const MAX_EXAMPLES = 3;
const EXAMPLE_WIDTH = 160;

/**
 * Builds the section on failed and excluded answers, with their reasons. If no answer failed or was excluded, the
 * section states this.
 */
export function exclusionBlocks(result: LlmEvalResult): ReportBlock[] {
  const metrics = Object.values(result.metrics);
  const blocks = [
    ...problemTable(result),
    ...exclusionTable(metrics),
    ...missingTable(metrics),
    ...(result.config.outcome.decision === undefined ? undecidedBlocks(result) : []),
    ...unreadBlocks(result),
    ...groupNotes(metrics),
  ];
  return blocks.length > 0
    ? blocks
    : [{ kind: 'paragraph', text: 'None: every planned answer was received and included in the metrics.' }];
}

/** Lists prompts without an answer, by kind of error. */
function problemTable({ transcripts, actual, collected }: LlmEvalResult): ReportBlock[] {
  const problems = transcripts.flatMap(({ error, key }) => (error === null ? [] : [{ ...error, key }]));
  if (problems.length === 0 && actual.failed + actual.notSent === 0) return [];
  const rows = [...groupBy(problems, ({ kind }) => kind)].map(([kind, those]) => [
    spaced(kind),
    // An answer that several evaluators need counts once.
    formatCount(new Set(those.map(({ key }) => key)).size),
    those[0]?.message ?? '',
  ]);
  const failed = `${counted(actual.failed, 'prompt')} failed on every attempt`;
  const text =
    collected === undefined || collected === null
      ? `${failed}, and ${formatCount(actual.notSent)} ${actual.notSent === 1 ? 'was' : 'were'} not sent.`
      : `${formatCount(collected.rows - collected.answered)} of ${counted(collected.rows, 'row')} have no answer.`;
  const columns = ['Reason', numberColumn('Answers'), 'First error'];
  return [{ kind: 'paragraph', text }, ...tableOf('Missing answers', columns, rows)];
}

/** Lists the answers that are excluded from metrics, by reason. Metrics with the same counts share a row. */
function exclusionTable(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  const excluded = metrics.flatMap((metric) =>
    Object.entries(metric.exclusions)
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => ({ metric, cells: [spaced(reason), formatCount(count)] })),
  );
  const rows = groupBy(excluded, ({ metric, cells }) => JSON.stringify([metric.evaluator, ...cells]));
  return tableOf(
    'Answers excluded from a metric',
    ['Reason', numberColumn('Answers'), 'Metrics'],
    Array.from(rows.values(), (those) => [
      ...(those[0]?.cells ?? []),
      listed(
        those.map(({ metric }) => metricTitle(metric)),
        6,
      ),
    ]),
  );
}

/** Lists the number of answers without a value of each group. */
function missingTable(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  return tableOf(
    'Answers without a value, by group',
    ['Metrics', 'Group', numberColumn('Without a value')],
    missingByGroup(metrics).flatMap(({ metrics: those, byGroup }) =>
      byGroup.map(([group, count]) => [listed(those.map(metricTitle), 6), labelText(group), formatCount(count)]),
    ),
  );
}

/**
 * Counts the answers without a recognized decision, for each value. Returns an empty list if every answer or no answer
 * has a decision.
 */
function undecidedBlocks({ transcripts }: LlmEvalResult): ReportBlock[] {
  const answers = transcripts
    .filter(({ evaluator, dimension }) => evaluator === 'counterfactual' && dimension !== null)
    .flatMap(({ text, dimension, group }) =>
      text === null
        ? []
        : [{ text, dimension: dimension ?? '', group: group ?? '', isRead: readDecision(text) !== null }],
    );
  const unread = answers.filter(({ isRead }) => !isRead);
  if (unread.length === 0 || unread.length === answers.length) return [];
  const rows = groupBy(answers, ({ dimension, group }) => JSON.stringify([dimension, group]));
  return [
    ...tableOf(
      'Answers with no readable decision',
      ['Dimension', 'Value', numberColumn('Without a decision'), numberColumn('Answers')],
      Array.from(rows.values(), (all) => [
        ...[labelText(all[0]?.dimension ?? ''), labelText(all[0]?.group ?? '')],
        ...[formatCount(all.filter(({ isRead }) => !isRead).length), formatCount(all.length)],
      ]),
    ),
    { kind: 'paragraph', text: 'The decision gap excludes these answers. The first answers of each value:' },
    { kind: 'list', items: undecidedExamples(unread) },
  ];
}

/** Lists the answers from which a declared outcome or a custom metric could not be read, by reason, with examples. */
function unreadBlocks({ unread = [] }: LlmEvalResult): ReportBlock[] {
  if (unread.length === 0) return [];
  const shown = (text: string): string => shortenLabel(shownText(text), EXAMPLE_WIDTH) || '(no text)';
  return tableOf(
    'Answers from which an outcome could not be read',
    ['Outcome', 'Reason', numberColumn('Answers'), 'Examples'],
    unread.map(({ outcome, reason, count, examples }) => [
      ...[labelText(outcome), reason, formatCount(count)],
      examples.map((text) => shown(text)).join(' | '),
    ]),
  );
}

function undecidedExamples(unread: readonly { readonly text: string; readonly group: string }[]): string[] {
  const lines = [...groupBy(unread, ({ group }) => group)].flatMap(([group, those]) => {
    const shown = new Set(those.map(({ text }) => shortenLabel(shownText(text), EXAMPLE_WIDTH) || '(no text)'));
    return [...shown].slice(0, MAX_EXAMPLES).map((text) => `${labelText(group)}: ${text}`);
  });
  return cutItems(lines);
}

/** Lists groups that were excluded because they are too small. */
function groupNotes(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  const items = metrics.flatMap((metric) =>
    Object.entries(metric.excluded).map(
      ([group, { n, reason }]) => `${metricTitle(metric)}: ${labelText(group)} (n = ${formatCount(n)}): ${reason}`,
    ),
  );
  return items.length === 0 ? [] : [{ kind: 'note', title: 'Excluded groups', items: cutItems(items) }];
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}

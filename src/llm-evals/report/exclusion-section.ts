import { shortenLabel } from '../../charts/chart.ts';
import { numberColumn, type ReportBlock } from '../../document/report-document.ts';
import { cutItems, labelText, listed, shownText } from '../../document/report-text.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { readDecision } from '../scoring/read-decision.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { metricTitle, tableOf } from './report-words.ts';

/**
 * The maximum number of unclear answers shown for each value. `EXAMPLE_WIDTH` is the maximum number of characters of
 * each.
 */
const MAX_EXAMPLES = 3;
const EXAMPLE_WIDTH = 160;

/**
 * Builds the section on failed and excluded answers, with their reasons. If nothing is missing, the section says so.
 */
export function exclusionBlocks(result: LlmEvalResult): ReportBlock[] {
  const metrics = Object.values(result.metrics);
  const blocks = [
    ...problemTable(result),
    ...exclusionTable(metrics),
    ...undecidedBlocks(result),
    ...groupNotes(metrics),
  ];
  return blocks.length > 0
    ? blocks
    : [{ kind: 'paragraph', text: 'None: every planned answer was received and included in the metrics.' }];
}

/** Lists prompts without an answer, by kind of error. */
function problemTable({ transcripts, actual }: LlmEvalResult): ReportBlock[] {
  const problems = new Map<string, { keys: Set<string>; example: string }>();
  for (const { error, key } of transcripts) {
    if (error === null) continue;
    const known = problems.get(error.kind) ?? { keys: new Set<string>(), example: error.message };
    // An answer that several evaluators wait for counts once.
    problems.set(error.kind, { ...known, keys: known.keys.add(key) });
  }
  if (problems.size === 0 && actual.failed + actual.notSent === 0) return [];
  const rows = [...problems].map(([kind, { keys, example }]) => [
    kind === 'not_sent' ? 'not sent' : spaced(kind),
    formatCount(keys.size),
    example,
  ]);
  const failed = `${counted(actual.failed, 'prompt')} failed on every attempt`;
  const text = `${failed}, and ${formatCount(actual.notSent)} ${actual.notSent === 1 ? 'was' : 'were'} not sent.`;
  const columns = ['Reason', numberColumn('Answers'), 'First error'];
  return [{ kind: 'paragraph', text }, ...tableOf('Missing answers', columns, rows)];
}

/** Lists answers excluded from a metric, by reason. Metrics with the same counts share a row. */
function exclusionTable(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  const rows = new Map<string, { reason: string; count: number; titles: string[] }>();
  for (const metric of metrics) {
    for (const [reason, count] of Object.entries(metric.exclusions)) {
      if (count === 0) continue;
      const location = JSON.stringify([metric.evaluator, reason, count]);
      const known = rows.get(location);
      if (known === undefined) rows.set(location, { reason, count, titles: [metricTitle(metric)] });
      else known.titles.push(metricTitle(metric));
    }
  }
  return tableOf(
    'Answers excluded from a metric',
    ['Reason', numberColumn('Answers'), 'Metrics'],
    Array.from(rows.values(), ({ reason, count, titles }) => [spaced(reason), formatCount(count), listed(titles, 6)]),
  );
}

/**
 * Counts the answers of each value in which no decision could be read. Returns no blocks if no answer has a decision.
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
  const rows = new Map<string, { of: readonly string[]; unread: number; all: number }>();
  for (const { dimension, group, isRead } of answers) {
    const location = JSON.stringify([dimension, group]);
    const row = rows.get(location) ?? { of: [labelText(dimension), labelText(group)], unread: 0, all: 0 };
    rows.set(location, { ...row, unread: row.unread + (isRead ? 0 : 1), all: row.all + 1 });
  }
  return [
    ...tableOf(
      'Answers with no readable decision',
      ['Dimension', 'Value', numberColumn('Without a decision'), numberColumn('Answers')],
      Array.from(rows.values(), ({ of, unread: count, all }) => [...of, formatCount(count), formatCount(all)]),
    ),
    { kind: 'paragraph', text: 'The decision gap excludes them. The first of each value:' },
    { kind: 'list', items: undecidedExamples(unread) },
  ];
}

function undecidedExamples(unread: readonly { readonly text: string; readonly group: string }[]): string[] {
  const examples = new Map<string, Set<string>>();
  for (const { text, group } of unread) {
    const shown = examples.get(group) ?? new Set<string>();
    examples.set(group, shown);
    if (shown.size < MAX_EXAMPLES) shown.add(shortenLabel(shownText(text), EXAMPLE_WIDTH) || '(no text)');
  }
  return cutItems([...examples].flatMap(([group, shown]) => [...shown].map((text) => `${labelText(group)}: ${text}`)));
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

import { capital, formatLevel, formatNumber, pValueWords, rangeText, type Unit } from '../internal/format.ts';
import { isDecisionRate } from './measures/index.ts';
import type { MetricResultFields } from './metric-result-fields.ts';

/** Characters that change the direction of the text after them. */
const TURNING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes text from data so that Markdown shows it unchanged, on one line. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, ' ')
    .replaceAll(TURNING, '\ufffd')
    .replaceAll(/([\\`*_|<>[\]])/g, '\\$1');
}

/** Renders a Markdown table of Markdown cells. Columns are padded so that the source is readable too. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Renders a metric result as a Markdown section: the value with its interval, a table of groups, and notes. */
export function metricToMarkdown(result: MetricResultFields): string {
  const notes = notesOf(result);
  return [
    `### ${inWords(result.metric)}`,
    '',
    headline(result),
    ...comparisonNote(result),
    ...gapNote(result),
    ...groupTable(result),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

/** Converts a snake_case name to words, with a capital first letter and abbreviations in capitals. */
export function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/\b(roc auc|mae|rmse|f1|r2)\b/g, (short) => short.toUpperCase());
  return capital(words);
}

/** Returns the unit of a measure by its name, which may end with a class of a multiclass outcome. */
export function unitOf(measure: string): Unit {
  return isDecisionRate(measure.replace(/ of '.*'$/s, '')) ? 'share' : 'number';
}

/** Describes how groups were compared, unless the defaults were used. */
function comparisonNote({ method, referenceGroup, agg, compat }: MetricResultFields): string[] {
  const parts = [
    ...(referenceGroup === null ? [] : [`compared with ${escapeMarkdown(referenceGroup)}`]),
    ...(method === 'to_overall' ? ['compared with all rows'] : []),
    ...(agg === 'mean' ? ['the mean of the gaps'] : []),
    ...(compat === null ? [] : [`by the conventions of ${compat}`]),
  ];
  return parts.length === 0 ? [] : ['', `${inWords(parts.join(', '))}.`];
}

/** Describes the groups that determine the value. */
function gapNote({ first, second, compat }: MetricResultFields): string[] {
  if (first === null) return [];
  if (second === null) return ['', `Gap between ${escapeMarkdown(first)} and all rows.`];
  const between = `between ${escapeMarkdown(first)} and ${escapeMarkdown(second)}`;
  return ['', `Gap ${between}${compat === 'aif360' ? ', in this order' : ''}.`];
}

function headline(result: MetricResultFields): string {
  const { undefinedReason, value, ci, ciLevel, effectSize, effectSizeName, pValue, minimumDetectableGap } = result;
  const shown = undefinedReason === null ? formatNumber(value) : `undefined (${escapeMarkdown(undefinedReason)})`;
  return [
    `**${shown}**`,
    ...(ci === null ? [] : [`${formatLevel(ciLevel ?? 0)} interval ${rangeText(ci, (end) => formatNumber(end))}`]),
    ...(effectSize === null
      ? []
      : [`${effectSizeName === 'cohens_d' ? "Cohen's d" : 'risk ratio'} ${formatNumber(effectSize, 2)}`]),
    ...(pValue === null ? [] : [pValueWords(pValue)]),
    ...(minimumDetectableGap === null
      ? []
      : [`minimum detectable difference ${formatNumber(minimumDetectableGap, 3)} (80% power)`]),
  ].join(', ');
}

function groupTable({ perGroup, perGroupCi, nPerGroup }: MetricResultFields): string[] {
  const measures = [...new Set(Object.values(perGroup).flatMap((group) => Object.keys(group)))];
  const rows = Object.entries(perGroup).map(([label, group]) => [
    escapeMarkdown(label),
    String(nPerGroup[label] ?? 0),
    ...measures.map((measure) => {
      const interval = perGroupCi?.[label]?.[measure];
      const range =
        interval === undefined || interval === null ? '' : ` (${rangeText(interval, (end) => formatNumber(end, 3))})`;
      return `${formatNumber(group[measure] ?? NaN)}${range}`;
    }),
  ]);
  return rows.length === 0 ? [] : ['', markdownTable(['group', 'n', ...measures.map(inWords)], rows)];
}

function notesOf({ excluded, nDropped, missing, warnings }: MetricResultFields): string[] {
  const worstCase = missing === null || missing.n === 0 ? null : missing.worstCase;
  return [
    ...Object.entries(excluded).map(
      ([label, { n, reason }]) => `- Excluded: ${escapeMarkdown(label)} (n = ${String(n)}): ${escapeMarkdown(reason)}`,
    ),
    ...(nDropped > 0 ? [`- ${String(nDropped)} ${nDropped === 1 ? 'row' : 'rows'} with missing values excluded`] : []),
    ...(worstCase === null
      ? []
      : [`- Worst case over the rows with missing values: ${worstCase.map((end) => formatNumber(end)).join(' to ')}`]),
    ...warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`),
  ];
}

import type { MetricResultFields } from './metric-result-fields.ts';

/** Characters that turn the direction of what follows them. */
const TURNING = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from data as Markdown that shows it as it is, on one line. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s*[\r\n]+\s*/g, ' ')
    .replaceAll(TURNING, '\ufffd')
    .replaceAll(/([\\`*_|<>[\]])/g, '\\$1');
}

/** A Markdown table of cells that are Markdown; columns are padded so that the source reads as a table too. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** A metric result as a Markdown section: the value with its interval, a table of groups, then what to know of it. */
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

/** A snake_case name in words: the first letter large, and what is short for something in capitals. */
export function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/\b(roc auc|mae|rmse|f1|r2)\b/g, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number for people: four decimals, "undefined" for NaN. */
export function formatNumber(value: number, decimals = 4): string {
  if (Number.isNaN(value)) return 'undefined';
  return Number.isFinite(value) ? value.toFixed(decimals) : 'no bound';
}

/** A confidence level in per cent, without zeros at its end. */
export function formatPercent(level: number): string {
  return `${String(Number((100 * level).toFixed(6)))}%`;
}

/** How groups were compared, where it is not each with each by our own rules. */
function comparisonNote({ method, referenceGroup, agg, compat }: MetricResultFields): string[] {
  const parts = [
    ...(referenceGroup === null ? [] : [`compared with ${escapeMarkdown(referenceGroup)}`]),
    ...(method === 'to_overall' ? ['compared with all rows'] : []),
    ...(agg === 'mean' ? ['the mean of the gaps'] : []),
    ...(compat === null ? [] : [`by the conventions of ${compat}`]),
  ];
  return parts.length === 0 ? [] : ['', `${inWords(parts.join(', '))}.`];
}

/** The groups that the value is of. */
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
    ...(ci === null
      ? []
      : [`${formatPercent(ciLevel ?? 0)} interval ${formatNumber(ci[0])} to ${formatNumber(ci[1])}`]),
    ...(effectSize === null
      ? []
      : [`${effectSizeName === 'cohens_d' ? "Cohen's d" : 'risk ratio'} ${formatNumber(effectSize, 2)}`]),
    ...(pValue === null ? [] : [`p ${pValue < 0.001 ? '< 0.001' : `= ${pValue.toFixed(3)}`}`]),
    ...(minimumDetectableGap === null
      ? []
      : [`a gap of ${formatNumber(minimumDetectableGap, 3)} would have shown with probability 0.8`]),
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
        interval === undefined || interval === null
          ? ''
          : ` (${formatNumber(interval[0], 3)} to ${formatNumber(interval[1], 3)})`;
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
    ...(nDropped > 0 ? [`- ${String(nDropped)} ${nDropped === 1 ? 'row' : 'rows'} with missing values left out`] : []),
    ...(worstCase === null
      ? []
      : [`- Worst case over the rows with missing values: ${worstCase.map((end) => formatNumber(end)).join(' to ')}`]),
    ...warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`),
  ];
}

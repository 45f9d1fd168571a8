import { type Html, markup } from '../../internal/html.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { capital, intervalName } from './metric-charts.ts';
import type { ReportedValidation, ReportEntry } from './report-entries.ts';
import { tableCount, tableNumber } from './report-numbers.ts';
import { cell, headerCell, scrollingTable } from '../../document/report-table.ts';

const VERDICTS = {
  pass: { sign: '\u2713', word: 'PASS' },
  fail: { sign: '\u2717', word: 'FAIL' },
  none: { sign: '\u2013', word: 'No threshold, no verdict' },
} as const;

/** The verdict with the sentence of the gate on each attribute. */
export function verdictBox({ passed, threshold, gates }: ReportedValidation): Html {
  const kind = passed === null ? 'none' : passed ? 'pass' : 'fail';
  const { sign, word } = VERDICTS[kind];
  const sentences = gates.map(
    ({ attribute, message }) => markup`<li><strong><bdi>${attribute}</bdi></strong>: ${message}</li>`,
  );
  return markup`<section class="verdict ${kind}" aria-labelledby="verdict">
<h2 id="verdict"><span aria-hidden="true">${sign}</span> ${word}${threshold !== null && markup` <small>at threshold ${threshold}</small>`}</h2>
${passed === null ? markup`<p>This report measures and does not judge.</p>` : markup`<ul>${sentences}</ul>`}
</section>`;
}

/** All values on one screen; of a single metric its own section says as much. */
export function overview(entries: readonly ReportEntry[]): Html | false {
  if (entries.length < 2) return false;
  const levels = new Set(entries.flatMap(({ result: { ciLevel } }) => ciLevel ?? []));
  const rows = entries.map(({ attribute, result: { metric, value, ci, excluded }, id }) => [
    headerCell(attribute, 'row'),
    cell(markup`<a href="#${id}">${inWords(metric)}</a>`),
    cell(tableNumber(value), 'number'),
    cell(ci === null ? 'none' : `${tableNumber(ci[0])} to ${tableNumber(ci[1])}`, 'number'),
    cell(tableCount(Object.keys(excluded).length), 'number'),
  ]);
  const interval = capital(intervalName(levels.size === 1 ? ([...levels][0] ?? null) : null));
  const header = [
    headerCell('Attribute', 'col'),
    headerCell('Metric', 'col'),
    ...['Value', interval, 'Groups excluded'].map((name) => headerCell(name, 'col', 'number')),
  ];
  return markup`<section aria-label="All metrics">${scrollingTable('All metrics', header, rows)}</section>`;
}

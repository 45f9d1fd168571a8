import { headerCell } from '../../document/report-table.ts';
import { type Html, markup } from '../../internal/html.ts';
import { heatTable } from './crossed-table.ts';
import type { CrossedCells } from './monitoring-view.ts';

/** A crossing as a table whose cells are coloured by their rate: the numbers stand in it, so it needs no other table. */
export function heatToHtml(crossing: CrossedCells): Html {
  const { title, rowName, columnName, columns, rows, steps, remarks } = heatTable(crossing);
  const caption = `${title}. Rows: ${rowName}; columns: ${columnName}`;
  return markup`<div class="scroll heat" role="group" aria-label="${caption}" tabindex="0">
<table>
<caption><span>${caption}</span></caption>
<thead><tr>${headerCell(rowName, 'col')}${columns.map((name) => headerCell(name, 'col'))}</tr></thead>
<tbody>
${rows.map(
  ({ label, cells }) =>
    markup`<tr>${headerCell(label, 'row')}${cells.map(
      ({ text, events, step }) =>
        markup`<td class="${step === null ? 'none' : `heat-${String(step)}`}">${text}${events !== null && markup`<small>n: ${events}</small>`}</td>`,
    )}</tr>\n`,
)}</tbody>
</table>
</div>
<ul class="legend">${steps.map((label, step) => markup`<li><span class="swatch heat-${step}"></span>${label}</li>\n`)}</ul>
${remarks.map((text) => markup`<p class="remark">${text}</p>\n`)}`;
}

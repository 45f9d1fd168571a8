import { type Html, markup } from '../internal/html.ts';

/** The kind of content in a cell, which determines the alignment of the cell. */
export type CellKind = 'text' | 'number';

/** Renders a header cell. The writing direction of the text does not affect the surrounding text. */
export function headerCell(text: string, scope: 'col' | 'row', kind: CellKind = 'text'): Html {
  return markup`<th scope="${scope}"${kind === 'number' && markup` class="number"`}><bdi>${text}</bdi></th>`;
}

/** Renders a cell with text or markup. */
export function cell(content: string | Html, kind: CellKind = 'text'): Html {
  return markup`<td${kind === 'number' && markup` class="number"`}>${content}</td>`;
}

/** The number of columns from which a table has smaller margins, so that the table fits the page. */
const MANY_COLUMNS = 7;

/** Renders a table that scrolls on a narrow page, also by keyboard. */
export function scrollingTable(caption: string, header: readonly Html[], rows: readonly (readonly Html[])[]): Html {
  return markup`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
<table${header.length >= MANY_COLUMNS && markup` class="close"`}>
<caption><span>${caption}</span></caption>
<thead><tr>${header}</tr></thead>
<tbody>
${rows.map((cells) => markup`<tr>${cells}</tr>\n`)}</tbody>
</table>
</div>`;
}

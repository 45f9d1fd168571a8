/** Elements that have no end tag. */
const VOID = new Set(['meta', 'br']);

/** Returns errors in the nesting of the tags of a page. */
export function unbalancedTags(html: string): string[] {
  const open: string[] = [];
  const body = html.replace(/^<!doctype html>\n/, '').replace(/<style>.*?<\/style>/s, '');
  for (const [, slash, name = ''] of body.matchAll(
    /<(\/?)([a-z][a-zA-Z0-9]*)(?: [a-z:A-Z-]+="[^"<>]*"| [a-z:A-Z-]+='[^']*')* ?>/g,
  )) {
    if (VOID.has(name)) continue;
    if (slash !== '/') open.push(name);
    else if (open.at(-1) === name) open.pop();
    else return [`</${name}> inside ${open.join(' ')}`];
  }
  return open;
}

/** Returns the headings of the first two levels, in order, as text. */
export function headingsOf(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^##? (.*)$/gm), ([, title = '']) => plain(title));
}

/** Returns the cells of the table under a caption, as text, without the header. */
export function tableUnder(markdown: string, caption: string): string[][] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => plain(line) === `${caption}:`);
  if (start < 0) throw new Error(`no table '${caption}'`);
  const rows = lines.slice(start + 2);
  return rows.slice(2, rows.indexOf('')).map((line) => cellsOf(line).map((cell) => plain(cell.trim())));
}

/** Returns the number of cells of each row of each table. */
export function columnCounts(markdown: string): number[][] {
  const tables: number[][] = [];
  let isInside = false;
  for (const line of markdown.split('\n')) {
    const isRow = line.startsWith('| ');
    if (isRow && !isInside) tables.push([]);
    if (isRow) tables.at(-1)?.push(cellsOf(line).length);
    isInside = isRow;
  }
  return tables;
}

/** Splits a row into cells; a pipe after a backslash is part of a cell. */
function cellsOf(line: string): string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1);
}

/** Returns a text without its escaping backslashes. */
function plain(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}

import type { ReportColumn, ReportTable } from './report-document.ts';
import { plainText } from './report-text.ts';
import { cutText, displayWidth, padText, wrapText } from './text-width.ts';

/** The space between two columns. */
const GAP = '  ';

/**
 * The width in terminal columns to which texts are shortened first. If the table is still too wide, columns are left
 * out.
 */
const MIN_TEXT = 16;

/** The maximum length of a word that is not broken, in columns that wrap. */
const MAX_WORD = 28;

/**
 * The width in terminal columns to which texts are shortened in a table with only the first column and the essential
 * columns.
 */
const MIN_LAST = 6;

/** A column of a table with its texts. */
interface TextColumn extends ReportColumn {
  readonly cells: readonly string[];
}

/** A table as lines of text, and the names of the columns that were left out. */
interface TextTable {
  readonly header: readonly string[];
  readonly rule: string;
  readonly rows: readonly string[];
  readonly leftOut: readonly string[];
}

/**
 * Renders a table as lines of at most `width` terminal columns. If a table is too wide, column names are first wrapped
 * to several lines, then texts are shortened, and last, columns are left out.
 */
export function tableToText({ columns, rows }: Pick<ReportTable, 'columns' | 'rows'>, width: number): TextTable {
  const all = columns
    .map((column, index): TextColumn => {
      return { ...column, name: plainText(column.name), cells: rows.map((row) => plainText(row[index] ?? '')) };
    })
    .filter(({ name, cells }, index) => index === 0 || widest([name, ...cells]) > 0);
  const shown = columnsThatFit(all, width);
  const widths =
    columnWidths(shown, width, MIN_TEXT) ??
    columnWidths(shown, width, MIN_LAST) ??
    columnWidths(shown, width, MIN_LAST, MIN_LAST) ??
    shown.map(minWidth);
  const names = shown.map(({ name }, index) => wrapText(name, widths[index] ?? 0));
  const height = Math.max(1, ...names.map((lines) => lines.length));
  const header = names.map((lines) => [...Array<string>(height - lines.length).fill(''), ...lines]);
  const cells = shown.map((column, index) => cellLines(column, widths[index] ?? 0));
  return {
    header: linesOf(shown, header, widths),
    rule: widths.map((each) => '─'.repeat(each)).join(GAP),
    rows: rows.flatMap((_, row) => linesOf(shown, cells.map((lines) => lines[row] ?? []), widths)), // prettier-ignore
    leftOut: all.filter((column) => !shown.includes(column)).map(({ name }) => name),
  };
}

/**
 * Leaves out columns, starting from the right, until the table fits. The first column and essential columns are always
 * kept.
 */
function columnsThatFit(columns: readonly TextColumn[], width: number): readonly TextColumn[] {
  if (columnWidths(columns, width, MIN_TEXT) !== undefined) return columns;
  const index = columns.findLastIndex(({ isEssential }, position) => position > 0 && isEssential !== true);
  return index < 0 ? columns : columnsThatFit(columns.toSpliced(index, 1), width);
}

/**
 * Returns the widths of columns in a table that fits, or undefined if it does not fit with texts of `minText`, or with
 * words of `maxWord` in the columns that wrap.
 */
function columnWidths(
  columns: readonly TextColumn[],
  width: number,
  minText: number,
  maxWord = MAX_WORD,
): number[] | undefined {
  const room = width - GAP.length * (columns.length - 1);
  const full = columns.map(({ name, cells }) => widest([name, ...cells]));
  if (sum(full) <= room) return full;
  const widths = columns.map(({ name, cells }) => widest([...name.split(' '), ...cells]));
  const least = columns.map((column) =>
    column.isNumber === true ? Infinity : Math.max(minText, nameWidth(column), wordWidth(column, maxWord)),
  );
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const longest = Math.max(...widths.filter((each, index) => each > (least[index] ?? 0)));
    const index = widths.findIndex((each, position) => each === longest && each > (least[position] ?? 0));
    if (index < 0) return undefined;
    widths[index] = longest - 1;
  }
  return spread(widths, full, room).map((each, index) => Math.min(each, usedWidth(columns[index], each)));
}

/** Distributes the remaining space, from left to right, to columns whose names or cells are cut or wrapped. */
function spread(widths: readonly number[], full: readonly number[], room: number): number[] {
  let free = room - sum(widths);
  return widths.map((each, index) => {
    const added = Math.min(free, (full[index] ?? each) - each);
    free -= added;
    return each + added;
  });
}

/** Returns the width that a column needs if its name is wrapped. */
function usedWidth(column: TextColumn | undefined, width: number): number {
  return column === undefined ? width : widest([...wrapText(column.name, width), ...column.cells]);
}

function nameWidth({ name }: TextColumn): number {
  return widest(name.split(' '));
}

/** Returns the width that wrapping needs to keep words complete; words may be broken if they are very long. */
function wordWidth({ cells, wraps }: TextColumn, maxWord: number): number {
  return wraps === true ? Math.min(maxWord, widest(cells.flatMap((cell) => cell.split(' ')))) : 0;
}

/** The minimum width of a column in a table that is too wide. */
function minWidth(column: TextColumn): number {
  return column.isNumber === true
    ? widest([...column.name.split(' '), ...column.cells])
    : Math.max(MIN_LAST, nameWidth(column));
}

/** Returns the lines of each cell of a column. Texts are wrapped if shortening would make two different texts equal. */
function cellLines({ cells, wraps }: TextColumn, width: number): (readonly string[])[] {
  const cut = cells.map((cell) => cutText(cell, width));
  const isClear = new Set(cut).size === new Set(cells).size;
  return wraps !== true && isClear ? cut.map((text) => [text]) : cells.map((text) => wrapText(text, width, true));
}

/** Joins the cells of a row. A cell may have several lines. */
function linesOf(
  columns: readonly TextColumn[],
  cells: readonly (readonly string[])[],
  widths: readonly number[],
): string[] {
  return Array.from({ length: Math.max(1, ...cells.map((lines) => lines.length)) }, (_, line) =>
    columns
      .map(({ isNumber }, index) =>
        padText(cells[index]?.[line] ?? '', widths[index] ?? 0, isNumber === true ? 'start' : 'end'),
      )
      .join(GAP)
      .trimEnd(),
  );
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

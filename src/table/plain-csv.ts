import { type Column, numbersOf } from './column.ts';
import { encodeLabels } from './encode-labels.ts';
import { Table } from './table.ts';

/** The columns to read from a text table. */
export interface PlainCsvColumns {
  /** Columns of decisions and true labels. */
  readonly outcomes: readonly string[];
  /** Columns of groups. */
  readonly groups: readonly string[];
}

/** The delimiters that a text table may have, in order of preference; reversed if numbers have a decimal comma. */
const DELIMITERS = [',', '\t', ';', '|'] as const;

/**
 * The maximum number of rows. DuckDB determines the types of columns from the first 20,480 rows, so it sees every row
 * of such a table.
 */
const MAX_ROWS = 20_000;

/** The maximum number of columns. DuckDB reads wider tables, and reports too wide ones. */
const MAX_COLUMNS = 1000;

/** Control characters besides tabs, and byte order marks, which some readers drop. Line ends are removed first. */
// eslint-disable-next-line no-control-regex -- these characters are intended
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\ufeff]/;

/** Matches an integer that is written in only one way, and has the same digits as float64. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/**
 * Matches a text that no reader takes for a number: it starts with another character than a number, a space or the mark
 * of a spreadsheet, or it is a range such as 18-25.
 */
const TEXT = /^(?!nan|inf)[^\s\d+\-.'][^]*$|^\d+-\d+$/i;

/**
 * Reads columns of a text table of the plain form that programs write. Everything else is left to DuckDB, so that both
 * give equal results: a table is plain if each line has the same number of fields, quotes enclose a complete field, and
 * the values of each requested column are either integers or texts that cannot be numbers. It uses no function of Node.
 * @returns the columns: outcomes of integers are numeric, all other columns categorical; an empty field is missing.
 *   undefined if the table is not plain, lacks a column, or has no rows or more than 20,000
 */
export function parsePlainCsv(text: string, { outcomes, groups }: PlainCsvColumns): Table | undefined {
  const lines = plainLines(text);
  const [first = '', ...rows] = lines ?? [];
  const { delimiter } = splitHeader(first);
  const names = splitLine(first, delimiter);
  if (names === undefined || rows.length === 0 || rows.length > MAX_ROWS || !arePlainNames(names)) return undefined;
  if (groups.some((name) => outcomes.includes(name))) return undefined;
  const wanted = [...new Set([...outcomes, ...groups])];
  const indexes = wanted.map((name) => names.indexOf(name));
  if (indexes.includes(-1)) return undefined;
  const values: string[][] = wanted.map(() => []);
  for (const line of rows) {
    const fields = splitLine(line, delimiter);
    if (fields?.length !== names.length) return undefined;
    indexes.forEach((index, column) => values[column]?.push(fields[index] as string));
  }
  const columns: [string, Column][] = [];
  for (const [index, name] of wanted.entries()) {
    const column = toColumn(values[index] as string[], outcomes.includes(name));
    if (column === undefined) return undefined;
    columns.push([name, column]);
  }
  return Table.ofColumns(columns);
}

/**
 * Returns the delimiter of a text table: the one that occurs most often in the header, outside quotes. Only the header
 * determines it. If rows did, a ragged file could pass as a table with another delimiter.
 * @returns the delimiter, and the number of fields of the header
 */
export function splitHeader(
  line: string,
  decimal: '.' | ',' = '.',
): { readonly delimiter: string; readonly count: number } {
  const delimiters = decimal === ',' ? [...DELIMITERS].reverse() : DELIMITERS;
  const unquoted = line.replaceAll(/"[^"]*"?/g, '');
  const counts = delimiters.map((delimiter) => unquoted.length - unquoted.replaceAll(delimiter, '').length + 1);
  const count = Math.max(...counts);
  return { delimiter: delimiters[counts.indexOf(count)] ?? ',', count };
}

/** Returns the lines if all have the same line end, none is blank, and there are no control characters. */
function plainLines(text: string): string[] | undefined {
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const lines = text.split(lineEnd);
  if (lines.at(-1) === '') lines.pop();
  const isPlain = lines.every((line) => line.trim() !== '' && !line.includes('\n') && !CONTROLS.test(line));
  return isPlain ? lines : undefined;
}

/** Returns whether all names are distinct, also for SQL, which ignores case, and none is empty or needs care. */
function arePlainNames(names: readonly string[]): boolean {
  return (
    names.length <= MAX_COLUMNS &&
    new Set(names.map((name) => name.toLowerCase())).size === names.length &&
    names.every((name) => name !== '' && name.trim() === name && !name.includes('"'))
  );
}

/** Returns the fields of a line; undefined if a quote neither encloses a complete field nor is doubled inside one. */
function splitLine(line: string, delimiter: string): string[] | undefined {
  if (!line.includes('"')) return line.split(delimiter);
  const fields: string[] = [];
  let start = 0;
  for (;;) {
    let end = line.indexOf(delimiter, start);
    if (line[start] === '"') {
      end = closingQuote(line, start) + 1;
      if (end === 0 || (end < line.length && line[end] !== delimiter)) return undefined;
      fields.push(line.slice(start + 1, end - 1).replaceAll('""', '"'));
    } else {
      if (end < 0) end = line.length;
      const field = line.slice(start, end);
      if (field.includes('"')) return undefined;
      fields.push(field);
    }
    if (end >= line.length) return fields;
    start = end + 1;
  }
}

/** Returns the index of the quote that closes the one at `open`; -1 if there is none. */
function closingQuote(line: string, open: number): number {
  let index = line.indexOf('"', open + 1);
  while (index >= 0 && line[index + 1] === '"') index = line.indexOf('"', index + 2);
  return index;
}

/** Returns the values of a column; undefined if other readers might read some of them differently. */
function toColumn(values: readonly string[], isOutcome: boolean): Column | undefined {
  const column = encodeLabels(values.length, (row) => (values[row] === '' ? undefined : values[row]));
  if (column.labels.length === 0 || column.labels.some((label) => label.startsWith("'"))) return undefined;
  if (column.labels.every((label) => INTEGER.test(label))) return isOutcome ? numbersOf(column) : column;
  return column.labels.some((label) => TEXT.test(label)) ? column : undefined;
}

import { DataValidationError } from '../../../exceptions/index.ts';
import { RECORD_FIELDS } from '../record-lines.ts';

/** A CSV field. An empty field is text if it is quoted, and missing otherwise. */
export interface CsvField {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Matches the next field of a row, with or without quotes, followed by a comma or the end of the row. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",\n\r]*))(,|$)/y;

/** Parses the fields of a row without its line ending (RFC 4180). Returns undefined if quotes are invalid. */
export function parseCsvRow(row: string): CsvField[] | undefined {
  if (!row.includes('"')) return row.split(',').map((text) => ({ text, isQuoted: false }));
  const fields: CsvField[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const found = FIELD.exec(row);
    if (found === null) return undefined;
    const [, quoted, plain, separator] = found as unknown as [string, string | undefined, string | undefined, string];
    fields.push({ text: quoted?.replaceAll('""', '"') ?? plain ?? '', isQuoted: quoted !== undefined });
    if (separator === '') return fields;
  }
}

/** Returns whether every quote of a text is closed. */
export function areQuotesClosed(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count % 2 === 0;
}

/** The column indices of a CSV file's fields; -1 for a missing column. */
export interface RecordLayout extends Readonly<Record<(typeof RECORD_FIELDS)[number], number>> {
  /**
   * The kind of layout: `own` if a record store writes this layout, `older` if the time column has a different name,
   * and `other` otherwise.
   */
  readonly kind: 'own' | 'older' | 'other';
  readonly columnCount: number;
  /** Whether the times are in a column without a name. Such a column could also contain row numbers. */
  readonly isTimeUnnamed: boolean;
}

const REQUIRED = ['metric', 'value', 'n'] as const;

/**
 * Finds the columns from a header's names. The time column is `time`. If there is no `time`, it is `timestamp`, and
 * otherwise the first column, if that column has no name.
 */
export function findLayout(names: readonly string[]): RecordLayout {
  const trimmed = names.map((name) => name.trim());
  const at = (name: string): number => trimmed.indexOf(name);
  const named = at('time') >= 0 ? at('time') : at('timestamp');
  const isTimeUnnamed = named < 0 && trimmed[0] === '';
  const time = isTimeUnnamed ? 0 : named;
  const isOwn = trimmed.join() === RECORD_FIELDS.join();
  const isOlder = at('time') < 0 && time >= 0 && REQUIRED.every((name) => at(name) >= 0);
  const indices = { metric: at('metric'), attribute: at('attribute'), group: at('group'), window: at('window') };
  const numbers = { value: at('value'), n: at('n'), low: at('low'), high: at('high') };
  const kind = isOwn ? 'own' : isOlder ? 'older' : 'other';
  return { kind, columnCount: names.length, time, isTimeUnnamed, ...indices, ...numbers };
}

/**
 * Checks that records can be read with a layout.
 * @throws {DataValidationError} if columns are missing; the error names them
 */
export function requireReadable(layout: RecordLayout, names: readonly string[], path: string): void {
  const missing: string[] = REQUIRED.filter((name) => layout[name] < 0);
  if (layout.time < 0) missing.unshift('time or timestamp');
  if (missing.length === 0) return;
  throw new DataValidationError(
    `'${path}' does not contain monitoring records. Missing columns: ${missing.join(', ')}.`,
    {
      code: 'unknown-column',
      context: { path, line: 1, missing, columns: names },
      suggestion: `Its columns are ${names.join(', ')}; pass the path of a file that a record store wrote.`,
    },
  );
}

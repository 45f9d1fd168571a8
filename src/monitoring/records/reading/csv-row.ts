/** A field of CSV; an empty one that was quoted is a text, one that was not is missing. */
export interface CsvField {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** A field from where the last one ended: quoted, or without any quote; then a comma or the end. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^",\n\r]*))(,|$)/y;

/** The fields of a row without its line end (RFC 4180); undefined where quotes are not as they should be. */
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

/** Whether every quote of a text is closed. */
export function areQuotesClosed(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count % 2 === 0;
}

import { createReadStream } from 'node:fs';

import type { DataValidationError } from '../exceptions/index.ts';
import { utf8Lines } from '../internal/decode-utf8.ts';
import { findJsonFault } from '../internal/strict-json.ts';
import { cannotRead } from './csv-header.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

/** The extensions of files with one JSON object a line. */
export const NDJSON_EXTENSIONS = /\.(ndjson|jsonl)$/i;

/** What SQL may take for numbers; all else stays the text that it is, as dates would be written in another way. */
const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN)$/;

/**
 * What stands for a file of JSON objects, one a line, after FROM. Columns and their kinds are taken from all lines; one
 * that a line lacks is missing there.
 * @param pattern the path, as SQL takes it
 * @throws {DataValidationError} for a line that is no object, named by its number
 */
export async function ndjsonRelation(session: SqlSession, path: string, pattern: string): Promise<string> {
  const options = `format='newline_delimited', records=true, sample_size=-1, maximum_depth=2, convert_strings_to_integers=false`;
  const found = `read_json(${quoteLiteral(pattern)}, ${options})`;
  try {
    const rows = await session.rows(`DESCRIBE SELECT * FROM ${found}`);
    const columns = rows.map(([name, type]) => {
      const kind = NUMBERS.test(String(type)) ? String(type) : 'VARCHAR';
      return `${quoteIdentifier(String(name))}: '${kind}'`;
    });
    return `read_json(${quoteLiteral(pattern)}, format='newline_delimited', records=true, columns={${columns.join(', ')}})`;
  } catch (cause) {
    throw await explainNdjson(path, cause);
  }
}

/** Reads a file once more to name the line at fault. */
export async function explainNdjson(path: string, cause: unknown): Promise<DataValidationError> {
  let [number, objects] = [0, 0];
  for await (const line of utf8Lines(createReadStream(path), `'${path}'`)) {
    number++;
    if (line.trim() === '') continue;
    const fault = faultOfLine(line);
    if (fault !== undefined) {
      return cannotRead(path, `line ${String(number)}: ${fault}`, 'Write one JSON object on each line.', cause);
    }
    objects++;
  }
  if (objects === 0) return cannotRead(path, 'it has no line', 'Check the query or the filter that made it.', cause);
  return cannotRead(
    path,
    'its lines do not make a table',
    'Write one JSON object on each line, of plain values.',
    cause,
  );
}

function faultOfLine(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
    const fault = findJsonFault(line);
    return fault === undefined ? undefined : `${fault.pointer} ${fault.reason}`;
  } catch {
    return 'it is no JSON';
  }
}

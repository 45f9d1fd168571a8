import { createReadStream } from 'node:fs';

import type { DataValidationError } from '../exceptions/index.ts';
import { utf8Lines } from '../internal/decode-utf8.ts';
import { findJsonProblem } from '../internal/strict-json.ts';
import { type DataFile, isRemote } from '../schemas/data-source.ts';
import { cannotRead, filePattern } from './csv-header.ts';
import { describe, type Relation } from './relation.ts';
import { storageProblem } from './remote-files.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

/**
 * Matches the SQL types that are read as numbers. Values of all other types are read as text, because SQL would change
 * the text of some values, for example dates.
 */
const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN)$/;

/** Opens a file with one JSON object per line. */
export async function openNdjson(session: SqlSession, file: DataFile): Promise<Relation> {
  const pattern = filePattern(file.path);
  const relation = await ndjsonRelation(session, file, pattern);
  const columns = await describe(session, relation);
  const jsonLines = `read_ndjson_objects(${quoteLiteral(pattern)})`;
  return { title: `'${file.name}'`, relation, columns, ambiguous: [], jsonLines, csv: undefined };
}

/**
 * Returns the SQL expression after FROM for a file with one JSON object per line. The columns and their kinds are
 * determined from all lines. If a line lacks a column, the value is missing.
 * @param pattern the path as a SQL file pattern
 * @throws {DataValidationError} if a line is not an object; the error contains the line number
 */
async function ndjsonRelation(session: SqlSession, file: DataFile, pattern: string): Promise<string> {
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
    throw await explainNdjson(file, cause);
  }
}

/** Reads a file again to find the invalid line. */
export async function explainNdjson(file: DataFile, cause: unknown): Promise<DataValidationError> {
  const { path, name } = file;
  if (isRemote(path)) {
    const lost = await storageProblem([file], cause);
    return lost ?? cannotRead(name, 'its lines are not JSON objects', 'Write one JSON object on each line.', cause);
  }
  let [number, objects] = [0, 0];
  for await (const line of utf8Lines(createReadStream(path), `'${name}'`)) {
    number++;
    if (line.trim() === '') continue;
    const problem = problemOfLine(line);
    if (problem !== undefined) {
      return cannotRead(name, `line ${String(number)}: ${problem}`, 'Write one JSON object on each line.', cause);
    }
    objects++;
  }
  if (objects === 0)
    return cannotRead(name, 'it has no lines', 'Check the query or filter that created the file.', cause);
  return cannotRead(
    name,
    'its lines do not form a table',
    'Write one JSON object with plain values on each line.',
    cause,
  );
}

function problemOfLine(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not an object';
    const problem = findJsonProblem(line);
    return problem === undefined ? undefined : `${problem.pointer} ${problem.reason}`;
  } catch {
    return 'it is not JSON';
  }
}

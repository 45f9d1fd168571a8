import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { logQuietly } from './file/file-functions.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
import { CsvRecords, JsonRecords, type LineReader, problemAt } from './reading/line-readers.ts';
import { openRecordFiles, type RecordFile } from './reading/record-files.ts';
import { recordFormOf } from './record-forms.ts';
import { RecordLog } from './record-log.ts';

/** The number of bytes per read. */
const CHUNK_BYTES = 2 ** 18;

/** The maximum line length. A longer line is not a record and is not buffered. */
const MAX_LINE_LENGTH = 2 ** 20;

/**
 * Reads the records of a file that a record store wrote, including earlier rotated files (`path.1`, `path.2` …), in
 * order of time. Files are read in chunks, so that only their records are held in memory.
 *
 * Older CSV files are supported. In an older file, the time may be in a column `timestamp` at any position, or in a
 * first column without a name. The columns `metric`, `value` and `n` are required. If other columns are missing,
 * `attribute` is empty, `group`, `low` and `high` are null, and `window` is `sliding`. All other columns are ignored.
 * Times are in ISO 8601 (with T or a space, in UTC if no zone is given), or numbers since 1970. Numbers below 1e11 are
 * seconds, below 1e14 milliseconds, below 1e17 microseconds, and otherwise nanoseconds. An empty value or `nan` is
 * null.
 *
 * If the last line has no line ending, the writing process died before the line was complete. The line is skipped, and
 * a warning is logged. However, a last line that is a complete JSON object is kept.
 * @param path a path that ends in .csv, .ndjson or .jsonl
 * @returns an empty log if the file is empty
 * @throws {ValueError} if the extension is not supported
 * @throws {DataValidationError} if the file does not exist, columns are missing, or a line is invalid; the error gives
 *   the line number
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { readRecords } from 'evenhand/monitoring';
 *
 * writeFileSync('older.csv', 'metric,group,value,n,timestamp\nselection_rate,f,0.25,400,2023-01-31 12:00:00\n');
 * const log = await readRecords('older.csv');
 * console.log(log.toRecords()[0].timestamp, log.toTable().has('timestamp'));
 * // 2023-01-31T12:00:00.000Z false
 * ```
 */
export async function readRecords(path: string): Promise<RecordLog> {
  const { name } = recordFormOf(path);
  const files = await openRecordFiles(path);
  const log = new RecordLog();
  try {
    for (const file of files) {
      await readFile(file, name === 'csv' ? new CsvRecords(file.path) : new JsonRecords(file.path), log);
    }
  } finally {
    await Promise.all(files.map(({ handle }) => handle.close()));
  }
  return log;
}

async function readFile({ path, handle }: RecordFile, reader: LineReader, log: RecordLog): Promise<void> {
  const decoder = new Utf8Stream(path);
  let rest = '';
  let number = 1;
  for await (const chunk of handle.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false })) {
    const lines = (rest + decode(decoder, chunk as Uint8Array, path, number)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH)
      throw problemAt(path, number + lines.length, 'the line is too long for a record');
    log.append(lines.map((line) => reader.read(line, number++)).filter((record) => record !== undefined));
  }
  // If a line is truncated within a character, the decoder keeps the incomplete bytes.
  const end: 'whole' | 'cut' | MonitoringRecord = reader.finish(rest, number);
  if (end === 'cut') {
    logQuietly('warn', `the last line of '${path}' (line ${String(number)}) is incomplete and was skipped`);
  } else if (end !== 'whole') {
    log.append([end]);
  }
}

function decode(decoder: Utf8Stream, chunk: Uint8Array, path: string, line: number): string {
  try {
    return decoder.write(chunk);
  } catch (cause) {
    throw problemAt(path, line, 'the text is not UTF-8 in this line or soon after it', cause);
  }
}

import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { logQuietly } from './file/file-functions.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
import { CsvRecords } from './reading/csv-records.ts';
import { JsonRecords } from './reading/json-records.ts';
import { openRecordFiles, type RecordFile } from './reading/record-files.ts';
import { faultAt, type LineReader } from './reading/record-values.ts';
import { recordFormOf } from './record-forms.ts';
import { RecordLog } from './record-log.ts';

/** Bytes that are read at once. */
const CHUNK_BYTES = 2 ** 18;

/** A longer line is no record, and is not gathered. */
const MAX_LINE_LENGTH = 2 ** 20;

/**
 * Reads the records of a file that a record store wrote, after those of the
 * files put aside before it (`path.1`, `path.2` …), by time. Files are read piece by
 * piece; what is held in memory is the log.
 *
 * Older CSV files are read too. Their time may stand in a column `timestamp`
 * anywhere, or in a first column without a name; `metric`, `value` and `n` must be
 * there. Without `attribute` it is empty, without `group` or `low` and `high` they are
 * null, and without `window` it is sliding. Other columns are passed over. Times
 * are ISO 8601 with T or a space, in UTC where they name no zone, or numbers
 * since 1970: seconds below 1e11, milliseconds below 1e14, microseconds below
 * 1e17, else nanoseconds. An empty value or `nan` is null.
 *
 * A last line without its end was cut short when its process died: it is left
 * out, and the log says so (a JSON object that is complete is taken).
 * @param path ends in .csv, .ndjson or .jsonl
 * @returns empty where the file is
 * @throws {ValueError} for another extension
 * @throws {DataValidationError} where no such file is there, columns are missing, or a line is broken, with its number
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
    if (rest.length > MAX_LINE_LENGTH) throw faultAt(path, number + lines.length, 'it is too long for a record');
    log.append(lines.map((line) => reader.read(line, number++)).filter((record) => record !== undefined));
  }
  // Where a line is cut short within a character, the decoder keeps what there is of it.
  const end: 'whole' | 'cut' | MonitoringRecord = reader.finish(rest, number);
  if (end === 'cut') {
    logQuietly(
      'warn',
      `the last line of '${path}' (${String(number)}) has no end, so it was cut short and is left out`,
    );
  } else if (end !== 'whole') {
    log.append([end]);
  }
}

function decode(decoder: Utf8Stream, chunk: Uint8Array, path: string, line: number): string {
  try {
    return decoder.write(chunk);
  } catch (cause) {
    throw faultAt(path, line, 'here or soon after, the text is not UTF-8', cause);
  }
}

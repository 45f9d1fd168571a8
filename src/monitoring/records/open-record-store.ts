import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { type FileFunctions, SYSTEM_FILES } from './file/file-functions.ts';
import { LineWriter } from './file/line-writer.ts';
import { checkRecords, type RecordStore } from './monitoring-record.ts';
import { recordFormOf } from './record-forms.ts';

/** Options of {@link openRecordStore}. */
export interface RecordStoreOptions {
  /**
   * The maximum size of a file in bytes. A file that would exceed this size is rotated first.
   * @defaultValue 67_108_864 (64 MiB)
   */
  readonly maxBytes?: number | undefined;
  /**
   * The maximum number of files, including the current one; at least 2. The oldest file is removed if there would be
   * more files.
   * @defaultValue 10
   */
  readonly maxFiles?: number | undefined;
  /**
   * The maximum number of records that wait in memory while the file cannot be written. If there are more, the oldest
   * records are dropped and counted.
   * @defaultValue 100_000
   */
  readonly mostPending?: number | undefined;
  /**
   * Replacements for functions of `node:fs`, for tests.
   * @defaultValue the functions of `node:fs`
   */
  readonly files?: Partial<FileFunctions> | undefined;
}

const RECORD_STORE_OPTION_NAMES: OptionNames<RecordStoreOptions> = {
  maxBytes: true,
  maxFiles: true,
  mostPending: true,
  files: true,
};

/**
 * Opens a file to append records to: CSV (.csv) or one JSON object per line (.ndjson, .jsonl). Missing folders are
 * created.
 *
 * Each append is one write at the end of the file; existing content is never rewritten. Appended records are kept if
 * the process dies. A power failure can lose records that the disk has not stored yet (`close` waits for the disk). An
 * incomplete last line is removed when the file is opened. A CSV file of an older layout, with a `timestamp` column, is
 * rotated and kept.
 *
 * A file that would exceed `maxBytes` is renamed to `path.1`, the previous `path.1` to `path.2`, and so on. Each file
 * has its own header. Records are lost only when the oldest of more than `maxFiles` files is removed.
 *
 * While writing fails (for example, because the disk is full), records wait in memory, each append retries, and
 * `status()` gives the reason. One message is logged when writing starts to fail, and one when it works again. Records
 * in memory are lost if the process ends.
 *
 * Use a separate file for each process. If two processes append to the same file, their lines do not mix, and each
 * process notices when the other has rotated the file. However, records can be lost if both processes rotate the file
 * at the same moment, or if one process repairs the end of the file while the other writes.
 * @throws {ValueError} if the extension is not supported, or a limit is out of range
 * @throws {DataValidationError} if the file has unexpected columns or content (the file is left unchanged), or cannot
 *   be written for a permanent reason
 * @example
 * ```ts
 * import { openRecordStore, readRecords } from 'evenhand/monitoring';
 *
 * const store = openRecordStore('monitoring/records.csv');
 * store.append([
 *   {
 *     timestamp: '2024-05-01T00:00:00Z',
 *     metric: 'selection_rate',
 *     attribute: 'sex',
 *     group: 'female',
 *     window: 'sliding',
 *     value: 0.25,
 *     n: 400,
 *     low: 0.21,
 *     high: 0.29,
 *   },
 * ]);
 * store.close();
 * console.log(store.status());
 * console.log((await readRecords('monitoring/records.csv')).toRecords()[0].group);
 * // { written: 1, pending: 0, dropped: 0, problem: null }
 * // female
 * ```
 */
export function openRecordStore(path: string, options: RecordStoreOptions = {}): RecordStore {
  assertKnownOptions('openRecordStore', options, RECORD_STORE_OPTION_NAMES);
  const form = recordFormOf(path);
  const writer = new LineWriter({
    path,
    form,
    maxBytes: requireInteger('maxBytes', options.maxBytes ?? 64 * 2 ** 20, 1),
    maxFiles: requireInteger('maxFiles', options.maxFiles ?? 10, 2),
    mostPending: requireInteger('mostPending', options.mostPending ?? 100_000, 1),
    isFlushed: false,
    files: { ...SYSTEM_FILES, ...options.files },
    what: 'records',
  });
  return Object.freeze({
    append: (records) => {
      checkRecords(records);
      writer.append(records.map((record) => form.toLine(record)));
    },
    status: () => writer.status(),
    close: () => {
      writer.close();
    },
  } satisfies RecordStore);
}

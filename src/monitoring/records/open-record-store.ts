import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireWhole } from '../../stats/parameters.ts';
import { type FileFunctions, SYSTEM_FILES } from './file/file-functions.ts';
import { LineWriter } from './file/line-writer.ts';
import { checkRecords, type RecordStore } from './monitoring-record.ts';
import { recordFormOf } from './record-forms.ts';

/** Options of {@link openRecordStore}. */
export interface RecordStoreOptions {
  /**
   * A file that would grow beyond so many bytes is put aside first.
   * @defaultValue 67_108_864 (64 MiB)
   */
  readonly maxBytes?: number | undefined;
  /**
   * Files that are kept, the present one counted; at least 2. The oldest is removed when a new one would be one too many.
   * @defaultValue 10
   */
  readonly maxFiles?: number | undefined;
  /**
   * Records that wait in memory while the file cannot be written; beyond, the oldest are dropped and counted.
   * @defaultValue 100_000
   */
  readonly mostPending?: number | undefined;
  /**
   * Functions that take the place of the system's, for tests.
   * @defaultValue those of `node:fs`
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
 * Opens a file that records are added to: CSV (.csv) or one JSON object a line
 * (.ndjson, .jsonl). Missing folders are made.
 *
 * Each append is one write at the end of the file, which is never written anew;
 * what append has written outlives the death of the process, though not a loss
 * of power before the disk took it (`close` waits for the disk). A last line
 * that was cut short is removed when the file is opened. A CSV file of an older
 * layout, with a `timestamp` column, is put aside and kept.
 *
 * A file that would pass `maxBytes` becomes `path.1`, what was that `path.2`, and
 * so on; each has its own header. No record is lost before the oldest of
 * `maxFiles` files is removed.
 *
 * While writing fails (a full disk, say) records wait in memory, each append
 * tries again, and `status()` tells why; one line goes to the log when that
 * begins and one when it ends. Memory is lost with the process.
 *
 * Give each process a file of its own. Two that append to one file do not mix
 * their lines, and each notices when the other has put the file aside; but
 * records of one may be lost where both do so at the same moment, or where one
 * repairs the end while the other writes.
 * @throws {ValueError} for another extension, or limits out of range
 * @throws {DataValidationError} where the file has other columns or holds something else (it is left as it was), or cannot be written for a reason that does not pass by itself
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
    maxBytes: requireWhole('maxBytes', options.maxBytes ?? 64 * 2 ** 20, 1),
    maxFiles: requireWhole('maxFiles', options.maxFiles ?? 10, 2),
    mostPending: requireWhole('mostPending', options.mostPending ?? 100_000, 1),
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

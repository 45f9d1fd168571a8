import { parseObject } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { AlertSink } from '../alarms/alert-event.ts';
import { type FileFunctions, type LineForm, logQuietly, SYSTEM_FILES } from '../records/file/file-functions.ts';
import { LineWriter } from '../records/file/line-writer.ts';
import { transitionToJson } from './transition-json.ts';

/** Options of {@link ndjsonSink}. */
export interface NdjsonSinkOptions {
  /**
   * The maximum number of transitions that wait in memory while the file cannot be written. If there are more, the
   * oldest transitions are dropped and counted as failures.
   * @defaultValue 1000
   */
  readonly mostPending?: number | undefined;
  /**
   * Replacements for functions of `node:fs`, for tests.
   * @defaultValue the functions of `node:fs`
   */
  readonly files?: Partial<FileFunctions> | undefined;
}

const NDJSON_SINK_OPTION_NAMES: OptionNames<NdjsonSinkOptions> = { mostPending: true, files: true };

const FORM: LineForm = {
  header: null,
  opening: '{"change":',
  isQuoting: false,
  examine: (firstLine, path) => {
    if ('change' in (parseObject(firstLine) ?? {})) return 'same';
    throw new DataValidationError(`'${path}' has content other than alerts. Nothing was added to the file.`, {
      code: 'unwritable-file',
      context: { path },
      suggestion: 'Use a new file.',
    });
  },
  isComplete: (line) => parseObject(line) !== undefined,
};

/** The maximum number of files. A file is rotated only if its end cannot be repaired. */
const MAX_FILES = 10;

/**
 * Returns a sink that appends a line to a file for each transition: a JSON object with `change`, `timestamp` and
 * `alert`, keys in snake_case. Each line is flushed to the disk before `send` returns. Missing folders are created. A
 * truncated last line is removed when the file is opened. The file is not rotated by size, because there are few
 * alerts.
 *
 * While the file cannot be written, transitions wait in memory, and each `send` and `close` tries again. A message is
 * logged when writing starts to fail and when writing works again.
 * @throws {ValueError} if `mostPending` is not a whole number of at least 1
 * @throws {DataValidationError} if the file has content other than alerts (the file is left unchanged), or cannot be
 *   written for a permanent reason
 * @example
 * ```ts
 * import { ndjsonSink } from 'evenhand/monitoring';
 *
 * const sink = ndjsonSink('alerts/alerts.ndjson');
 * await sink.close();
 * console.log(sink.name, sink.failures);
 * // ndjson 0
 * ```
 */
export function ndjsonSink(path: string, options: NdjsonSinkOptions = {}): AlertSink {
  assertKnownOptions('ndjsonSink', options, NDJSON_SINK_OPTION_NAMES);
  const writer = new LineWriter({
    path,
    form: FORM,
    maxBytes: Infinity,
    maxFiles: MAX_FILES,
    mostPending: requireInteger('mostPending', options.mostPending ?? 1000, 1),
    isFlushed: true,
    files: { ...SYSTEM_FILES, ...options.files },
    what: 'alerts',
  });
  let refused = 0;
  let isClosed = false;
  return {
    name: 'ndjson',
    get failures() {
      const { dropped, pending } = writer.status();
      return refused + dropped + (isClosed ? pending : 0);
    },
    send(transition) {
      try {
        writer.append([JSON.stringify(transitionToJson(transition))]);
      } catch (cause) {
        refused++;
        logQuietly('warn', `an alert cannot be written to '${path}': ${String(cause)}`);
      }
    },
    close() {
      isClosed = true;
      writer.close();
      return Promise.resolve();
    },
  };
}

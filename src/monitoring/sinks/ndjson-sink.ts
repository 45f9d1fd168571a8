import { parseObject } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { requireWhole } from '../../stats/parameters.ts';
import type { AlertSink } from '../alarms/alert-event.ts';
import { type FileFunctions, type LineForm, logQuietly, SYSTEM_FILES } from '../records/file/file-functions.ts';
import { LineWriter } from '../records/file/line-writer.ts';
import { transitionToJson } from './transition-json.ts';

/** Options of {@link ndjsonSink}. */
export interface NdjsonSinkOptions {
  /**
   * Transitions that wait in memory while the file cannot be written; beyond, the oldest are dropped and counted as failures.
   * @defaultValue 1000
   */
  readonly mostPending?: number | undefined;
  /**
   * Functions that take the place of the system's, for tests.
   * @defaultValue those of `node:fs`
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
    throw new DataValidationError(`'${path}' holds something else than alerts, so nothing is added to it.`, {
      context: { path },
      suggestion: 'Name a new file.',
    });
  },
  isComplete: (line) => parseObject(line) !== undefined,
};

/** Files that are kept where one must be put aside, since its end cannot be mended. */
const MAX_FILES = 10;

/**
 * A sink that adds one JSON object a line to a file for each transition, with
 * `change`, `timestamp` and the `alert`, keys in snake_case. Each line is on the
 * disk before `send` returns. Missing folders are made; a last line that was cut
 * short is removed when the file is opened. The file is never put aside for its
 * size: alerts are few.
 *
 * While writing fails, transitions wait in memory and each `send` and `close`
 * tries again; the log has one line when that begins and one when it ends.
 * @throws {ValueError} where `mostPending` is no whole number of at least 1
 * @throws {DataValidationError} where the file holds something else (it is left as it was), or cannot be written for a reason that does not pass by itself
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
    mostPending: requireWhole('mostPending', options.mostPending ?? 1000, 1),
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

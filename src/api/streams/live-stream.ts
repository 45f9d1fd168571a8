import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import {
  type InvalidLine,
  MonitoredStream,
  type MonitoredStreamOptions,
  type SavedStream,
} from '../../integration/monitor/monitored-stream.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { alertToJson } from '../../monitoring/sinks/transition-json.ts';
import { noRoomProblem, serviceEnds, ServiceProblem, unavailable } from '../problem/service-problem.ts';
import { type JournalEntry, StreamJournal } from './stream-journal.ts';

/** The file with the saved state of a stream. */
const STATE_FILE = 'state.json';

/** The size of a journal above which the state is saved and a new journal begins. */
const MAX_JOURNAL_BYTES = 8 * 2 ** 20;

/** What is needed to open a stream. */
export interface LiveStreamOptions extends MonitoredStreamOptions {
  /** The folder of the stream; undefined if it is only kept in memory. */
  readonly folder: string | undefined;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** What happened to the lines of a request. */
export interface Appended {
  readonly accepted: number;
  readonly repeated: number;
  readonly unknown: number;
  /** The alerts that these lines raised, as JSON. */
  readonly alerts: readonly Record<string, unknown>[];
}

interface Waiting {
  readonly kind: JournalEntry['kind'];
  readonly lines: readonly string[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

interface SavedState extends SavedStream {
  /** The last journal entry that the state contains. */
  readonly sequence: number;
}

/**
 * An open stream. Requests are handled one after the other; those that wait together are flushed to disk together. Lines
 * are first written to the journal and then counted, so that the state in memory never has more than the disk.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly #stream: MonitoredStream;
  readonly #journal: StreamJournal | undefined;
  #sequence: number;
  readonly #waiting: Waiting[] = [];
  #work: Promise<void> | undefined;
  #isClosed = false;

  private constructor(
    options: LiveStreamOptions,
    stream: MonitoredStream,
    journal: StreamJournal | undefined,
    sequence: number,
  ) {
    this.#options = options;
    this.#stream = stream;
    this.#journal = journal;
    this.#sequence = sequence;
  }

  /**
   * Opens a stream: reads its saved state, and counts the entries of its journal since then.
   * @throws {DataValidationError} if a file is damaged
   */
  static async open(options: LiveStreamOptions): Promise<LiveStream> {
    const { folder } = options;
    if (folder === undefined) return new LiveStream(options, new MonitoredStream(options), undefined, 0);
    const saved = await readState(folder);
    const stream = new MonitoredStream(options, saved);
    const after = saved?.sequence ?? 0;
    const { journal, entries } = await StreamJournal.open(folder, after);
    for (const { kind, rows, time } of entries) await stream.apply(kind, rows, time);
    return new LiveStream(options, stream, journal, after + entries.length);
  }

  /** Returns the problem for lines that cannot be counted. */
  static invalid(lines: readonly InvalidLine[]): ServiceProblem {
    const [first] = lines;
    const more = lines.length > 1 ? ` ${String(lines.length - 1)} more lines are invalid.` : '';
    return new ServiceProblem(422, {
      detail: `Line ${String((first?.index ?? 0) + 1)} cannot be counted: ${first?.reason ?? ''}.${more} No line was counted.`,
      errors: lines.map(({ index, reason }) => ({ pointer: `/${String(index)}`, detail: `${reason}.` })),
      suggestion: 'Correct the lines, and send all of them again.',
    });
  }

  get counts(): MonitoredStream['counts'] {
    return this.#stream.counts;
  }

  /**
   * Counts lines. Resolves when they are on disk, if the stream has a folder.
   * @throws {ServiceProblem} 422 if a line is invalid, 503 if the disk cannot be written; no line is then counted
   */
  append(kind: JournalEntry['kind'], lines: readonly string[]): Promise<Appended> {
    if (this.#isClosed) return Promise.reject(serviceEnds());
    const done = new Promise<Appended>((resolve, reject) => {
      this.#waiting.push({ kind, lines, resolve, reject });
    });
    this.#work ??= this.#handleAll();
    return done;
  }

  /** Returns the state as plain JSON. */
  toJson(): Record<string, unknown> {
    const { events, labels } = this.counts;
    return { n_events: events, n_labels: labels, ...this.#stream.facts(), ...this.#stream.toJson() };
  }

  view(): MonitoringView {
    return this.#stream.view();
  }

  /** Waits for the requests so far, and perhaps saves the state, so that the next start is fast. */
  async close({ isSaved }: { readonly isSaved: boolean }): Promise<void> {
    this.#isClosed = true;
    await this.#work;
    try {
      if (isSaved && (this.#journal?.bytes ?? 0) > 0) await this.#save();
    } finally {
      await this.#journal?.close();
    }
  }

  async #handleAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Labels are checked after the events before them are counted.
      const other = this.#waiting.findIndex(({ kind }) => kind !== this.#waiting[0]?.kind);
      const batch = this.#waiting.splice(0, other === -1 ? this.#waiting.length : other);
      await this.#handle(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    this.#work = undefined;
  }

  async #handle(batch: readonly Waiting[]): Promise<void> {
    const checked: {
      readonly one: Waiting;
      readonly entry: JournalEntry;
      readonly answer: Omit<Appended, 'alerts'>;
    }[] = [];
    const ids = new Set<string>();
    for (const one of batch) {
      try {
        const found = await this.#stream.check(one.kind, one.lines, ids);
        if (!('rows' in found)) throw LiveStream.invalid(found);
        const { rows, repeated, unknown } = found;
        const entry = {
          sequence: this.#sequence + checked.length + 1,
          time: this.#options.clock(),
          kind: one.kind,
          rows,
        };
        checked.push({ one, entry, answer: { accepted: rows.length, repeated, unknown } });
      } catch (error) {
        one.reject(error);
      }
    }
    const entries = checked.map(({ entry }) => entry);
    try {
      if (entries.some(({ rows }) => rows.length > 0)) await this.#journal?.append(entries);
    } catch (error) {
      const problem = this.#cannotWrite(error);
      for (const { one } of checked) one.reject(problem);
      return;
    }
    for (const { one, entry, answer } of checked) {
      const { alerts } = await this.#stream.apply(entry.kind, entry.rows, entry.time);
      one.resolve({ ...answer, alerts: alerts.map(alertToJson) });
    }
    if (entries.some(({ rows }) => rows.length > 0)) this.#sequence += entries.length;
    if ((this.#journal?.bytes ?? 0) > MAX_JOURNAL_BYTES) {
      await this.#save().catch((error: unknown) => {
        // The journal has everything, so nothing is lost.
        this.#options.logger.warn({ err: error }, 'the state of a monitored stream could not be saved');
      });
    }
  }

  async #save(): Promise<void> {
    const { folder } = this.#options;
    if (folder === undefined) return;
    const state: SavedState = { sequence: this.#sequence, ...this.#stream.snapshot() };
    await writeFileAtomic(path.join(folder, STATE_FILE), withChecksum(JSON.stringify(state)));
    await this.#journal?.startAfter(this.#sequence);
  }

  #cannotWrite(error: unknown): ServiceProblem {
    this.#options.logger.error({ err: error }, 'events of a monitored stream cannot be written');
    return (
      noRoomProblem(error, 'events') ??
      unavailable('The events could not be written to disk. None was counted.', 'Send the same lines again later.', 5)
    );
  }
}

async function readState(folder: string): Promise<SavedState | undefined> {
  const file = path.join(folder, STATE_FILE);
  const bytes = await readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  return bytes === undefined
    ? undefined
    : (JSON.parse(checkJsonText(decodeUtf8(bytes, file), file).text) as SavedState);
}

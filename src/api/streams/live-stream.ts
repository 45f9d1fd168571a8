import type { Logger } from 'pino';

import {
  type InvalidLine,
  MonitoredStream,
  type MonitoredStreamOptions,
  type UngroupedLines,
} from '../../integration/monitor/monitored-stream.ts';
import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { alertToJson } from '../../monitoring/sinks/transition-json.ts';
import { noRoomProblem, serviceEnds, ServiceProblem, unavailable } from '../problem/service-problem.ts';
import type { JournalEntry } from './stream-journal.ts';
import { LogChanged, type SavedState, type StreamLog } from './stream-log.ts';

/** The size of a journal above which the state is saved and a new journal begins. */
const MAX_JOURNAL_BYTES = 8 * 2 ** 20;

/** The size of requests that are written together, unless one request is larger. */
const MAX_BATCH_CHARACTERS = 8 * 2 ** 20;

/** What is needed to open a stream. */
export interface LiveStreamOptions extends MonitoredStreamOptions {
  /** The log of the stream; undefined if it is only kept in memory. */
  readonly log: StreamLog | undefined;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** What happened to the lines of a request. */
export interface Appended {
  readonly accepted: number;
  readonly repeated: number;
  readonly unknown: number;
  /** The number of problems with these lines by reason. */
  readonly faults: Readonly<Record<string, number>>;
  /** The alerts that these lines raised, as JSON. */
  readonly alerts: readonly Record<string, unknown>[];
}

interface Waiting {
  readonly kind: JournalEntry['kind'];
  readonly lines: readonly string[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** A request whose lines are valid. */
interface Checked {
  readonly one: Waiting;
  readonly entry: JournalEntry;
  readonly answer: Omit<Appended, 'alerts' | 'faults'>;
}

/**
 * An open stream. Requests are handled one after the other; those that wait together are flushed to disk together. Lines
 * are first written to the log and then counted, so that the state in memory never has more than the log. If several
 * hosts share the log, each of them counts the same entries in the same order, and so has the same state.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  #stream: MonitoredStream;
  #sequence = 0;
  /** The time of the latest entry. */
  #time = 0;
  readonly #waiting: Waiting[] = [];
  #work: Promise<void> | undefined;
  /** Steps that change the state, one after the other. Never rejects. */
  #turn: Promise<void> = Promise.resolve();
  #refresh: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#stream = new MonitoredStream(options);
  }

  /**
   * Opens a stream: reads its saved state, and counts the entries of its log since then.
   * @throws {DataValidationError} if the log is damaged
   */
  static async open(options: LiveStreamOptions): Promise<LiveStream> {
    const opened = new LiveStream(options);
    await opened.#catchUp();
    return opened;
  }

  /** Returns the problem for lines that cannot be counted. */
  static invalid(found: UngroupedLines | readonly InvalidLine[]): ServiceProblem {
    return 'missing' in found ? ungroupedProblem(found) : invalidProblem(found);
  }

  get counts(): MonitoredStream['counts'] {
    return this.#stream.counts;
  }

  /**
   * Counts lines. Resolves when they are in the log, if the stream has one.
   * @throws {ServiceProblem} 422 if a line is invalid, 503 if the log cannot be written; no line is then counted
   */
  append(kind: JournalEntry['kind'], lines: readonly string[]): Promise<Appended> {
    if (this.#isClosed) return Promise.reject(serviceEnds());
    const done = new Promise<Appended>((resolve, reject) => {
      this.#waiting.push({ kind, lines, resolve, reject });
    });
    this.#work ??= this.#handleAll();
    return done;
  }

  /** Counts what others have added to the log. Calls that wait together share one read. */
  refresh(): Promise<void> {
    this.#refresh ??= this.#alone(() => {
      this.#refresh = undefined;
      return this.#catchUp();
    });
    return this.#refresh;
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
    const { log } = this.#options;
    this.#isClosed = true;
    await this.#work;
    await this.#turn;
    try {
      if (isSaved && (log?.bytes ?? 0) > 0) await this.#save();
    } finally {
      await log?.close();
    }
  }

  async #handleAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchLength());
      await this.#alone(() => this.#handle(batch)).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
    this.#work = undefined;
  }

  /** Returns the number of waiting requests that are handled together. */
  #batchLength(): number {
    let characters = 0;
    const end = this.#waiting.findIndex(({ kind, lines }, index) => {
      for (const { length } of lines) characters += length;
      // Labels are checked after the events before them are counted.
      return index > 0 && (kind !== this.#waiting[0]?.kind || characters > MAX_BATCH_CHARACTERS);
    });
    return end === -1 ? this.#waiting.length : end;
  }

  /** Runs a step after the earlier ones. */
  #alone(step: () => Promise<void>): Promise<void> {
    const work = this.#turn.then(step);
    this.#turn = work.catch(() => undefined);
    return work;
  }

  async #catchUp(): Promise<void> {
    const news = await this.#options.log?.read();
    if (news === null || news === undefined) return;
    const { saved, entries } = news;
    if (saved !== undefined) {
      this.#stream = new MonitoredStream(this.#options, saved);
      this.#sequence = saved.sequence;
      this.#time = saved.time ?? 0;
    }
    for (const { kind, rows, time } of entries) {
      await this.#stream.apply(kind, rows, time);
      this.#time = time;
    }
    this.#sequence += entries.length;
  }

  async #handle(batch: readonly Waiting[]): Promise<void> {
    const { log } = this.#options;
    for (let left = batch; left.length > 0;) {
      await this.#catchUp();
      const checked = await this.#check(left);
      const entries = checked.map(({ entry }) => entry);
      const hasRows = entries.some(({ rows }) => rows.length > 0);
      try {
        if (hasRows && (await log?.append(entries)) === false) {
          // Others have appended entries, which may contain the same events.
          left = checked.map(({ one }) => one);
          continue;
        }
      } catch (error) {
        const problem = this.#cannotWrite(error);
        for (const { one } of checked) one.reject(problem);
        return;
      }
      for (const { one, entry, answer } of checked) {
        const { faults, alerts } = await this.#stream.apply(entry.kind, entry.rows, entry.time);
        one.resolve({ ...answer, faults, alerts: alerts.map(alertToJson) });
      }
      if (hasRows) {
        this.#sequence += entries.length;
        this.#time = entries.at(-1)?.time ?? this.#time;
      }
      break;
    }
    if ((log?.bytes ?? 0) > MAX_JOURNAL_BYTES) {
      await this.#save().catch((error: unknown) => {
        // The log has everything, so nothing is lost.
        this.#options.logger.warn({ err: error }, 'the state of a monitored stream could not be saved');
      });
    }
  }

  /** Checks requests. Those with an invalid line are rejected, the others are returned. */
  async #check(batch: readonly Waiting[]): Promise<Checked[]> {
    const checked: Checked[] = [];
    const ids = new Set<string>();
    // The clocks of hosts differ, but the times of arrival never decrease.
    const time = Math.max(this.#time, this.#options.clock());
    for (const one of batch) {
      try {
        const found = await this.#stream.check(one.kind, one.lines, ids);
        if (!('rows' in found)) throw LiveStream.invalid(found);
        const { rows, repeated, unknown } = found;
        const entry = { sequence: this.#sequence + checked.length + 1, time, kind: one.kind, rows };
        checked.push({ one, entry, answer: { accepted: rows.length, repeated, unknown } });
      } catch (error) {
        one.reject(error);
      }
    }
    return checked;
  }

  async #save(): Promise<void> {
    const state: SavedState = { sequence: this.#sequence, time: this.#time, ...this.#stream.snapshot() };
    await this.#options.log?.save(state);
  }

  #cannotWrite(error: unknown): unknown {
    if (error instanceof ServiceProblem || error instanceof LogChanged) return error;
    this.#options.logger.error({ err: error }, 'events of a monitored stream cannot be written');
    return (
      noRoomProblem(error, 'events') ??
      unavailable('The events could not be written to disk. None was counted.', 'Send the same lines again later.', 5)
    );
  }
}

function invalidProblem(lines: readonly InvalidLine[]): ServiceProblem {
  const [first] = lines;
  const more = lines.length > 1 ? ` ${String(lines.length - 1)} more lines are invalid.` : '';
  return new ServiceProblem(422, {
    detail: `Line ${String((first?.index ?? 0) + 1)} cannot be counted: ${first?.reason ?? ''}.${more} No line was counted.`,
    errors: lines.map(({ index, reason }) => ({ pointer: `/${String(index)}`, detail: `${reason}.` })),
    suggestion: 'Correct the lines, and send all of them again.',
  });
}

/** Returns the problem for events without a sensitive field. It is likely that the field has another name. */
function ungroupedProblem({ missing, fields }: UngroupedLines): ServiceProblem {
  const near = nearestNames(missing, fields);
  return new ServiceProblem(422, {
    detail: `No event has the sensitive field '${missing}'. No event was counted.`,
    errors: [{ pointer: '/0', detail: `it has no '${missing}'.` }],
    suggestion: [
      ...(near.length === 0 ? [] : [suggestNames(missing, fields, 'fields', near)]),
      suggestNames(missing, fields, 'fields of the first event', []),
      `Correct the name in the events or in 'sensitive'. If the groups are unknown, send "${missing}": null.`,
    ].join(' '),
  });
}

import { DataValidationError } from '../../exceptions/index.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { CrossedCodes } from './group-codes.ts';
import { GroupTable } from './group-table.ts';
import type { SlidingWindow } from './sliding-window.ts';
import type { TrackerOptions } from './tracker-options.ts';

/** The layout of snapshots; another number is another layout. */
export const SNAPSHOT_VERSION = 1;

/** All that a stream has counted, as plain JSON. Numbers in columns are base64 of little-endian bytes, so that each comes back to its last bit. */
export interface StreamSnapshot {
  readonly version: number;
  readonly options: Omit<TrackerOptions, 'store' | 'clock'>;
  readonly events: number;
  readonly lateLabels: number;
  readonly firstTime: number | null;
  readonly latestTime: number | null;
  readonly faults: Readonly<Record<string, number>>;
  /** By attribute: its labels, or for a crossing the codes of each group's parts. */
  readonly groups: readonly (readonly string[] | readonly (readonly number[])[])[];
  readonly early: readonly number[];
  readonly tables: readonly string[];
  readonly starts: {
    readonly next: number;
    readonly kept: readonly {
      readonly index: number;
      readonly events: number;
      readonly time: number | null;
      readonly tables: readonly string[];
    }[];
  };
  readonly window: {
    readonly added: number;
    readonly tables: readonly string[];
    readonly codes: readonly string[];
    readonly cells: string;
    readonly weights: string | null;
    readonly errors: string | null;
  };
  readonly waiting:
    | readonly {
        readonly id: string;
        readonly event: number;
        readonly cell: number;
        readonly weight: number;
        readonly prediction: number | null;
        readonly codes: readonly number[];
      }[]
    | null;
}

/** Takes a snapshot of a stream. */
export function takeSnapshot(stream: EventStream, options: StreamSnapshot['options']): StreamSnapshot {
  const { window } = stream;
  return {
    version: SNAPSHOT_VERSION,
    options,
    events: stream.events,
    lateLabels: stream.lateLabels,
    firstTime: finiteOrNull(stream.firstTime),
    latestTime: finiteOrNull(stream.latestTime),
    faults: stream.faults.toJSON(),
    groups: stream.reader.groups.map((groups) =>
      groups instanceof CrossedCodes ? groups.parts() : [...groups.labels],
    ),
    early: [...stream.early],
    tables: encodeTables(stream.tables),
    starts: {
      next: stream.starts.next,
      kept: stream.starts.kept.map(({ index, events, time, tables }) => ({
        index,
        events,
        time: finiteOrNull(time),
        tables: encodeTables(tables),
      })),
    },
    window: {
      added: window.added,
      tables: encodeTables(window.tables),
      codes: window.codes.map((codes) => encode(codes.subarray(0, window.length))),
      cells: encode(window.cells.subarray(0, window.length)),
      weights: window.weights === null ? null : encode(window.weights.subarray(0, window.length)),
      errors: window.errors === null ? null : encode(window.errors.subarray(0, window.length)),
    },
    waiting:
      stream.labels === null
        ? null
        : Array.from(stream.labels.entries(), ({ id, event, cell, weight, prediction, codes }) => ({
            id,
            event,
            cell,
            weight,
            prediction: finiteOrNull(prediction),
            codes,
          })),
  };
}

/**
 * Fills a new stream with a snapshot.
 * @throws {DataValidationError} where the snapshot is cut short or of another layout
 */
export function restoreSnapshot(stream: EventStream, snapshot: StreamSnapshot): void {
  try {
    fill(stream, snapshot);
  } catch (cause) {
    if (cause instanceof DataValidationError) throw cause;
    throw badSnapshot('it is cut short or was changed', cause);
  }
}

function fill(stream: EventStream, snapshot: StreamSnapshot): void {
  stream.events = snapshot.events;
  stream.lateLabels = snapshot.lateLabels;
  stream.firstTime = snapshot.firstTime ?? NaN;
  stream.latestTime = snapshot.latestTime ?? NaN;
  stream.faults.merge(snapshot.faults);
  stream.reader.groups.forEach((groups, place) => {
    const known = snapshot.groups[place];
    if (known === undefined) throw badSnapshot(`the groups of attribute ${String(place + 1)} are missing`);
    if (groups instanceof CrossedCodes) groups.restore(known as readonly (readonly number[])[]);
    else for (const label of known) groups.codeOf(String(label));
  });
  snapshot.early.forEach((count, place) => (stream.early[place] = count));
  fillTables(stream.tables, snapshot.tables, stream);
  stream.starts.restore(
    snapshot.starts.kept.map(({ index, events, time, tables }): FreshStart => ({
      index,
      events,
      time: time ?? NaN,
      tables: tables.map((table) => new GroupTable(stream.shape, decode(table, Float64Array))),
    })),
    snapshot.starts.next,
  );
  fillWindow(stream, stream.window, snapshot.window);
  for (const { prediction, ...event } of snapshot.waiting ?? []) {
    stream.labels?.restore({ ...event, prediction: prediction ?? NaN });
  }
}

function fillWindow(stream: EventStream, window: SlidingWindow, saved: StreamSnapshot['window']): void {
  window.added = saved.added;
  fillTables(window.tables, saved.tables, stream);
  window.codes.forEach((codes, place) => {
    codes.set(decode(saved.codes[place], Int32Array));
  });
  window.cells.set(decode(saved.cells, Uint8Array));
  if (window.weights !== null) window.weights.set(decode(saved.weights, Float64Array));
  if (window.errors !== null) window.errors.set(decode(saved.errors, Float64Array));
}

function fillTables(tables: readonly GroupTable[], saved: readonly string[], { reader }: EventStream): void {
  tables.forEach((table, place) => {
    const data = decode(saved[place], Float64Array);
    const groups = reader.groups[place]?.labels.length ?? 0;
    if (data.length !== groups * table.stride)
      throw badSnapshot(`the sums of attribute ${String(place + 1)} do not fit its groups`);
    table.data = data;
  });
}

function encodeTables(tables: readonly GroupTable[]): string[] {
  return tables.map(({ data }) => encode(data));
}

function encode(values: Float64Array | Int32Array | Uint8Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** A typed array of its own from base64. */
function decode<Values>(text: string | null | undefined, Kind: new (buffer: ArrayBuffer) => Values): Values {
  if (typeof text !== 'string') throw badSnapshot('a column of numbers is missing');
  const bytes = Buffer.from(text, 'base64');
  const buffer = new ArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return new Kind(buffer);
}

/** The error for something that is no snapshot of ours. */
export function badSnapshot(reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`The snapshot cannot be restored: ${reason}.`, {
    suggestion: 'Give what snapshot() returned, whole, or begin anew.',
    cause,
  });
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

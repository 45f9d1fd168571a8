import { finiteOrNull } from '../../internal/values.ts';
import { checkStream } from './check-stream.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { CrossedCodes, type GroupCodes } from './group-codes.ts';
import { GroupTable } from './group-table.ts';
import type { SlidingWindow } from './sliding-window.ts';
import { badSnapshot, SNAPSHOT_VERSION, type StreamSnapshot } from './snapshot-schema.ts';

/** Returns a snapshot of a stream. */
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
            codes: [...codes],
          })),
  };
}

/**
 * Fills a new stream from a snapshot that was parsed by its schema.
 * @throws {DataValidationError} if the parts of the snapshot are inconsistent
 */
export function restoreSnapshot(stream: EventStream, snapshot: StreamSnapshot): void {
  const attributes = stream.tables.length;
  requireLength('groups', snapshot.groups, attributes);
  stream.events = snapshot.events;
  stream.lateLabels = snapshot.lateLabels;
  stream.firstTime = snapshot.firstTime ?? NaN;
  stream.latestTime = snapshot.latestTime ?? NaN;
  stream.faults.merge(snapshot.faults);
  stream.reader.groups.forEach((groups, index) => {
    fillGroups(groups, snapshot.groups[index] ?? [], index);
  });
  requireLength('early', snapshot.early, attributes);
  snapshot.early.forEach((count, index) => (stream.early[index] = count));
  fillTables(stream.tables, snapshot.tables, stream);
  stream.starts.restore(
    snapshot.starts.kept.map((start) => readStart(start, stream)),
    snapshot.starts.next,
  );
  fillWindow(stream, stream.window, snapshot.window);
  fillWaiting(stream, snapshot.waiting);
  checkStream(stream);
}

function fillGroups(groups: GroupCodes | CrossedCodes, known: StreamSnapshot['groups'][number], index: number): void {
  if (groups instanceof CrossedCodes) groups.restore(known as readonly (readonly number[])[]);
  else for (const label of known) groups.codeOf(String(label));
  const found: readonly unknown[] = groups instanceof CrossedCodes ? groups.parts() : groups.labels;
  // A duplicate or invalid group would shift the codes of all later groups.
  if (JSON.stringify(found) !== JSON.stringify(known)) {
    throw badSnapshot(`the groups of attribute ${String(index + 1)} are invalid`);
  }
}

function readStart(
  { index, events, time, tables }: StreamSnapshot['starts']['kept'][number],
  stream: EventStream,
): FreshStart {
  requireLength('starts.kept.tables', tables, stream.tables.length);
  return {
    index,
    events,
    time: time ?? NaN,
    tables: tables.map((text, position) => {
      const table = new GroupTable(stream.shape, decode(text, Float64Array));
      // Groups that appeared after the start are not in its table.
      if (!Number.isInteger(table.groups) || table.groups > (stream.tables[position] as GroupTable).groups) {
        throw badSnapshot(`the sums of start ${String(index)} do not fit its groups`);
      }
      return table;
    }),
  };
}

function fillWindow(stream: EventStream, window: SlidingWindow, saved: StreamSnapshot['window']): void {
  window.added = saved.added;
  fillTables(window.tables, saved.tables, stream);
  requireLength('window.codes', saved.codes, window.codes.length);
  window.codes.forEach((codes, index) => {
    fillColumn(`codes.${String(index)}`, codes, saved.codes[index] ?? null, window.length, Int32Array);
  });
  fillColumn('cells', window.cells, saved.cells, window.length, Uint8Array);
  fillColumn('weights', window.weights, saved.weights, window.length, Float64Array);
  fillColumn('errors', window.errors, saved.errors, window.length, Float64Array);
}

/** Fills a column of the window from its beginning, if the stream has that column. */
function fillColumn<Values extends { readonly length: number; set(values: Values): void }>(
  name: string,
  into: Values | null,
  text: string | null,
  length: number,
  Kind: new (buffer: ArrayBuffer) => Values,
): void {
  if ((into === null) !== (text === null)) throw badSnapshot(`'window.${name}' does not fit its options`);
  if (into === null || text === null) return;
  const values = decode(text, Kind);
  if (values.length !== length) {
    throw badSnapshot(`'window.${name}' has ${String(values.length)} entries, but the window has ${String(length)}`);
  }
  into.set(values);
}

function fillWaiting(stream: EventStream, waiting: StreamSnapshot['waiting']): void {
  const { labels } = stream;
  if ((labels === null) !== (waiting === null)) throw badSnapshot("'waiting' does not fit its options");
  if (labels === null || waiting === null) return;
  if (waiting.length > labels.horizon) throw badSnapshot('more events wait for labels than its labelHorizon allows');
  if (new Set(waiting.map(({ id }) => id)).size < waiting.length)
    throw badSnapshot('two waiting events have the same id');
  for (const { prediction, ...event } of waiting) {
    requireLength('waiting.codes', event.codes, stream.tables.length);
    labels.restore({ ...event, prediction: prediction ?? NaN });
  }
}

function fillTables(tables: readonly GroupTable[], saved: readonly string[], { reader }: EventStream): void {
  requireLength('tables', saved, tables.length);
  tables.forEach((table, index) => {
    const data = decode(saved[index], Float64Array);
    const groups = reader.groups[index]?.labels.length ?? 0;
    if (data.length !== groups * table.stride)
      throw badSnapshot(`the sums of attribute ${String(index + 1)} do not fit its groups`);
    table.data = data;
  });
}

function requireLength(name: string, list: { readonly length: number }, length: number): void {
  if (list.length === length) return;
  throw badSnapshot(`'${name}' has ${String(list.length)} entries; expected ${String(length)}`);
}

function encodeTables(tables: readonly GroupTable[]): string[] {
  return tables.map(({ data }) => encode(data));
}

function encode(values: Float64Array | Int32Array | Uint8Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** Decodes base64 into a new typed array. */
function decode<Values>(text: string | null | undefined, Kind: new (buffer: ArrayBuffer) => Values): Values {
  if (typeof text !== 'string') throw badSnapshot('a column of numbers is missing');
  const bytes = Buffer.from(text, 'base64');
  const buffer = new ArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return new Kind(buffer);
}

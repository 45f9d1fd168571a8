import { CELLS_PER_GROUP, sum } from '../../metrics/statistics/group-stats.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { CrossedCodes, type GroupCodes, LONG_LABEL } from './group-codes.ts';
import { ERROR, GroupTable, type TableShape } from './group-table.ts';
import { FIRST_UNKNOWN_CELL, type WaitingEvent } from './late-labels.ts';
import { badSnapshot, SNAPSHOT_VERSION, type StreamSnapshot } from './snapshot-schema.ts';
import { finiteOrNull } from '../../internal/values.ts';
import type { SlidingWindow } from './sliding-window.ts';

/**
 * Checks that the parts of a restored stream are consistent. Impossible sums would make later computations fail or
 * return meaningless results.
 * @throws {DataValidationError} if parts are inconsistent; the error names the first inconsistent part
 */
function checkStream(stream: EventStream): void {
  const { events, firstTime, latestTime, window, tables, starts } = stream;
  if (window.added !== events) throw badSnapshot('the window and the stream have different numbers of events');
  if (Number.isNaN(firstTime) !== Number.isNaN(latestTime) || latestTime < firstTime) {
    throw badSnapshot('its first time is after its latest time, or one of these times is missing');
  }
  tables.forEach((table, index) => {
    checkSums(table, index);
    if (countIn(table) > events) throw badSnapshot(`attribute ${String(index + 1)} has more events than the stream`);
  });
  checkEarly(stream);
  checkStarts(stream, starts.kept);
  checkWindow(stream);
  checkWaiting(stream);
}

/**
 * Checks that counts are whole numbers, and that sums of squares, errors and weights are finite. Rounding residues may
 * be negative.
 */
function checkSums(table: GroupTable, index: number): void {
  const counted = table.shape.hasErrors ? table.errorsAt + ERROR.count : -1;
  table.data.forEach((value, at) => {
    const field = at % table.stride;
    const isRight = field < CELLS_PER_GROUP || field === counted ? isCount(value) : Number.isFinite(value);
    if (!isRight)
      throw badSnapshot(`the sums of attribute ${String(index + 1)} contain the invalid value ${String(value)}`);
  });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function countIn(table: GroupTable): number {
  let total = 0;
  for (let group = 0; group < table.groups; group++) total += countOf(table, group);
  return total;
}

function countOf({ data, stride }: GroupTable, group: number): number {
  return sum(data.subarray(group * stride, group * stride + CELLS_PER_GROUP));
}

function checkEarly({ early, tables, reader }: EventStream): void {
  if (early.length !== tables.length) throw badSnapshot("'early' must have one entry for each attribute");
  early.forEach((groups, index) => {
    if (groups > (reader.groups[index]?.labels.length ?? 0))
      throw badSnapshot("'early' counts more groups than the attribute has");
  });
}

/** Checks that starts are in order, and that no count at a start is larger than the current count. */
function checkStarts(stream: EventStream, kept: readonly FreshStart[]): void {
  if (kept[0]?.index !== 0) throw badSnapshot('the first start is missing');
  kept.forEach(({ index, events, tables }, position) => {
    const before = kept[position - 1];
    if (index >= stream.starts.next || index <= (before?.index ?? -1)) throw badSnapshot('starts are out of order');
    if (events > stream.events || events < (before?.events ?? 0)) throw badSnapshot('starts are out of order');
    tables.forEach((table, attribute) => {
      checkSums(table, attribute);
      checkEarlier(table, stream.tables[attribute] as GroupTable);
    });
  });
}

function checkEarlier(then: GroupTable, now: GroupTable): void {
  for (let group = 0; group < then.groups; group++) {
    const at = group * then.stride;
    let isLess = countOf(then, group) <= countOf(now, group);
    for (let cell = 0; cell < FIRST_UNKNOWN_CELL; cell++) {
      isLess &&= (then.data[at + cell] as number) <= (now.data[at + cell] as number);
    }
    if (!isLess) throw badSnapshot('a start has more events than the stream');
  }
}

/**
 * Checks that the events of the ring buffer are valid, and that their counts equal the counts in the window's tables.
 */
function checkWindow({ window, shape, reader, options }: EventStream): void {
  const { length, cells, weights, errors } = window;
  for (let slot = 0; slot < length; slot++) {
    const error = errors?.[slot] ?? NaN;
    const isRight =
      (cells[slot] as number) < CELLS_PER_GROUP &&
      isWeight(weights?.[slot] ?? 1) &&
      (Number.isNaN(error) || (isWeight(error) && error <= (options.errorScale ?? Infinity)));
    if (!isRight) throw badSnapshot('an event of the window has an invalid value');
  }
  window.tables.forEach((table, index) => {
    checkSums(table, index);
    const groups = reader.groups[index]?.labels.length ?? 0;
    const recounted = countsOf(shape, groups);
    const codes = window.codes[index] as Int32Array;
    for (let slot = 0; slot < length; slot++) {
      const code = codes[slot] as number;
      if (!isCode(code, groups)) throw badSnapshot('an event of the window has an unknown group');
      if (code < 0) continue;
      recounted.addCell(code, cells[slot] as number, 1, 1);
      if (!Number.isNaN(errors?.[slot] ?? NaN)) recounted.addError(code, 0, 1, 1);
    }
    for (let group = 0; group < groups; group++) {
      if (!hasSameCounts(table, recounted, group)) throw badSnapshot('the sums of the window do not match its events');
    }
  });
}

/** Returns an empty table of counts, without weights, for a number of groups. */
function countsOf(shape: TableShape, groups: number): GroupTable {
  const table = new GroupTable({ ...shape, hasWeights: false });
  table.grow(groups);
  return table;
}

function isWeight(value: number): boolean {
  return value >= 0 && value < Infinity;
}

function isCode(code: number, groups: number): boolean {
  return code >= LONG_LABEL && code < groups;
}

function hasSameCounts(one: GroupTable, other: GroupTable, group: number): boolean {
  const [at, from] = [group * one.stride, group * other.stride];
  for (let cell = 0; cell < CELLS_PER_GROUP; cell++) if (one.data[at + cell] !== other.data[from + cell]) return false;
  return !one.shape.hasErrors || one.data[at + one.errorsAt] === other.data[from + other.errorsAt];
}

/**
 * Checks that every event that waits for its label has been counted. If it had not been counted, its label could make a
 * count negative.
 */
function checkWaiting(stream: EventStream): void {
  if (stream.labels === null) return;
  const waiting = stream.tables.map(({ shape, groups }) => countsOf(shape, groups));
  for (const event of stream.labels.entries()) {
    if (event.codes.length !== waiting.length || event.event >= stream.events)
      throw badSnapshot('a waiting event is not an event of this stream');
    event.codes.forEach((code, index) => {
      const table = waiting[index] as GroupTable;
      if (!isCode(code, table.groups)) throw badSnapshot('a waiting event has an unknown group');
      if (code >= 0) table.addCell(code, event.cell, 1, 1);
    });
    checkInWindow(stream, event);
  }
  waiting.forEach((table, index) => {
    const { data, stride } = stream.tables[index] as GroupTable;
    for (let group = 0; group < table.groups; group++) {
      for (let cell = 0; cell < CELLS_PER_GROUP; cell++) {
        if ((table.data[group * table.stride + cell] as number) > (data[group * stride + cell] as number)) {
          throw badSnapshot('more events wait for labels than were counted');
        }
      }
    }
  });
}

function checkInWindow({ window }: EventStream, { event, cell, codes }: WaitingEvent): void {
  if (event < 0 || event < window.added - window.size) return;
  const slot = event % window.size;
  const isSame = window.cells[slot] === cell && codes.every((code, index) => window.codes[index]?.[slot] === code);
  if (!isSame) throw badSnapshot('a waiting event differs from the same event in the window');
}

/** What a snapshot contains. */
export interface SnapshotParts {
  /**
   * Whether it contains the events that wait for their labels.
   * @defaultValue true
   */
  readonly withWaiting?: boolean | undefined;
}

/** Returns a snapshot of a stream. */
export function takeSnapshot(
  stream: EventStream,
  options: StreamSnapshot['options'],
  { withWaiting = true }: SnapshotParts = {},
): StreamSnapshot {
  const { window } = stream;
  return {
    version: SNAPSHOT_VERSION,
    options,
    events: stream.events,
    lateLabels: stream.lateLabels,
    firstTime: finiteOrNull(stream.firstTime),
    latestTime: finiteOrNull(stream.latestTime),
    faults: stream.faults.toJSON(),
    groups: groupsOf(stream),
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
      stream.labels === null || !withWaiting
        ? null
        : Array.from(stream.labels.entries(), ({ id, event, cell, weight, prediction, codes, stratum }) => ({
            id,
            event,
            cell,
            weight,
            prediction: finiteOrNull(prediction),
            codes: [...codes],
            ...(stratum === undefined ? {} : { stratum }),
          })),
  };
}

/** Returns the groups of each attribute, in the order of their codes, for {@link restoreGroups}. */
export function groupsOf({ reader }: EventStream): StreamSnapshot['groups'] {
  return reader.groups.map((groups) => (groups instanceof CrossedCodes ? groups.parts() : [...groups.labels]));
}

/**
 * Gives the groups of a new stream the codes that they have in a snapshot.
 * @throws {DataValidationError} if the groups do not fit the attributes of the stream
 */
export function restoreGroups(stream: EventStream, known: StreamSnapshot['groups']): void {
  requireLength('groups', known, stream.tables.length);
  stream.reader.groups.forEach((groups, index) => {
    fillGroups(groups, known[index] ?? [], index);
  });
}

/**
 * Fills a new stream from a snapshot that was parsed by its schema.
 * @throws {DataValidationError} if the parts of the snapshot are inconsistent
 */
export function restoreSnapshot(
  stream: EventStream,
  snapshot: StreamSnapshot,
  { withWaiting = true }: SnapshotParts = {},
): void {
  const attributes = stream.tables.length;
  stream.events = snapshot.events;
  stream.lateLabels = snapshot.lateLabels;
  stream.firstTime = snapshot.firstTime ?? NaN;
  stream.latestTime = snapshot.latestTime ?? NaN;
  stream.faults.merge(snapshot.faults);
  restoreGroups(stream, snapshot.groups);
  requireLength('early', snapshot.early, attributes);
  snapshot.early.forEach((count, index) => (stream.early[index] = count));
  fillTables(stream.tables, snapshot.tables, stream);
  stream.starts.restore(
    snapshot.starts.kept.map((start) => readStart(start, stream)),
    snapshot.starts.next,
  );
  fillWindow(stream, stream.window, snapshot.window);
  if (withWaiting) fillWaiting(stream, snapshot.waiting);
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

/** Fills a column of the window, starting at its first slot, if the stream has this column. */
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

/** Returns the base64 of a column of numbers. */
export function encode(values: Float64Array | Int32Array | Uint8Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** Decodes base64 into a new typed array. */
export function decode<Values>(text: string | null | undefined, Kind: new (buffer: ArrayBuffer) => Values): Values {
  if (typeof text !== 'string') throw badSnapshot('a column of numbers is missing');
  const bytes = Buffer.from(text, 'base64');
  const buffer = new ArrayBuffer(bytes.length);
  new Uint8Array(buffer).set(bytes);
  return new Kind(buffer);
}

import { CELLS_PER_GROUP, sum } from '../../metrics/statistics/group-stats.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { LONG_LABEL } from './group-codes.ts';
import { ERROR, GroupTable, type TableShape } from './group-table.ts';
import { FIRST_UNKNOWN_CELL, type WaitingEvent } from './late-labels.ts';
import { badSnapshot } from './snapshot-schema.ts';

/**
 * Checks that the parts of a restored stream are consistent. Impossible sums would make later computations fail or
 * return meaningless results.
 * @throws {DataValidationError} if parts are inconsistent; the error names the first
 */
export function checkStream(stream: EventStream): void {
  const { events, firstTime, latestTime, window, tables, starts } = stream;
  if (window.added !== events) throw badSnapshot('the window and the stream have different numbers of events');
  if (Number.isNaN(firstTime) !== Number.isNaN(latestTime) || latestTime < firstTime) {
    throw badSnapshot('its first time is after its latest, or one of them is missing');
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
    if (!isRight) throw badSnapshot(`the sums of attribute ${String(index + 1)} hold ${String(value)}`);
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
      throw badSnapshot("'early' counts more groups than there are");
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
    if (!isLess) throw badSnapshot('a start has counted more than the stream');
  }
}

/** Checks that the events of the ring are valid, and that their counts equal the counts in the window's tables. */
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
 * Checks that every event that waits for its label has been counted. Otherwise its label could make a count negative.
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

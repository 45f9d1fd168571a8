import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { LONG_LABEL } from './group-codes.ts';
import { ERROR, GroupTable } from './group-table.ts';
import type { WaitingEvent } from './late-labels.ts';
import { badSnapshot } from './snapshot-schema.ts';

/** Cells below this have a true label, which stays. */
const FIRST_UNKNOWN_CELL = 4;

/**
 * Checks that the parts of a restored stream fit each other: sums that no
 * stream can have would break what is computed of them later, or turn it into nonsense.
 * @throws {DataValidationError} naming the first part that does not fit
 */
export function checkStream(stream: EventStream): void {
  const { events, firstTime, latestTime, window, tables, starts } = stream;
  if (window.added !== events) throw badSnapshot('the window has not seen as many events as the stream');
  if (Number.isNaN(firstTime) !== Number.isNaN(latestTime) || latestTime < firstTime) {
    throw badSnapshot('its first time and its latest do not fit each other');
  }
  tables.forEach((table, place) => {
    checkSums(table, place);
    if (countIn(table) > events) throw badSnapshot(`attribute ${String(place + 1)} has more events than came`);
  });
  checkEarly(stream);
  checkStarts(stream, starts.kept);
  checkWindow(stream);
  checkWaiting(stream);
}

/** Counts are whole, and sums of squares, errors and weights finite; residues of fractions may be below 0. */
function checkSums(table: GroupTable, place: number): void {
  const counted = table.shape.hasErrors ? table.errorsAt + ERROR.count : -1;
  table.data.forEach((value, at) => {
    const field = at % table.stride;
    const isRight = field < CELLS_PER_GROUP || field === counted ? isCount(value) : Number.isFinite(value);
    if (!isRight) throw badSnapshot(`the sums of attribute ${String(place + 1)} hold ${String(value)}`);
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
  let total = 0;
  for (let cell = 0; cell < CELLS_PER_GROUP; cell++) total += data[group * stride + cell] as number;
  return total;
}

function checkEarly({ early, tables, reader }: EventStream): void {
  if (early.length !== tables.length) throw badSnapshot("'early' is not as long as there are attributes");
  early.forEach((groups, place) => {
    if (groups > (reader.groups[place]?.labels.length ?? 0)) throw badSnapshot("'early' counts more groups than came");
  });
}

/** Starts in their order; what came since then is what is there now less what was there then, of everything. */
function checkStarts(stream: EventStream, kept: readonly FreshStart[]): void {
  if (kept[0]?.index !== 0) throw badSnapshot('the first start is missing');
  kept.forEach(({ index, events, tables }, place) => {
    const before = kept[place - 1];
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

/** The events of the ring are valid, and their counts are those of the window's tables. */
function checkWindow({ window, shape, reader, options }: EventStream): void {
  const { length, cells, weights, errors } = window;
  for (let slot = 0; slot < length; slot++) {
    const error = errors?.[slot] ?? NaN;
    const isRight =
      (cells[slot] as number) < CELLS_PER_GROUP &&
      isWeight(weights?.[slot] ?? 1) &&
      (Number.isNaN(error) || (isWeight(error) && error <= (options.errorScale ?? Infinity)));
    if (!isRight) throw badSnapshot('an event of the window has a value that no event has');
  }
  window.tables.forEach((table, place) => {
    checkSums(table, place);
    const recounted = new GroupTable({ ...shape, hasWeights: false });
    const groups = reader.groups[place]?.labels.length ?? 0;
    recounted.grow(groups);
    const codes = window.codes[place] as Int32Array;
    for (let slot = 0; slot < length; slot++) {
      const code = codes[slot] as number;
      if (!isCode(code, groups)) throw badSnapshot('an event of the window has a group that is not there');
      if (code < 0) continue;
      recounted.addCell(code, cells[slot] as number, 1, 1);
      if (!Number.isNaN(errors?.[slot] ?? NaN)) recounted.addError(code, 0, 1, 1);
    }
    for (let group = 0; group < groups; group++) {
      if (!hasSameCounts(table, recounted, group))
        throw badSnapshot('the sums of the window are not those of its events');
    }
  });
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

/** Every event that waits for its label is among those counted, so that its label takes away nothing that is not there. */
function checkWaiting(stream: EventStream): void {
  if (stream.labels === null) return;
  const waiting = stream.tables.map(({ shape, groups }) => {
    const table = new GroupTable({ ...shape, hasWeights: false });
    table.grow(groups);
    return table;
  });
  for (const event of stream.labels.entries()) {
    if (event.codes.length !== waiting.length || event.event >= stream.events)
      throw badSnapshot('a waiting event is no event of this stream');
    event.codes.forEach((code, place) => {
      const table = waiting[place] as GroupTable;
      if (!isCode(code, table.groups)) throw badSnapshot('a waiting event has a group that is not there');
      if (code >= 0) table.addCell(code, event.cell, 1, 1);
    });
    checkInWindow(stream, event);
  }
  waiting.forEach((table, place) => {
    const { data, stride } = stream.tables[place] as GroupTable;
    for (let group = 0; group < table.groups; group++) {
      for (let cell = 0; cell < CELLS_PER_GROUP; cell++) {
        if ((table.data[group * table.stride + cell] as number) > (data[group * stride + cell] as number)) {
          throw badSnapshot('more events wait for labels than came');
        }
      }
    }
  });
}

function checkInWindow({ window }: EventStream, { event, cell, codes }: WaitingEvent): void {
  if (event < 0 || event < window.added - window.size) return;
  const slot = event % window.size;
  const isSame = window.cells[slot] === cell && codes.every((code, place) => window.codes[place]?.[slot] === code);
  if (!isSame) throw badSnapshot('a waiting event is another in the window');
}

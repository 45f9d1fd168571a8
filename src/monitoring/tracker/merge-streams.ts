import { ValueError } from '../../exceptions/index.ts';
import { CELLS_PER_GROUP, sum } from '../../metrics/statistics/group-stats.ts';
import { NO_COLUMNS } from './event-block.ts';
import type { EventStream } from './event-stream.ts';
import type { FreshStart } from './fresh-starts.ts';
import { CrossedCodes, type GroupCodes } from './group-codes.ts';
import type { LateLabels, WaitingEvent } from './late-labels.ts';
import type { SlidingWindow } from './sliding-window.ts';

/**
 * Adds everything that another stream has counted, as if both streams were shards of one stream. Sums are added. The
 * order of events across shards is unknown. If the events of both streams do not fit into the sliding window, each
 * stream therefore drops the same share of its events. The oldest events are dropped first. Each window that began at a
 * restart is merged with the window of the other stream that has the same index.
 * @throws {ValueError} if the streams have different options
 */
export function mergeStreams(stream: EventStream, other: EventStream): void {
  assertAlike(stream, other);
  const codesOf = translateGroups(stream, other);
  const counts = stream.reader.groups.map(({ labels }) => labels.length);
  const numbers = joinWindows(stream.window, other.window, codesOf, stream.events + other.events, counts);
  joinLabels(stream, other, codesOf, numbers);
  // Shares of the error budget are final once assigned, so groups added by a merge share the reserve, like late groups.
  if (!stream.isWarm) counts.forEach((count, index) => (stream.early[index] = count));
  addSums(stream, other, codesOf);
}

/**
 * Adds the sums of another stream, at each start and now, and its numbers of events, labels and problems. The sliding
 * window does not change.
 * @param codesOf the result of {@link translateGroups}
 */
export function addSums(stream: EventStream, other: EventStream, codesOf: readonly Int32Array[]): void {
  const present = { own: presentOf(stream), other: presentOf(other) };
  stream.starts.merge(other.starts, present, codesOf);
  countLost(stream, other, codesOf);
  stream.tables.forEach((table, index) => {
    table.grow(stream.reader.groups[index]?.labels.length ?? 0);
    table.merge(other.tables[index] as (typeof stream.tables)[number], codesOf[index] as Int32Array);
  });
  stream.events += other.events;
  stream.lateLabels += other.lateLabels;
  stream.faults.merge(other.faults.toJSON());
  stream.firstTime = earlier(stream.firstTime, other.firstTime);
  stream.latestTime = -earlier(-stream.latestTime, -other.latestTime);
}

function presentOf({ tables, events, latestTime }: EventStream): Omit<FreshStart, 'index'> {
  return { tables: tables.map((table) => table.copy()), events, time: latestTime };
}

/** Counts events as problems if their groups exceed the maximum number of groups of this stream. */
function countLost(stream: EventStream, other: EventStream, codesOf: readonly Int32Array[]): void {
  other.tables.forEach((table, index) => {
    if ((stream.options.attributes[index]?.parts.length ?? 0) > 0) return;
    codesOf[index]?.forEach((code, group) => {
      if (code >= 0) return;
      const at = group * table.stride;
      stream.faults.add('too_many_groups', sum(table.data.subarray(at, at + CELLS_PER_GROUP)));
    });
  });
}

/** Returns the smaller of two times, either of which may be unknown (NaN). */
function earlier(a: number, b: number): number {
  if (Number.isNaN(a)) return b;
  return Number.isNaN(b) ? a : Math.min(a, b);
}

function assertAlike(stream: EventStream, other: EventStream): void {
  if (stream === other) {
    throw new ValueError('A tracker cannot be merged with itself.', {
      suggestion: 'Merge the tracker of another shard.',
    });
  }
  const ways = ['columns', 'attributes', 'metrics', 'windowSize', 'labelHorizon', 'decisionThreshold', 'positiveLabel', 'yTruePositiveLabel', 'naValues', 'errorScale', 'restartEvery'] as const; // prettier-ignore
  const odd = ways.find((name) => JSON.stringify(stream.options[name]) !== JSON.stringify(other.options[name]));
  if (odd === undefined && stream.shape.hasWeights === other.shape.hasWeights) return;
  const what = odd ?? 'weights';
  throw new ValueError(`Trackers that differ in their ${what} cannot be merged.`, {
    context: { parameter: what },
    suggestion: 'Give all shards the same options.',
  });
}

/**
 * Returns, for each attribute, a map from the other stream's group codes to this stream's group codes. New groups get new
 * codes.
 */
export function translateGroups(stream: EventStream, other: EventStream): Int32Array[] {
  const codesOf: Int32Array[] = [];
  stream.reader.groups.forEach((groups, index) => {
    const theirs = other.reader.groups[index];
    if (theirs === undefined) return;
    if (groups instanceof CrossedCodes && theirs instanceof CrossedCodes) {
      const parts = theirs.parts();
      const indices = stream.options.attributes[index]?.parts ?? [];
      // There is one row for each intersection of the other stream, with this stream's codes of the crossed groups.
      const columns: Int32Array[] = [];
      indices.forEach((part, depth) => {
        columns[part] = Int32Array.from(
          parts,
          (codes) => (codesOf[part] as Int32Array)[codes[depth] as number] as number,
        );
      });
      codesOf.push(Int32Array.from(parts, (_, row) => groups.codeAt(columns, indices, row)));
    } else codesOf.push(Int32Array.from(theirs.labels, (label) => (groups as GroupCodes).codeOf(label)));
  });
  return codesOf;
}

/** For both streams, maps the old position of each event in the window to its position in the merged stream. */
interface NewNumbers {
  readonly own: ReadonlyMap<number, number>;
  readonly other: ReadonlyMap<number, number>;
}

function joinWindows(
  window: SlidingWindow,
  other: SlidingWindow,
  codesOf: readonly Int32Array[],
  events: number,
  groups: readonly number[],
): NewNumbers {
  const both = window.length + other.length;
  const size = Math.min(window.size, both);
  const kept = Math.round((size * window.length) / Math.max(1, both));
  const ours = [...window.slots()].slice(window.length - kept);
  const theirs = [...other.slots()].slice(other.length - (size - kept));
  const order = interleave(ours.length, theirs.length);
  const held = order.map(({ isOwn, index }) => {
    const from = isOwn ? window : other;
    const slot = (isOwn ? ours : theirs)[index] as number;
    return {
      isOwn,
      number: from.added - (isOwn ? ours : theirs).length + index,
      cell: from.cells[slot] as number,
      weight: from.weights?.[slot] ?? 1,
      error: from.errors?.[slot] ?? NaN,
      codes: from.codes.map((codes, attribute) => {
        const code = codes[slot] as number;
        return isOwn || code < 0 ? code : ((codesOf[attribute] as Int32Array)[code] as number);
      }),
    };
  });
  const numbers = { own: new Map<number, number>(), other: new Map<number, number>() };
  window.grow(groups);
  for (const table of window.tables) table.clear();
  window.added = events - held.length;
  // Resets the ring as if it had held only the merged events, so that nothing is subtracted for the old events.
  window.codes.forEach((codes) => codes.fill(-1));
  for (const event of held) {
    (event.isOwn ? numbers.own : numbers.other).set(event.number, window.added);
    window.add(
      {
        ...NO_COLUMNS,
        length: 1,
        codes: event.codes.map((code) => Int32Array.of(code)),
        cells: Uint8Array.of(event.cell),
        weights: window.weights === null ? null : Float64Array.of(event.weight),
        errors: window.errors === null ? null : Float64Array.of(event.error),
      },
      0,
      1,
    );
  }
  return numbers;
}

/** Returns an order in which the items of two lists are mixed evenly. */
function interleave(own: number, other: number): { readonly isOwn: boolean; readonly index: number }[] {
  const order: { isOwn: boolean; index: number }[] = [];
  let a = 0;
  let b = 0;
  while (a + b < own + other) {
    const isOwn = b >= other || (a < own && (a + 0.5) * other <= (b + 0.5) * own);
    order.push({ isOwn, index: isOwn ? a++ : b++ });
  }
  return order;
}

function joinLabels(
  stream: EventStream,
  other: EventStream,
  codesOf: readonly Int32Array[],
  numbers: NewNumbers,
): void {
  if (stream.labels === null || other.labels === null) return;
  const renumbered = (labels: LateLabels, indices: ReadonlyMap<number, number>): (WaitingEvent & { id: string })[] =>
    Array.from(labels.entries(), (event) => ({ ...event, event: indices.get(event.event) ?? -1 }));
  const ours = renumbered(stream.labels, numbers.own);
  const theirs = renumbered(other.labels, numbers.other).map((event) => ({
    ...event,
    codes: event.codes.map((code, index) => (code < 0 ? code : ((codesOf[index] as Int32Array)[code] as number))),
  }));
  stream.labels.clear();
  for (const event of [...ours, ...theirs]) {
    if (stream.labels.has(event.id)) stream.faults.add('duplicate_id');
    else if (stream.labels.restore(event)) stream.faults.add('expired_unlabelled');
  }
}

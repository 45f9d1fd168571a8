import { NO_COLUMNS } from './event-block.ts';
import type { EventStream } from './event-stream.ts';
import { addSums, translateGroups } from './merge-streams.ts';
import type { SlidingWindow } from './sliding-window.ts';
import type { StreamSnapshot } from './snapshot-schema.ts';
import { groupsOf, restoreGroups } from './stream-snapshot.ts';

/**
 * The order of the groups of a merged stream. The groups' shares of the error budget depend on this order, so it must
 * stay the same in all merges of a stream.
 */
export interface GroupOrder {
  /** The groups of each attribute, in the order of their codes. */
  readonly groups: StreamSnapshot['groups'];
  /**
   * For each attribute, the number of groups with equal shares. Null until enough events have been counted: until then,
   * no alarm can be raised.
   */
  readonly early: readonly number[] | null;
}

/**
 * Adds up the shards of a stream in a new stream. All counts are those of a single stream over all events. The sliding
 * window is approximate, because the order of events across shards is unknown: it consists of the newest events of
 * every shard, in proportion to the numbers of events that the shards have counted recently.
 * @param merged a new stream with the options of the shards
 * @param order the order of the groups in earlier merges; undefined for the first merge
 * @returns the order of the groups, for the next merge
 */
export function mergeShards(
  merged: EventStream,
  shards: readonly EventStream[],
  order: GroupOrder | undefined,
): GroupOrder {
  if (order !== undefined) restoreGroups(merged, order.groups);
  const codes = shards.map((shard) => translateGroups(merged, shard));
  merged.grow();
  shards.forEach((shard, index) => {
    addSums(merged, shard, codes[index] as Int32Array[]);
  });
  fillWindow(merged, shards, codes);
  const early = order?.early ?? (merged.isWarm ? merged.reader.groups.map(({ labels }) => labels.length) : null);
  merged.options.attributes.forEach(({ declared }, index) => {
    merged.early[index] = declared?.length ?? early?.[index] ?? 0;
  });
  return { groups: groupsOf(merged), early };
}

/** Fills the sliding window of a merged stream with the newest events of its shards. */
function fillWindow(merged: EventStream, shards: readonly EventStream[], codes: readonly Int32Array[][]): void {
  const { window } = merged;
  const taken = newestEvents(merged, shards);
  const total = taken.reduce((sum, count) => sum + count, 0);
  // The window counts events of the past as added, as that of a stream that was not merged.
  window.skip(merged.events - total);
  shards.forEach((shard, index) => {
    addNewest(window, shard.window, codes[index] as Int32Array[], taken[index] as number);
  });
}

/**
 * Returns how many of its newest events each shard has in the merged window. Restarts happen in all shards at about the
 * same time, so the numbers of events since a restart show how many events each shard has counted recently.
 */
function newestEvents({ window: { size } }: EventStream, shards: readonly EventStream[]): number[] {
  const since = (index: number): number[] =>
    shards.map(({ events, starts }) => events - (starts.kept.find((start) => start.index >= index)?.events ?? events));
  const indexes = new Set(shards.flatMap(({ starts }) => starts.kept.map(({ index }) => index)));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  const recent = [...indexes]
    .sort((a, b) => b - a)
    .map(since)
    .find((counts) => sum(counts) >= size);
  const counts = recent ?? shards.map(({ events }) => events);
  const share = Math.min(1, size / Math.max(1, sum(counts)));
  let room = Math.min(size, sum(counts));
  return counts.map((count, index) => {
    const most = Math.min(room, shards[index]?.window.length ?? 0);
    const kept = Math.min(most, Math.round(share * count));
    room -= kept;
    return kept;
  });
}

/** Adds the newest events of a shard's window to the window of the merged stream. */
function addNewest(merged: SlidingWindow, window: SlidingWindow, codesOf: readonly Int32Array[], count: number): void {
  const slots = [...window.slots()].slice(window.length - count);
  const take = (values: Float64Array | null): Float64Array | null =>
    values === null ? null : Float64Array.from(slots, (slot) => values[slot] as number);
  const codes = window.codes.map((column, attribute) =>
    Int32Array.from(slots, (slot) => {
      const code = column[slot] as number;
      return code < 0 ? code : ((codesOf[attribute] as Int32Array)[code] as number);
    }),
  );
  merged.add(
    {
      ...NO_COLUMNS,
      length: count,
      codes,
      cells: Uint8Array.from(slots, (slot) => window.cells[slot] as number),
      weights: take(window.weights),
      errors: take(window.errors),
    },
    0,
    count,
  );
}

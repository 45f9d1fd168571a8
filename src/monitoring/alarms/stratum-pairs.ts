import { z } from 'zod';

import { ValueError } from '../../exceptions/index.ts';
import type { EventBlock, EventObserver, Stratum } from '../tracker/event-block.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import { badSnapshot, count } from '../tracker/snapshot-schema.ts';
import { decode, encode } from '../tracker/stream-snapshot.ts';
import type { WatchedMeasure } from '../tracker/watched-metric.ts';
import type { Strata } from './engine-options.ts';

/** The maximum number of groups of an attribute that are paired. Later groups contribute no pairs. */
const MAX_PAIRED_GROUPS = 24;

/** The maximum number of strata with waiting events. If another one begins, the least recently used one is closed. */
const MAX_OPEN_STRATA = 256;

/**
 * The maximum number of waiting events of a pair of groups in a stratum. Further events of the larger group are not
 * paired. They are dropped without regard to their outcome, so this does not change the guarantee.
 */
const MAX_WAITING = 32;

/** The numbers that are kept for each pair of groups. */
const FIELDS = 4;

/** The sums of the pairs of two groups in a window. */
export interface PairSums {
  /** The codes of the groups; the first one is the smaller code. */
  readonly groups: readonly [first: number, second: number];
  /** The number of pairs. */
  readonly n: number;
  /** The numbers of positive outcomes of each group in its pairs. */
  readonly positives: readonly [first: number, second: number];
  /** The number of pairs with different outcomes. */
  readonly discordant: number;
}

/** The pairs of one measure of one attribute. */
interface Paired {
  readonly attribute: number;
  readonly measure: WatchedMeasure & { readonly kind: 'rate' };
  /** The sums of each pair of groups, four numbers per pair. */
  sums: Float64Array;
  /** The number of groups seen so far, as the largest code plus 1. Events wait only for partners of these groups. */
  groups: number;
}

/** Events that wait for a partner, in one stratum: for each part, two numbers per pair of groups. */
type Waiting = Int32Array[];

export const PAIRS_SCHEMA = z.strictObject({
  next: count,
  sums: z.array(z.string()),
  marks: z.array(z.strictObject({ index: count, sums: z.array(z.string()) })),
  open: z.array(z.strictObject({ stratum: z.union([z.string(), z.int()]), waiting: z.array(z.string()) })),
});

/** The state of all pairs as plain JSON. */
export type PairsState = z.output<typeof PAIRS_SCHEMA>;

/** Returns the index of a pair of groups with first < second. It stays the same when further groups appear. */
function pairIndex(first: number, second: number): number {
  return (second * (second - 1)) / 2 + first;
}

/** Returns the number of groups that have a number of pairs; 0 if there are none. */
function groupsOf(pairs: number): number {
  return pairs === 0 ? 0 : Math.round((1 + Math.sqrt(1 + 8 * pairs)) / 2);
}

/**
 * Pairs the events of each two groups within strata. An event waits in its stratum until an event of the other group
 * arrives there. The difference of the two outcomes has the mean of the difference of both rates in this stratum. A
 * mix of groups that changes between strata therefore has no influence.
 *
 * Only sums are kept: the numbers of pairs, of positive outcomes, and of pairs with different outcomes. Memory does not
 * grow with the number of events or strata.
 */
export class StratumPairs implements EventObserver {
  readonly #stream: EventStream;
  readonly #strata: Strata;
  readonly #paired: readonly Paired[];
  readonly #open = new Map<Stratum, Waiting>();
  /** The sums at each kept start; starts without an entry began before the first pair. */
  readonly #marks = new Map<number, readonly Float64Array[]>();
  #next: number;
  #latest: { readonly stratum: Stratum; readonly waiting: Waiting } | undefined;

  /** @throws {ValueError} if events have weights, or no rate is monitored */
  constructor(stream: EventStream, strata: Strata) {
    this.#stream = stream;
    this.#strata = strata;
    this.#next = stream.starts.next;
    const rates = stream.options.metrics.flatMap(({ measures }) => measures).filter((one) => one.kind === 'rate');
    const measures = [...new Map(rates.map((measure) => [measure.name, measure])).values()];
    if (measures.length === 0 || stream.shape.hasWeights) {
      throw new ValueError(
        `Gaps within strata are gaps of ${stream.shape.hasWeights ? 'events without weights' : 'rates'}, and the tracker ${stream.shape.hasWeights ? 'has a column of weights' : 'monitors none'}.`,
        { context: { parameter: 'within' }, suggestion: "Leave out 'within', or monitor rates without weights." },
      );
    }
    this.#paired = stream.options.attributes.flatMap((_, attribute) =>
      measures.map((measure) => ({ attribute, measure, sums: new Float64Array(0), groups: 0 })),
    );
  }

  /** Starts to receive the events of the stream. */
  begin(): void {
    const strata = this.#strata;
    this.#stream.stratify(JSON.stringify(strata), strata.kind === 'column' ? strata.column : undefined, (block, row) =>
      this.#stratumOf(block, row),
    );
    this.#stream.observe(this);
  }

  events(block: EventBlock, from: number, to: number): void {
    this.#mark();
    for (let row = from; row < to; row++) {
      const stratum = this.#stratumOf(block, row);
      if (stratum === null) {
        this.#stream.faults.add('missing_stratum');
        continue;
      }
      const cell = block.cells[row] as number;
      this.#paired.forEach((paired, index) => {
        this.#add(paired, index, stratum, (block.codes[paired.attribute] as Int32Array)[row] as number, cell);
      });
    }
  }

  label(codes: readonly number[], cell: number, _error: number, stratum: Stratum | null): void {
    if (stratum === null) return;
    this.#mark();
    this.#paired.forEach((paired, index) => {
      // Measures that need no true label have already received the event.
      if (paired.measure.needsTruth) {
        this.#add(paired, index, stratum, codes[paired.attribute] as number, cell);
      }
    });
  }

  /** Returns the sums of every two groups that have pairs in the window that began at a start. */
  pairsSince(start: number, attribute: number, measure: WatchedMeasure): PairSums[] {
    this.#mark();
    const position = this.#paired.findIndex((one) => one.attribute === attribute && one.measure.name === measure.name);
    const sums = this.#paired[position]?.sums ?? new Float64Array(0);
    const before = this.#marks.get(start)?.[position];
    const since = (at: number): number => (sums[at] as number) - (before?.[at] ?? 0);
    const found: PairSums[] = [];
    for (let [second, at] = [1, 0]; at < sums.length; second++) {
      for (let first = 0; first < second && at < sums.length; first++, at += FIELDS) {
        const n = since(at);
        if (n <= 0) continue;
        const positives = [since(at + 1), since(at + 2)] as const;
        found.push({ groups: [first, second], n, positives, discordant: since(at + 3) });
      }
    }
    return found;
  }

  state(): PairsState {
    this.#mark();
    return {
      next: this.#next,
      sums: this.#paired.map(({ sums }) => encode(sums)),
      marks: Array.from(this.#marks, ([index, sums]) => ({ index, sums: sums.map(encode) })),
      open: Array.from(this.#open, ([stratum, waiting]) => ({ stratum, waiting: waiting.map(encode) })),
    };
  }

  /**
   * Restores a state.
   * @throws {DataValidationError} if the state does not fit the stream
   */
  restore({ next, sums, marks, open }: PairsState): void {
    if (next > this.#stream.starts.next) throw badSnapshot('its pairs are from a later time than the tracker');
    if (open.length > MAX_OPEN_STRATA) throw badSnapshot('it has too many open strata');
    this.#next = next;
    const current = readSums(sums, this.#paired.length);
    this.#paired.forEach((paired, index) => {
      paired.sums = current[index] as Float64Array;
      const known = this.#stream.reader.groups[paired.attribute]?.labels.length ?? 0;
      paired.groups = groupsOf(paired.sums.length / FIELDS);
      if (paired.groups > Math.min(MAX_PAIRED_GROUPS, known)) throw badSnapshot('it has pairs of unknown groups');
    });
    for (const mark of marks) {
      const then = readSums(mark.sums, this.#paired.length);
      then.forEach((values, index) => {
        const now = current[index] as Float64Array;
        if (values.some((value, at) => !(value <= (now[at] ?? -1)))) {
          throw badSnapshot('a start has more pairs than the stream');
        }
      });
      this.#marks.set(mark.index, then);
    }
    for (const { stratum, waiting } of open) {
      if (waiting.length !== this.#paired.length) throw badSnapshot('its strata belong to other measures');
      this.#open.set(stratum, waiting.map(readWaiting));
    }
  }

  /** Copies the sums for windows that have begun since the last event, and forgets those of discarded starts. */
  #mark(): void {
    const { next, kept } = this.#stream.starts;
    if (this.#next === next) return;
    const now = this.#paired.map(({ sums }) => sums.slice());
    for (const { index } of kept) if (index >= this.#next) this.#marks.set(index, now);
    this.#next = next;
    const indexes = new Set(kept.map(({ index }) => index));
    for (const index of this.#marks.keys()) if (!indexes.has(index)) this.#marks.delete(index);
  }

  #stratumOf(block: EventBlock, row: number): Stratum | null {
    if (this.#strata.kind === 'column') return block.strata?.[row] ?? null;
    const reported = block.times?.[row] ?? NaN;
    return Math.floor((Number.isNaN(reported) ? this.#stream.time : reported) / this.#strata.millis);
  }

  /** Adds an event: it forms a pair with the oldest waiting event of each other group, or waits itself. */
  #add(paired: Paired, index: number, stratum: Stratum, group: number, cell: number): void {
    const outcome = paired.measure.valueOfCell[cell] as number;
    if (outcome < 0 || group < 0 || group >= MAX_PAIRED_GROUPS) return;
    paired.groups = Math.max(paired.groups, group + 1);
    const { groups } = paired;
    const waiting = this.#waitingIn(stratum, index, groups);
    const length = FIELDS * pairIndex(0, groups);
    if (paired.sums.length < length) paired.sums = grown(paired.sums, length);
    for (let other = 0; other < groups; other++) {
      if (other === group) continue;
      const [first, second] = other < group ? [other, group] : [group, other];
      const pair = pairIndex(first, second);
      const side = group === first ? 1 : -1;
      const had = side * (waiting[2 * pair] as number);
      const bits = waiting[2 * pair + 1] as number;
      if (had >= 0) {
        if (had === MAX_WAITING) continue;
        waiting[2 * pair] = side * (had + 1);
        waiting[2 * pair + 1] = bits | (outcome << had);
        continue;
      }
      const partner = bits & 1;
      waiting[2 * pair] = side * (had + 1);
      waiting[2 * pair + 1] = bits >>> 1;
      const at = FIELDS * pair;
      const { sums } = paired;
      sums[at] = (sums[at] as number) + 1;
      sums[at + 1] = (sums[at + 1] as number) + (side === 1 ? outcome : partner);
      sums[at + 2] = (sums[at + 2] as number) + (side === 1 ? partner : outcome);
      sums[at + 3] = (sums[at + 3] as number) + (outcome ^ partner);
    }
  }

  /** Returns the waiting events of a part in a stratum, with room for all pairs of groups. */
  #waitingIn(stratum: Stratum, index: number, groups: number): Int32Array {
    if (this.#latest?.stratum !== stratum) {
      const known = this.#open.get(stratum);
      const waiting = known ?? this.#paired.map(() => new Int32Array(0));
      // A map lists its entries in the order of insertion, so the first one is the least recently used.
      this.#open.delete(stratum);
      this.#open.set(stratum, waiting);
      this.#latest = { stratum, waiting };
      if (this.#open.size > MAX_OPEN_STRATA) {
        const [oldest] = this.#open.keys();
        if (oldest !== undefined) this.#open.delete(oldest);
      }
    }
    const parts = (this.#latest as { readonly waiting: Waiting }).waiting;
    const needed = 2 * pairIndex(0, groups);
    const part = parts[index] as Int32Array;
    if (part.length >= needed) return part;
    const room = new Int32Array(needed);
    room.set(part);
    parts[index] = room;
    return room;
  }
}

function grown(values: Float64Array, length: number): Float64Array {
  const room = new Float64Array(length);
  room.set(values);
  return room;
}

function readSums(texts: readonly string[], parts: number): Float64Array[] {
  if (texts.length !== parts) throw badSnapshot('its pairs belong to other measures');
  return texts.map((text) => {
    const sums = decode(text, Float64Array);
    const isWhole = sums.length % FIELDS === 0 && sums.every((value) => Number.isSafeInteger(value) && value >= 0);
    if (!isWhole || sums.some((value, at) => value > (sums[at - (at % FIELDS)] as number))) {
      throw badSnapshot('the sums of its pairs are impossible');
    }
    return sums;
  });
}

function readWaiting(text: string): Int32Array {
  const waiting = decode(text, Int32Array);
  if (waiting.length % 2 !== 0 || waiting.some((value, at) => at % 2 === 0 && Math.abs(value) > MAX_WAITING)) {
    throw badSnapshot('the waiting events of a stratum are impossible');
  }
  return waiting;
}

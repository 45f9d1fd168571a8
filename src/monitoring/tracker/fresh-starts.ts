import { GroupTable } from './group-table.ts';

/** A start of a window, with the sums of the stream at that point. */
export interface FreshStart {
  /** The number of the start, counted from 0; start 0 is the beginning of the stream. */
  readonly index: number;
  /** The number of events counted before the start. */
  readonly events: number;
  /** The time of the start in milliseconds since 1970; NaN before the first event. */
  readonly time: number;
  /** The sums at the start, one table per attribute. */
  readonly tables: readonly GroupTable[];
}

/**
 * Determines how long starts are kept. Let 2^j be the largest power of two that divides the index of a start. The start
 * is discarded after KEPT_SPACINGS x 2^j further starts.
 */
const KEPT_SPACINGS = 8;

/** The maximum value of j, which limits memory. The first start is kept indefinitely. */
const MAX_DOUBLINGS = 16;

/**
 * The starts of a stream's windows: the beginning of the stream, and a restart after every `restartEvery` events. All
 * recent starts are kept, and of the older starts, increasingly fewer are kept. For every length of more than four
 * starts, there is therefore a window that is at most a quarter longer. A stream of any length keeps at most
 * {@link KEPT_SPACINGS} / 2 x {@link MAX_DOUBLINGS} + {@link KEPT_SPACINGS} starts.
 */
export class FreshStarts {
  #kept: FreshStart[] = [];
  #next = 0;
  /** For each holder, the index of the start that must be kept for it, whatever its age. */
  readonly #held = new Map<object, number>();

  /** The kept starts, oldest first. */
  get kept(): readonly FreshStart[] {
    return this.#kept;
  }

  /** The index of the next start. */
  get next(): number {
    return this.#next;
  }

  /** Starts a new window now. */
  begin(events: number, time: number, tables: readonly GroupTable[]): void {
    const index = this.#next++;
    this.#kept = this.#kept.filter((start) => this.#isKept(start.index, index));
    this.#kept.push({ index, events, time, tables: tables.map((table) => table.copy()) });
  }

  /**
   * Starts all windows with an index up to `index` that have not started yet. They start now, and share their sums. Of
   * many windows, only those are stored that would still be kept.
   */
  beginUpTo(index: number, events: number, time: number, tables: readonly GroupTable[]): void {
    if (index < this.#next) return;
    const began = keptIndexes(this.#next, index);
    const copies = tables.map((table) => table.copy());
    this.#next = index + 1;
    this.#kept = this.#kept.filter((start) => this.#isKept(start.index, index));
    this.#kept.push(...began.map((one) => ({ index: one, events, time, tables: copies })));
  }

  /** Keeps an existing or future start until the same holder calls this method with another start. */
  hold(holder: object, index: number): void {
    this.#held.set(holder, index);
  }

  #isKept(index: number, latest: number): boolean {
    return isKept(index, latest) || [...this.#held.values()].includes(index);
  }

  /** Restores kept starts, oldest first. */
  restore(kept: readonly FreshStart[], next: number): void {
    this.#kept = [...kept];
    this.#next = next;
  }

  /**
   * Merges the starts of two streams. The merged window of a start index contains, for each stream, the events since
   * that stream's start with this index. A stream that has not reached this start yet contributes only its future
   * events. If one of the streams has already discarded a start, the merged stream discards it too.
   * @param other the other stream's starts
   * @param present the current sums of both streams, before they are added
   * @param codesOf for each attribute, a map from the other stream's group codes to this stream's group codes
   */
  merge(
    other: FreshStarts,
    present: { readonly own: Present; readonly other: Present },
    codesOf: readonly ArrayLike<number>[],
  ): void {
    const indexes = new Set([...this.#kept, ...other.kept].map(({ index }) => index));
    const merged = Array.from(indexes)
      .sort((a, b) => a - b)
      .flatMap((index) => {
        const own = this.#kept.find((start) => start.index === index) ?? stub(index, this.#next, present.own);
        const their = other.kept.find((start) => start.index === index) ?? stub(index, other.next, present.other);
        return own === undefined || their === undefined ? [] : [joinStarts(index, own, their, codesOf)];
      });
    this.#next = Math.max(this.#next, other.next);
    const latest = this.#next - 1;
    this.#kept = merged.filter(({ index }) => this.#isKept(index, latest));
  }
}

/** The number of events, the time and the sums of a stream at some point. */
type Present = Omit<FreshStart, 'index'>;

/** Returns the current sums if the stream has not reached the start with the given index yet; otherwise undefined. */
function stub(index: number, next: number, present: Present): Present | undefined {
  return index < next ? undefined : present;
}

function joinStarts(index: number, own: Present, their: Present, codesOf: readonly ArrayLike<number>[]): FreshStart {
  const tables = own.tables.map((table, position) => {
    const sum = table.copy();
    const codes = codesOf[position] as ArrayLike<number>;
    const twin = their.tables[position] as GroupTable;
    sum.grow(largest(codes, twin.groups) + 1);
    sum.merge(twin, codes);
    return sum;
  });
  const times = [own.time, their.time].filter((time) => !Number.isNaN(time));
  return { index, events: own.events + their.events, time: times.length === 0 ? NaN : Math.min(...times), tables };
}

function largest(codes: ArrayLike<number>, count: number): number {
  let most = -1;
  for (let index = 0; index < count; index++) most = Math.max(most, codes[index] as number);
  return most;
}

/** Returns the indexes from `first` to `latest` that are still kept when the latest start has the index `latest`. */
function keptIndexes(first: number, latest: number): number[] {
  const found = new Set<number>();
  for (let doublings = 0; doublings <= MAX_DOUBLINGS; doublings++) {
    const step = 2 ** doublings;
    const last = latest - (latest % step);
    for (let index = last; index >= first && latest - index < KEPT_SPACINGS * step; index -= step) found.add(index);
  }
  return [...found].sort((a, b) => a - b);
}

/** Returns whether a start is still kept when the latest start has a given index. */
function isKept(index: number, latest: number): boolean {
  if (index === 0) return true;
  const doublings = Math.min(MAX_DOUBLINGS, Math.log2(index & -index));
  return latest - index < KEPT_SPACINGS * 2 ** doublings;
}

import { GroupTable } from './group-table.ts';

/** The sums of a stream at the time when a window of it began. */
export interface FreshStart {
  /** Its number; 0 is the beginning of the stream. */
  readonly index: number;
  /** Events counted before it. */
  readonly events: number;
  /** Milliseconds since 1970; NaN before the first event. */
  readonly time: number;
  /** By attribute. */
  readonly tables: readonly GroupTable[];
}

/** A start divisible by 2^j is kept until it is this many times 2^j starts old. */
const KEPT_SPACINGS = 8;

/** Beyond 2 to this no start is kept longer, so that memory has an end; the first start is kept for ever. */
const MOST_DOUBLINGS = 16;

/**
 * Where windows of a stream begin: at its beginning and again after every so
 * many events. Of the starts those are kept whose ages are spaced in
 * proportion: near the present each one, further back fewer and fewer. So for
 * every age up to the oldest there is a window that is at most a quarter longer, and
 * a stream of any length keeps at most {@link KEPT_SPACINGS} / 2 x
 * {@link MOST_DOUBLINGS} + {@link KEPT_SPACINGS} of them.
 */
export class FreshStarts {
  #kept: FreshStart[] = [];
  #next = 0;

  /** Those kept, oldest first. */
  get kept(): readonly FreshStart[] {
    return this.#kept;
  }

  /** The number that the next start will have. */
  get next(): number {
    return this.#next;
  }

  /** Begins a window now. */
  begin(events: number, time: number, tables: readonly GroupTable[]): void {
    const index = this.#next++;
    // Of nothing at all no copy is needed.
    this.#kept = this.#kept.filter((start) => isKept(start.index, index));
    this.#kept.push({ index, events, time, tables: tables.map((table) => table.copy()) });
  }

  /** Goes on from starts that were kept, oldest first. */
  restore(kept: readonly FreshStart[], next: number): void {
    this.#kept = [...kept];
    this.#next = next;
  }

  /**
   * The starts of two streams that become one: those that both have, added up.
   * A window of the whole is then what came to each stream since its own start of that number.
   */
  merge(other: FreshStarts, codesOf: readonly ArrayLike<number>[]): void {
    const theirs = new Map(other.kept.map((start) => [start.index, start]));
    this.#next = Math.max(this.#next, other.next);
    const latest = this.#next - 1;
    this.#kept = this.#kept.flatMap((start) => {
      const twin = theirs.get(start.index);
      if (twin === undefined || !isKept(start.index, latest)) return [];
      const tables = start.tables.map((table, place) => {
        const sum = table.copy();
        const codes = codesOf[place] as ArrayLike<number>;
        sum.grow(largest(codes, (twin.tables[place] as GroupTable).groups) + 1);
        sum.merge(twin.tables[place] as GroupTable, codes);
        return sum;
      });
      const time = Number.isNaN(start.time)
        ? twin.time
        : Math.min(start.time, Number.isNaN(twin.time) ? Infinity : twin.time);
      return [{ index: start.index, events: start.events + twin.events, time, tables }];
    });
  }
}

function largest(codes: ArrayLike<number>, count: number): number {
  let most = -1;
  for (let index = 0; index < count; index++) most = Math.max(most, codes[index] as number);
  return most;
}

/** Whether a start is still kept once another has begun. */
function isKept(index: number, latest: number): boolean {
  if (index === 0) return true;
  const doublings = Math.min(MOST_DOUBLINGS, Math.log2(index & -index));
  return latest - index < KEPT_SPACINGS * 2 ** doublings;
}

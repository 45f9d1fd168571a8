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
const MAX_DOUBLINGS = 16;

/**
 * Where windows of a stream begin: at its beginning and again after every so
 * many events. Of the starts those are kept whose ages are spaced in
 * proportion: near the present each one, further back fewer and fewer. So for
 * every age above four starts there is a window that is at most a quarter longer, and
 * a stream of any length keeps at most {@link KEPT_SPACINGS} / 2 x
 * {@link MAX_DOUBLINGS} + {@link KEPT_SPACINGS} of them.
 */
export class FreshStarts {
  #kept: FreshStart[] = [];
  #next = 0;
  /** The start that somebody still needs, whatever its age: one for each who asks. */
  readonly #held = new Map<object, number>();

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
    this.#kept = this.#kept.filter((start) => this.#isKept(start.index, index));
    this.#kept.push({ index, events, time, tables: tables.map((table) => table.copy()) });
  }

  /** Keeps a start, one that has begun or one to come, until the same holder asks for another. */
  hold(holder: object, index: number): void {
    this.#held.set(holder, index);
  }

  #isKept(index: number, latest: number): boolean {
    return isKept(index, latest) || [...this.#held.values()].includes(index);
  }

  /** Goes on from starts that were kept, oldest first. */
  restore(kept: readonly FreshStart[], next: number): void {
    this.#kept = [...kept];
    this.#next = next;
  }

  /**
   * The starts of two streams that become one. A window of the whole is what came
   * to each stream since its own start of that number; a stream that never
   * reached it joins with what comes to it from now on. A start that one stream
   * has already let go is let go.
   * @param other the other stream's starts
   * @param present the sums of both streams as they are now, before they are added up
   * @param codesOf the codes here of the other's groups, by attribute
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
        const own = this.#kept.find((start) => start.index === index) ?? standIn(index, this.#next, present.own);
        const their = other.kept.find((start) => start.index === index) ?? standIn(index, other.next, present.other);
        return own === undefined || their === undefined ? [] : [joinStarts(index, own, their, codesOf)];
      });
    this.#next = Math.max(this.#next, other.next);
    const latest = this.#next - 1;
    this.#kept = merged.filter(({ index }) => this.#isKept(index, latest));
  }
}

/** A stream's sums at some time. */
type Present = Omit<FreshStart, 'index'>;

/** For a start that a stream has not reached: the present. */
function standIn(index: number, next: number, present: Present): Present | undefined {
  return index < next ? undefined : present;
}

function joinStarts(index: number, own: Present, their: Present, codesOf: readonly ArrayLike<number>[]): FreshStart {
  const tables = own.tables.map((table, place) => {
    const sum = table.copy();
    const codes = codesOf[place] as ArrayLike<number>;
    const twin = their.tables[place] as GroupTable;
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

/** Whether a start is still kept once another has begun. */
function isKept(index: number, latest: number): boolean {
  if (index === 0) return true;
  const doublings = Math.min(MAX_DOUBLINGS, Math.log2(index & -index));
  return latest - index < KEPT_SPACINGS * 2 ** doublings;
}

import type { EventStream } from '../tracker/event-stream.ts';
import type { FreshStart } from '../tracker/fresh-starts.ts';
import type { GroupTable } from '../tracker/group-table.ts';
import { emptySums, measureValue } from '../tracker/measure-intervals.ts';
import { growingShare, type KnownGroups, knownGroups, startShare } from '../tracker/stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';
import type { AlphaShare } from './alert-event.ts';
import { type FoundGap, OutermostEnds, WindowEnds } from './window-ends.ts';

/** The inputs for a bound that can differ between checks. */
export interface BoundQuestion {
  /** Whether windows that begin at restarts are used. If false, only the window that began at `firstStart` is used. */
  readonly isRestarted: boolean;
  /** The index of the first window start that is used. Windows that began earlier are ignored. */
  readonly firstStart: number;
  /** The number of closed alarms of this combination. */
  readonly closed: number;
}

/** The complete error budget of the engine, and the share of it that a combination has. */
export interface AlphaBudget {
  readonly engine: number;
  readonly combination: number;
}

/** A gap between two groups in a window, with bounds that hold at all times simultaneously. */
export interface AnytimeBound {
  readonly measure: WatchedMeasure;
  readonly start: FreshStart;
  /** The codes of the two groups, the group with the larger value first. */
  readonly groups: readonly [larger: number, smaller: number];
  readonly values: readonly [larger: number, smaller: number];
  /** The number of events of each group. */
  readonly counts: readonly [larger: number, smaller: number];
  readonly low: number;
  readonly high: number;
  readonly share: AlphaShare;
}

/**
 * Finds the largest lower bound of a gap over all stored windows, for one attribute and metric. Every window, measure
 * and group has a share of alpha, and every interval holds at all times simultaneously.
 *
 * A window remembers limits of every group's interval. A check updates only the groups whose sums have changed since
 * the last check, so its cost does not grow with the number of groups.
 */
export class BoundFinder {
  readonly #attribute: number;
  readonly #metric: WatchedMetric;
  readonly #alpha: AlphaBudget;
  #windows = new WeakMap<FreshStart, KnownWindow>();
  #known: KnownGroups = { early: 0, isClosed: false };
  /** The position in the list of changes at the last check, and the index of the next start at that time. */
  #seen = { position: -1, next: Infinity };
  /** The outermost ends of the window that was found last, for each measure. */
  #outermost = new Map<WatchedMeasure, OutermostEnds>();

  constructor(attribute: number, metric: WatchedMetric, alpha: AlphaBudget) {
    this.#attribute = attribute;
    this.#metric = metric;
    this.#alpha = alpha;
  }

  /**
   * Returns the largest lower bound of a gap over all stored windows. Returns undefined if this bound is not above the
   * limit. If the true gap is never above the limit in any window, the probability that a bound is ever returned is at
   * most the combination's alpha.
   * @param limit the value that a returned bound must exceed; with -Infinity, the largest bound is always returned
   */
  strongest(stream: EventStream, question: BoundQuestion, limit: number): AnytimeBound | undefined {
    if (!stream.isWarm) return undefined;
    this.#forgetOldShares(stream);
    const { isRestarted, firstStart, closed } = question;
    const table = stream.tables[this.#attribute] as GroupTable;
    const position = table.changes?.mark() ?? -1;
    let best: FoundGap | undefined;
    for (const start of stream.starts.kept) {
      if (start.index < firstStart || (!isRestarted && start.index > firstStart)) continue;
      const share = isRestarted ? startShare(start.index) : growingShare(closed);
      for (const ends of this.#endsOf(stream, start, this.#alpha.combination * share)) {
        ends.update(table, position);
        best = ends.gapAbove(table, best?.low ?? limit) ?? best;
      }
    }
    this.#seen = { position, next: stream.starts.next };
    return best === undefined ? undefined : this.#boundOf(best, table, position);
  }

  /** Shares of groups change only before the warm-up ends, or if a tracker is merged before. */
  #forgetOldShares(stream: EventStream): void {
    const known = knownGroups(stream, this.#attribute);
    if (known.early === this.#known.early && known.isClosed === this.#known.isClosed) return;
    this.#known = known;
    this.#windows = new WeakMap();
    this.#seen = { position: -1, next: Infinity };
    this.#outermost = new Map();
  }

  #endsOf(stream: EventStream, start: FreshStart, windowAlpha: number): readonly WindowEnds[] {
    const found = this.#windows.get(start);
    if (found?.windowAlpha === windowAlpha) return found.ends;
    // In a window that began after the last check, only groups that have changed since then have events.
    const position = start.index >= this.#seen.next ? this.#seen.position : -1;
    const { minGroupSize, errorScale } = stream.options;
    const { hasWeights } = stream.shape;
    const { measures } = this.#metric;
    const measureAlpha = windowAlpha / measures.length;
    const ends = measures
      // Errors without a scale or with weights have no anytime-valid interval.
      .filter(({ kind }) => kind === 'rate' || (errorScale !== null && !hasWeights))
      .map((measure) => {
        const basis = { hasWeights, errorScale, minGroupSize, known: this.#known };
        return new WindowEnds(
          { ...basis, measure, start, attribute: this.#attribute, windowAlpha, measureAlpha },
          position,
        );
      });
    this.#windows.set(start, { windowAlpha, ends });
    return ends;
  }

  #boundOf({ ends, larger, smaller, low }: FoundGap, table: GroupTable, position: number): AnytimeBound {
    const { measure, start, windowAlpha } = ends.rule;
    const outermost = this.#outermost.get(measure) ?? new OutermostEnds();
    this.#outermost.set(measure, outermost);
    const [lowest, highest] = outermost.of(ends, table, position);
    const [first, second] = [ends.sum(table, larger, emptySums()), ends.sum(table, smaller, emptySums())];
    return {
      measure,
      start,
      groups: [larger, smaller],
      values: [measureValue(first), measureValue(second)],
      counts: [first.n, second.n],
      low,
      high: measure.kind === 'rate' ? Math.min(1, highest - lowest) : highest - lowest,
      share: {
        engine: this.#alpha.engine,
        combination: this.#alpha.combination,
        window: windowAlpha,
        group: Math.min(ends.alphaOf(larger), ends.alphaOf(smaller)),
      },
    };
  }
}

/** The intervals of a window, for each measure, with the error budget that they use. */
interface KnownWindow {
  readonly windowAlpha: number;
  readonly ends: readonly WindowEnds[];
}

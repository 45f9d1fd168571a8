import { criticalValue } from '../../stats/normal.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import { empiricalBernsteinSequence } from '../../stats/sequential/empirical-bernstein-sequence.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import type { FreshStart } from '../tracker/fresh-starts.ts';
import { emptySums } from '../tracker/measure-intervals.ts';
import { groupShare, growingShare, knownGroups, type MeasuredGroup, startShare } from '../tracker/stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';
import type { AlphaBudget, AnytimeBound, BoundQuestion } from './anytime-bound.ts';
import type { PairSums, StratumPairs } from './stratum-pairs.ts';
import type { WatchReading } from './watch-tier.ts';

/**
 * The variance of scaled pairs at which the interval is tightest. Pairs of rates of about one half reach it after 200
 * pairs.
 */
const BEST_VARIANCE = 25;

/** Returns the mean difference of the pairs of two groups: the mean of the differences in the strata, by pairs. */
function differenceOf({ n, positives }: PairSums): number {
  return (positives[0] - positives[1]) / n;
}

/**
 * Returns the anytime-valid interval of the mean difference of pairs. A difference x in [-1, 1] is scaled to (x + 1) / 2,
 * and 1/2 is its prediction. The squared distance is then 1/4 for different outcomes and 0 for equal ones, so that the
 * interval needs only sums. The mean of each pair, given the past, is the difference of the rates in its stratum. If it
 * varies, the intervals contain its running average over the pairs.
 */
function anytimeDifference(pair: PairSums, alpha: number): Interval {
  const state = { n: pair.n, mean: (differenceOf(pair) + 1) / 2, predictableVariance: pair.discordant / 4 };
  const [low, high] = empiricalBernsteinSequence(state, alpha, { vOpt: BEST_VARIANCE });
  return [2 * low - 1, 2 * high - 1];
}

/** Returns the range of the size of a difference, given an interval of the difference. */
function sizeRange([low, high]: Interval): Interval {
  return [Math.max(0, low, -high), Math.min(1, Math.max(Math.abs(low), Math.abs(high)))];
}

/** Returns the groups of a pair, the group with the larger rate first, with their rates in the pairs. */
function orderedGroups(pair: PairSums): Pick<AnytimeBound, 'groups' | 'values'> {
  const [first, second] = pair.groups;
  const [a, b] = [pair.positives[0] / pair.n, pair.positives[1] / pair.n];
  return a >= b ? { groups: [first, second], values: [a, b] } : { groups: [second, first], values: [b, a] };
}

/**
 * Finds the largest lower bound of a gap within strata over all stored windows, for one attribute and metric. Every
 * window, measure and pair of groups has a share of alpha: two groups with the shares s and t have 2 s t.
 */
export class PairBoundFinder {
  readonly #pairs: StratumPairs;
  readonly #attribute: number;
  readonly #measures: readonly WatchedMeasure[];
  readonly #alpha: AlphaBudget;

  constructor(pairs: StratumPairs, attribute: number, { measures }: WatchedMetric, alpha: AlphaBudget) {
    this.#pairs = pairs;
    this.#attribute = attribute;
    this.#measures = measures;
    this.#alpha = alpha;
  }

  /** Returns the largest lower bound; undefined if it is not above the limit. See `BoundFinder.strongest`. */
  strongest(
    stream: EventStream,
    { isRestarted, firstStart, closed }: BoundQuestion,
    limit: number,
  ): AnytimeBound | undefined {
    if (!stream.isWarm) return undefined;
    let best: AnytimeBound | undefined;
    for (const start of stream.starts.kept) {
      if (start.index < firstStart || (!isRestarted && start.index > firstStart)) continue;
      const window = this.#alpha.combination * (isRestarted ? startShare(start.index) : growingShare(closed));
      for (const measure of this.#measures) {
        best = this.#inWindow(stream, start, measure, { window, limit: best?.low ?? limit }) ?? best;
      }
    }
    return best;
  }

  #inWindow(
    stream: EventStream,
    start: FreshStart,
    measure: WatchedMeasure,
    { window, limit }: { readonly window: number; readonly limit: number },
  ): AnytimeBound | undefined {
    const known = knownGroups(stream, this.#attribute);
    const alphaOf = ({ groups: [first, second] }: PairSums): number =>
      (2 * window * groupShare(first, known) * groupShare(second, known)) / this.#measures.length;
    const pairs = this.#pairs
      .pairsSince(start.index, this.#attribute, measure)
      .filter(({ n }) => n >= stream.options.minGroupSize);
    let best: { readonly pair: PairSums; readonly low: number } | undefined;
    for (const pair of pairs) {
      // The lower bound is below the difference, so most pairs need no interval.
      if (!(Math.abs(differenceOf(pair)) > (best?.low ?? limit))) continue;
      const [low] = sizeRange(anytimeDifference(pair, alphaOf(pair)));
      if (low > (best?.low ?? limit)) best = { pair, low };
    }
    if (best === undefined) return undefined;
    const { pair, low } = best;
    return {
      measure,
      start,
      ...orderedGroups(pair),
      counts: [pair.n, pair.n],
      low,
      high: Math.max(...pairs.map((one) => sizeRange(anytimeDifference(one, alphaOf(one)))[1])),
      share: {
        engine: this.#alpha.engine,
        combination: this.#alpha.combination,
        window,
        group: alphaOf(pair),
      },
    };
  }
}

/** Reads the current gap within strata, with an ordinary interval, from the pairs of about the last `windowSize` events. */
export class PairReader {
  readonly #pairs: StratumPairs;
  readonly #attribute: number;
  readonly #measures: readonly WatchedMeasure[];

  constructor(pairs: StratumPairs, attribute: number, { measures }: WatchedMetric) {
    this.#pairs = pairs;
    this.#attribute = attribute;
    this.#measures = measures;
  }

  /** Returns the current gap; null if no two groups have enough pairs for every measure. */
  read(stream: EventStream): WatchReading | null {
    const { minGroupSize, level } = stream.options;
    const start = this.startOf(stream);
    let widest: WatchReading | undefined;
    let [low, high] = [0, 0];
    for (const measure of this.#measures) {
      const pairs = this.#pairs.pairsSince(start.index, this.#attribute, measure).filter(({ n }) => n >= minGroupSize);
      if (pairs.length === 0) return null;
      const z = criticalValue(1 - (1 - level) / (this.#measures.length * pairs.length));
      for (const pair of pairs) {
        const [least, most] = sizeRange(ordinaryDifference(pair, z));
        low = Math.max(low, least);
        high = Math.max(high, most);
        const value = Math.abs(differenceOf(pair));
        if (widest === undefined || value > widest.value) {
          const { groups, values } = orderedGroups(pair);
          const group = (side: 0 | 1): MeasuredGroup => ({
            code: groups[side],
            sums: { ...emptySums(), n: pair.n },
            value: values[side],
          });
          widest = { measure, larger: group(0), smaller: group(1), value, low: 0, high: 0 };
        }
      }
    }
    return widest === undefined ? null : { ...widest, low, high };
  }

  /** Returns the start of the shortest stored window that contains at least the last `windowSize` events. */
  startOf(stream: EventStream): FreshStart {
    const { kept } = stream.starts;
    const first = stream.events - stream.options.windowSize;
    return kept.findLast(({ events }) => events <= first) ?? (kept[0] as FreshStart);
  }
}

/**
 * Returns the ordinary interval of the mean difference of pairs, with half a pair added to each of the four outcomes
 * (Bonett and Price 2012).
 */
function ordinaryDifference({ n, positives, discordant }: PairSums, z: number): Interval {
  const size = n + 2;
  const mean = (positives[0] - positives[1]) / size;
  const half = z * Math.sqrt(Math.max(0, (discordant + 1) / size - mean * mean) / size);
  return [Math.max(-1, mean - half), Math.min(1, mean + half)];
}

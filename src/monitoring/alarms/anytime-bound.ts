import { groupShare, growingShare, type KnownGroups, knownGroups, startShare } from '../tracker/stream-window.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import type { FreshStart } from '../tracker/fresh-starts.ts';
import { anytimeInterval, emptySums, measureValue, sumMeasure } from '../tracker/measure-intervals.ts';
import type { WatchedMeasure, WatchedMetric } from '../tracker/watched-metric.ts';
import type { AlphaShare } from './alert-event.ts';

/** The inputs for a bound: an attribute, a metric, and the error budget of this combination. */
export interface BoundQuestion {
  readonly attribute: number;
  readonly metric: WatchedMetric;
  /** The complete error budget of the engine, and the share of it that this combination has. */
  readonly alpha: { readonly engine: number; readonly combination: number };
  /** Whether windows that begin at restarts are used. If false, only the window that began at `firstStart` is used. */
  readonly isRestarted: boolean;
  /** The index of the first window start that is used. Windows that began earlier are ignored. */
  readonly firstStart: number;
  /** The number of closed alarms of this combination. */
  readonly closed: number;
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
 * Returns the largest lower bound of a gap over all stored windows. Returns undefined if this bound is not above the
 * limit. If the true gap is never above the limit in any window, the probability that a bound is ever returned is at
 * most the combination's alpha. Every window, measure and group has a share of alpha, and every interval holds at all
 * times simultaneously.
 * @param limit the value that a returned bound must exceed; with -Infinity, the largest bound is always returned
 */
export function strongestBound(stream: EventStream, question: BoundQuestion, limit: number): AnytimeBound | undefined {
  if (!stream.isWarm) return undefined;
  let best: AnytimeBound | undefined;
  for (const start of stream.starts.kept) {
    const { isRestarted, firstStart, closed } = question;
    if (start.index < firstStart || (!isRestarted && start.index > firstStart)) continue;
    const share = isRestarted ? startShare(start.index) : growingShare(closed);
    for (const measure of question.metric.measures) {
      const bound = boundOfWindow(stream, question, measure, start, share, best?.low ?? limit);
      if (bound !== undefined) best = bound;
    }
  }
  return best;
}

/** Buffers for the sums of groups, which are enlarged if there are more groups. */
let values = new Float64Array(16);
let counts = new Float64Array(16);
const sums = emptySums();

/** Returns the bound for one window and one measure, if it is above the given bound. */
function boundOfWindow(
  stream: EventStream,
  { attribute, metric, alpha }: BoundQuestion,
  measure: WatchedMeasure,
  start: FreshStart,
  windowShare: number,
  min: number,
): AnytimeBound | undefined {
  const now = stream.tables[attribute] as EventStream['tables'][number];
  const before = start.tables[attribute] ?? null;
  const groups = now.groups;
  makeRoom(groups);
  const windowAlpha = alpha.combination * windowShare;
  const measureAlpha = windowAlpha / metric.measures.length;
  const known = knownGroups(stream, attribute);
  const isPlainRate = measure.kind === 'rate' && !stream.shape.hasWeights;
  let large = 0;
  let highest = -Infinity;
  let lowest = Infinity;
  for (let group = 0; group < groups; group++) {
    sumMeasure(measure, now, before, group, sums);
    counts[group] = sums.n >= stream.options.minGroupSize ? sums.n : 0;
    const value = measureValue(sums);
    if (Number.isNaN(value)) counts[group] = 0;
    if (counts[group] === 0) continue;
    large++;
    values[group] = value;
    if (value > highest) highest = value;
    if (value < lowest) lowest = value;
  }
  // The lower bound is below the gap. An upper limit of the lower bound is cheaper to compute than the bound. Most
  // windows can therefore be skipped.
  if (large < 2 || highest - lowest <= min) return undefined;
  if (isPlainRate && maxThatIsSure(groups, measureAlpha, known) <= min) return undefined;
  const basis = { hasWeights: stream.shape.hasWeights, errorScale: stream.options.errorScale };
  const ends = { low: -Infinity, high: Infinity, largest: 0, smallest: 0, lowest: Infinity, highest: -Infinity };
  for (let group = 0; group < groups; group++) {
    if (counts[group] === 0) continue;
    const own = measureAlpha * groupShare(group, known);
    const interval = anytimeInterval(measure, sumMeasure(measure, now, before, group, sums), own, basis);
    if (interval === null) return undefined;
    const [low, high] = interval;
    if (low > ends.low) [ends.low, ends.largest] = [low, group];
    if (high < ends.high) [ends.high, ends.smallest] = [high, group];
    ends.lowest = Math.min(ends.lowest, low);
    ends.highest = Math.max(ends.highest, high);
  }
  const low = ends.low - ends.high;
  if (!(low > min) || ends.largest === ends.smallest) return undefined;
  return {
    measure,
    start,
    groups: [ends.largest, ends.smallest],
    values: [values[ends.largest] as number, values[ends.smallest] as number],
    counts: [counts[ends.largest] as number, counts[ends.smallest] as number],
    low: Math.max(0, low),
    high: measure.kind === 'rate' ? Math.min(1, ends.highest - ends.lowest) : ends.highest - ends.lowest,
    share: {
      engine: alpha.engine,
      combination: alpha.combination,
      window: windowAlpha,
      group: measureAlpha * Math.min(groupShare(ends.largest, known), groupShare(ends.smallest, known)),
    },
  };
}

/**
 * Returns a number that is at least the lower bound of the gap. This number is cheaper to compute than the bound. The
 * computation uses a Wilson interval, which lies within the anytime-valid interval of each group.
 */
function maxThatIsSure(groups: number, measureAlpha: number, known: KnownGroups): number {
  let highestLow = -Infinity;
  let lowestHigh = Infinity;
  for (let group = 0; group < groups; group++) {
    const n = counts[group] as number;
    if (n === 0) continue;
    const value = values[group] as number;
    const z2 = leastSquaredDistance(n, measureAlpha * groupShare(group, known));
    const shrink = 1 + z2 / n;
    const centre = value + z2 / (2 * n);
    const half = Math.sqrt(z2 * ((value * (1 - value)) / n + z2 / (4 * n * n)));
    highestLow = Math.max(highestLow, (centre - half) / shrink);
    lowestHigh = Math.min(lowestHigh, (centre + half) / shrink);
  }
  return highestLow - lowestHigh;
}

/**
 * Returns a number that is at most the squared distance between a rate and the end of its beta-binomial interval, in
 * squared standard errors at that end. At this end, n KL(rate, end) = ln(1/alpha) + ln((n + 1) b), where KL is the
 * Kullback-Leibler divergence. Here, b is the binomial probability of its own mode, which is at least 1 / sqrt(8 n p (1
 * - p)) >= 1 / sqrt(2 n). The squared distance in standard errors at the end is at least n KL.
 */
function leastSquaredDistance(n: number, alpha: number): number {
  return Math.log((n + 1) / Math.sqrt(2 * n) / alpha);
}

function makeRoom(groups: number): void {
  if (groups <= values.length) return;
  values = new Float64Array(2 * groups);
  counts = new Float64Array(2 * groups);
}

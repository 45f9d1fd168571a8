import type { AnytimeBound, BoundQuestion } from '../../../src/monitoring/alarms/anytime-bound.ts';
import type { EventStream } from '../../../src/monitoring/tracker/event-stream.ts';
import type { FreshStart } from '../../../src/monitoring/tracker/fresh-starts.ts';
import {
  anytimeInterval,
  emptySums,
  measureValue,
  sumMeasure,
} from '../../../src/monitoring/tracker/measure-intervals.ts';
import { groupShare, growingShare, knownGroups, startShare } from '../../../src/monitoring/tracker/stream-window.ts';
import type { WatchedMeasure, WatchedMetric } from '../../../src/monitoring/tracker/watched-metric.ts';

/** A question with everything that the bound depends on. */
interface Question extends BoundQuestion {
  readonly attribute: number;
  readonly metric: WatchedMetric;
  readonly alpha: { readonly engine: number; readonly combination: number };
}

/** Returns the largest lower bound over all windows from the exact intervals of all groups. Nothing is remembered. */
export function straightforwardBound(stream: EventStream, question: Question, limit: number): AnytimeBound | undefined {
  if (!stream.isWarm) return undefined;
  const { isRestarted, firstStart, closed, metric } = question;
  let best: AnytimeBound | undefined;
  for (const start of stream.starts.kept) {
    if (start.index < firstStart || (!isRestarted && start.index > firstStart)) continue;
    const share = isRestarted ? startShare(start.index) : growingShare(closed);
    for (const measure of metric.measures) {
      best = boundOfWindow(stream, question, measure, start, share, best?.low ?? limit) ?? best;
    }
  }
  return best;
}

function boundOfWindow(
  stream: EventStream,
  { attribute, metric, alpha }: Question,
  measure: WatchedMeasure,
  start: FreshStart,
  windowShare: number,
  min: number,
): AnytimeBound | undefined {
  const now = stream.tables[attribute] as EventStream['tables'][number];
  const before = start.tables[attribute] ?? null;
  const windowAlpha = alpha.combination * windowShare;
  const measureAlpha = windowAlpha / metric.measures.length;
  const known = knownGroups(stream, attribute);
  const basis = { hasWeights: stream.shape.hasWeights, errorScale: stream.options.errorScale };
  const found = [];
  for (let group = 0; group < now.groups; group++) {
    const sums = sumMeasure(measure, now, before, group, emptySums());
    const value = measureValue(sums);
    if (sums.n < stream.options.minGroupSize || Number.isNaN(value)) continue;
    const interval = anytimeInterval(measure, sums, measureAlpha * groupShare(group, known), basis);
    if (interval === null) return undefined;
    found.push({ group, value, n: sums.n, low: interval[0], high: interval[1] });
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const larger = found.reduce((most, one) => (one.low > most.low ? one : most), first);
  const smaller = found.reduce((min_, one) => (one.high < min_.high ? one : min_), first);
  const low = larger.low - smaller.high;
  if (!(low > min) || larger === smaller) return undefined;
  const width = Math.max(...found.map(({ high }) => high)) - Math.min(...found.map(({ low: end }) => end));
  return {
    measure,
    start,
    groups: [larger.group, smaller.group],
    values: [larger.value, smaller.value],
    counts: [larger.n, smaller.n],
    low: Math.max(0, low),
    high: measure.kind === 'rate' ? Math.min(1, width) : width,
    share: {
      engine: alpha.engine,
      combination: alpha.combination,
      window: windowAlpha,
      group: measureAlpha * Math.min(groupShare(larger.group, known), groupShare(smaller.group, known)),
    },
  };
}

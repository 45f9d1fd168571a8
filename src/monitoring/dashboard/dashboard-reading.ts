import { formatPercent } from '../../metrics/metric-markdown.ts';
import { VERSION } from '../../internal/version.ts';
import { countText, shortNumber, timeText } from './dashboard-words.ts';
import type { MonitoringView } from './monitoring-view.ts';
import { LEAST_SHOWN } from './without-small-cells.ts';

/** The line under the title: how many events, from when to when. */
export function subjectOf({ nEvents, firstTimestamp, timestamp }: MonitoringView): string {
  if (timestamp === null) return 'Before the first event';
  const since = firstTimestamp === null ? '' : `${timeText(firstTimestamp)} to `;
  return `${countText(nEvents)} ${nEvents === 1 ? 'event' : 'events'}, ${since}${timeText(timestamp)} UTC`;
}

/** What the numbers promise, and what they do not. */
export function readingOf({ alpha, windowSize, level }: MonitoringView): string[] {
  return [
    `A band over all events holds at all times together: however often it is looked at, the probability that it ever leaves out the true value is at most its share of alpha, as long as the rates themselves do not change. Over all attributes and metrics these shares add up to alpha = ${shortNumber(alpha)}.`,
    `A breach rests on such a bound, so the probability that this engine ever raises a false alarm is at most ${shortNumber(alpha)}. The price is that small groups and small gaps need many events.`,
    `A watch rests on an ordinary ${formatPercent(level)} interval at one time. It is fast and has no promise over many looks: of a fair stream that is looked at often, it will be wrong now and then. It pages nobody.`,
    `The line of the last ${countText(windowSize)} events shows what is new. It may leave the band of all events: that band is about the whole past and moves late.`,
    '"Cannot tell yet" is neither good nor bad news: the bounds still reach to both sides of the limit.',
    'Severity is the excess over the limit times the precision of the estimate ("confidence" in JSON), which is 1 less half the width of the bounds over the limit, and at least 0. It grows with the number of events, and is no doubt of the bound: neither decides whether an alarm is raised.',
    'When a change began is the guess of a detector, without a guarantee.',
    'Rates that need true labels count labelled predictions only. Where labels come for some groups later or less often than for others, compare these rates with care.',
    'A gap within its limit is no proof of fair treatment, and a gap above it none of unfair treatment. Only the attributes and metrics named here were watched.',
    `Of fewer than ${String(LEAST_SHOWN)} events no group's rate is shown, since it could tell what was decided of single persons. It may still be worked out from totals that are.`,
  ];
}

/** What is needed to read the same stream in the same way. */
export function madeOf(view: MonitoringView): (readonly [name: string, value: string])[] {
  return [
    ['Sliding window', `the last ${countText(view.windowSize)} events`],
    ['Smallest group compared', `${countText(view.minGroupSize)} events`],
    ['Smallest group shown', `${String(LEAST_SHOWN)} events`],
    ['Alpha of the engine', shortNumber(view.alpha)],
    ['Level of ordinary intervals', formatPercent(view.level)],
    ['Metrics watched', countText(view.watched.length)],
    ['Version', `evenhand ${VERSION}`],
  ];
}

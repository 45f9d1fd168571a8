import { shortenLabel } from '../../charts/chart.ts';
import { attributeText } from '../attribute-text.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import type { AlertEvent, AlphaShare, GapWithinStrata } from './alert-event.ts';
import { type NoReading, type WatchReading, windowState } from './watch-tier.ts';

/** The maximum length of a group's label in a sentence. */
const LABEL_WIDTH = 60;

/** If more additional events than this number are needed, a sentence does not state the number. */
const MAX_EVENTS_WORTH_SAYING = 1_000_000;

/** Returns a group's name for a sentence. */
export function groupName(stream: EventStream, attribute: number, code: number): string {
  return `'${shortenLabel(stream.reader.groups[attribute]?.labels[code] ?? '', LABEL_WIDTH)}'`;
}

/** Returns a measure's name in words: "true positive rate". */
function measureWords(measure: string): string {
  return measure.replaceAll('_', ' ');
}

const decimal = (value: number): string => value.toFixed(3);
const complete = (value: number): string => Math.round(value).toLocaleString('en-US');

/** The facts that an alert reports. */
export interface AlertFacts extends Pick<
  AlertEvent,
  'attribute' | 'measure' | 'rates' | 'value' | 'low' | 'limit' | 'windowEvents' | 'changedAt'
> {
  readonly larger: string;
  readonly smaller: string;
  /** Whether the gap is one within strata. */
  readonly isWithin?: boolean | undefined;
}

/** Returns the sentence about the gap within strata, for an alert about the gap of the complete stream. */
export function withinSentence({ value, low, high, isAbove }: GapWithinStrata, limit: number): string {
  if (value === null || low === null || high === null) {
    return 'Within strata, there are too few pairs of events to show a gap.';
  }
  const gap = `Within strata, the gap is ${decimal(value)} (${decimal(low)} to ${decimal(high)})`;
  return isAbove
    ? `${gap}, also above the limit.`
    : `${gap}: it is not shown to be above the limit of ${String(limit)}, so the gap may come from groups whose shares change together with the rates.`;
}

/** Returns the sentence that describes an alarm. */
export function alarmReason(facts: AlertFacts, share: AlphaShare): string {
  return (
    `${gapSentence(facts)} The gap is at least ${decimal(facts.low)}, above the limit of ${String(facts.limit)}. ` +
    `This bound holds over all checks, with an error probability of ${percent(share.combination)} for this metric ` +
    `(${percent(share.engine)} for everything monitored).${since(facts.changedAt)}`
  );
}

/** Returns the sentence that describes a watch. */
export function watchReason(facts: AlertFacts): string {
  return (
    `${gapSentence(facts)} At this check, the gap appears to be above the limit of ${String(facts.limit)} ` +
    `(at least ${decimal(facts.low)}); over many checks, this also happens by chance.${since(facts.changedAt)}`
  );
}

/** Returns the sentence for a metric that is not in breach. */
export function stateSentence(stream: EventStream, attribute: number, reading: WatchReading, limit: number): string {
  const { value, low, high } = reading;
  const gap = `The gap in the last ${complete(stream.window.length)} events is ${decimal(value)}`;
  switch (windowState(reading, limit)) {
    case 'within':
      return `${gap}, at most ${decimal(high)}: within the limit of ${String(limit)}.`;
    case 'watch':
      return `${gap}, at least ${decimal(low)} at this check: possibly above the limit of ${String(limit)}.`;
    case 'unknown':
      return `${gap}, with an interval from ${decimal(low)} to ${decimal(high)} that contains the limit of ${String(limit)}${more(stream, attribute, reading, limit)}.`;
  }
}

/** Returns the sentence for a metric whose gap could not be computed. */
export function missingSentence(
  stream: EventStream,
  attribute: number,
  { measure, tooSmall, large }: NoReading,
): string {
  const { minGroupSize } = stream.options;
  const words = measureWords(measure.name);
  const needed = tooSmall.slice(0, 2 - large.length);
  if (needed.length + large.length < 2) {
    const had = tooSmall.length + large.length;
    return `Inconclusive: ${had === 0 ? 'no group has' : 'only one group has'} events for the ${words}.`;
  }
  const wants = needed.map(
    ({ code, sums }) =>
      `about ${complete(minGroupSize - sums.n)} more events of group ${groupName(stream, attribute, code)}`,
  );
  return `Inconclusive: ${wants.join(' and ')} are needed for the ${words}.`;
}

/**
 * Estimates how many more events of the smaller group are needed before the interval no longer contains the limit.
 * Assumes that the rates stay the same, and that half-widths shrink with the square root of n.
 */
function more(
  stream: EventStream,
  attribute: number,
  { larger, smaller, value, low, high }: WatchReading,
  limit: number,
): string {
  const distance = Math.abs(value - limit);
  // The half-width on the side of the interval that contains the limit.
  const half = value > limit ? value - low : high - value;
  const small = larger.sums.n < smaller.sums.n ? larger : smaller;
  const events = small.sums.n * ((half / distance) ** 2 - 1);
  if (!(events < MAX_EVENTS_WORTH_SAYING)) return '; the gap is too close to the limit to be separated from it';
  return `; about ${complete(Math.max(1, events))} more events of group ${groupName(stream, attribute, small.code)} are needed`;
}

function gapSentence({
  attribute,
  measure,
  larger,
  smaller,
  rates,
  value,
  windowEvents,
  isWithin = false,
}: AlertFacts): string {
  return (
    `By ${attributeText(attribute)}${isWithin ? ' and within strata' : ''}, the ${measureWords(measure)} of ${larger} is ${decimal(rates[0])} and that of ${smaller} ` +
    `${decimal(rates[1])} over ${complete(windowEvents)} events, a gap of ${decimal(value)}.`
  );
}

/**
 * Returns the sentence about the time at which the gap probably began to change. The sentence gives the time to the
 * minute, because the estimate is not more precise.
 */
function since(changedAt: string | null): string {
  if (changedAt === null) return '';
  return ` A change is suspected around ${changedAt.slice(0, 16).replace('T', ' ')} UTC.`;
}

/** Formats a share as a percentage with two significant digits: "5%", "0.31%". */
function percent(share: number): string {
  return `${String(Number((100 * share).toPrecision(2)))}%`;
}

import { shortenLabel } from '../../charts/chart.ts';
import { attributeText } from '../attribute-text.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import type { WatchedMeasure } from '../tracker/watched-metric.ts';
import type { AlphaShare } from './alert-event.ts';
import type { NoReading, WatchReading } from './watch-tier.ts';

/** Letters of a group's label in a sentence. */
const LABEL_WIDTH = 60;

/** Above so many events more it is not worth saying how many. */
const MAX_EVENTS_WORTH_SAYING = 1_000_000;

/** A group's name in a sentence. */
export function groupName(stream: EventStream, attribute: number, code: number): string {
  return `'${shortenLabel(stream.reader.groups[attribute]?.labels[code] ?? '', LABEL_WIDTH)}'`;
}

/** "true positive rate" */
function measureWords({ name }: Pick<WatchedMeasure, 'name'>): string {
  return name.replaceAll('_', ' ');
}

/** A number with three decimals, a count with separators. */
const decimal = (value: number): string => value.toFixed(3);
const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

/** What an alert stands on. */
export interface AlertFacts {
  readonly attribute: string;
  readonly measure: string;
  readonly larger: string;
  readonly smaller: string;
  readonly rates: readonly [larger: number, smaller: number];
  readonly value: number;
  readonly low: number;
  readonly limit: number;
  readonly windowEvents: number;
  readonly changedAt: string | null;
}

/** The sentence of an alarm. */
export function alarmReason(facts: AlertFacts, share: AlphaShare): string {
  return (
    `${gapSentence(facts)} The gap is at least ${decimal(facts.low)}, above the limit of ${String(facts.limit)}: ` +
    `a bound that holds at every look together, at an error of ${percent(share.combination)} for this metric ` +
    `(${percent(share.engine)} for all that is watched).${since(facts.changedAt)}`
  );
}

/** The sentence of a watch. */
export function watchReason(facts: AlertFacts): string {
  return (
    `${gapSentence(facts)} At this look the gap seems to be above the limit of ${String(facts.limit)} ` +
    `(at least ${decimal(facts.low)}); over many looks that happens by chance too.${since(facts.changedAt)}`
  );
}

/** Why a metric is in a state that is no breach. */
export function stateSentence(
  stream: EventStream,
  attribute: number,
  reading: WatchReading,
  limit: number,
): { readonly state: 'within' | 'watch' | 'unknown'; readonly sentence: string } {
  const { value, low, high } = reading;
  const gap = `The gap in the last ${whole(stream.window.length)} events is ${decimal(value)}`;
  if (high <= limit)
    return { state: 'within', sentence: `${gap}, and at most ${decimal(high)}: within the limit of ${String(limit)}.` };
  if (low > limit) {
    return {
      state: 'watch',
      sentence: `${gap}, and at least ${decimal(low)} at this look: perhaps above the limit of ${String(limit)}.`,
    };
  }
  return {
    state: 'unknown',
    sentence: `${gap}, between ${decimal(low)} and ${decimal(high)}: it may be on either side of the limit of ${String(limit)}${more(stream, attribute, reading, limit)}.`,
  };
}

/** Why a metric cannot be read at all. */
export function missingSentence(
  stream: EventStream,
  attribute: number,
  { measure, tooSmall, large }: NoReading,
): string {
  const { minGroupSize } = stream.options;
  const words = measureWords(measure);
  const needed = tooSmall.slice(0, 2 - large.length);
  if (needed.length + large.length < 2) {
    const had = tooSmall.length + large.length;
    return `Cannot tell yet: ${had === 0 ? 'no group has' : 'only one group has'} events for the ${words}.`;
  }
  const wants = needed.map(
    ({ code, sums }) => `about ${whole(minGroupSize - sums.n)} more of group ${groupName(stream, attribute, code)}`,
  );
  return `Cannot tell yet: ${wants.join(' and ')} needed for the ${words}.`;
}

/**
 * How many more events of the smaller group would bring its interval to the near
 * side of the limit, were the rates to stay: half-widths shrink with the root of n.
 */
function more(
  stream: EventStream,
  attribute: number,
  { larger, smaller, value, low, high }: WatchReading,
  limit: number,
): string {
  const distance = Math.abs(value - limit);
  // The side of the interval that reaches over the limit.
  const half = value > limit ? value - low : high - value;
  const small = larger.sums.n < smaller.sums.n ? larger : smaller;
  const events = small.sums.n * ((half / distance) ** 2 - 1);
  if (!(events < MAX_EVENTS_WORTH_SAYING)) return ', and too near to it to tell';
  return `; about ${whole(Math.max(1, events))} more of group ${groupName(stream, attribute, small.code)} needed`;
}

function gapSentence({ attribute, measure, larger, smaller, rates, value, windowEvents }: AlertFacts): string {
  return (
    `By ${attributeText(attribute)}, the ${measure.replaceAll('_', ' ')} of ${larger} is ${decimal(rates[0])} and that of ${smaller} ` +
    `${decimal(rates[1])} over ${whole(windowEvents)} events, a gap of ${decimal(value)}.`
  );
}

/** To the minute: more would be a precision that a guess does not have. */
function since(changedAt: string | null): string {
  if (changedAt === null) return '';
  return ` A change is suspected around ${changedAt.slice(0, 16).replace('T', ' ')} UTC.`;
}

/** "5%", "0.31%" */
function percent(share: number): string {
  return `${String(Number((100 * share).toPrecision(2)))}%`;
}

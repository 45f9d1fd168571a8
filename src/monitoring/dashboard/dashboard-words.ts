import { isDecisionRate } from '../../metrics/measures/index.ts';
import { formatNumber, inWords } from '../../metrics/metric-markdown.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';
import { attributeText } from '../attribute-text.ts';
import type { MonitoringView } from './monitoring-view.ts';

/** A rate of fewer events is not shown: it could tell what was decided of single persons. */
export const MIN_SHOWN = 20;

/** A view in which no rate of a group, nor of a crossing's cell, with fewer than twenty events is left. */
export function withoutSmallCells(view: MonitoringView): MonitoringView {
  return {
    ...view,
    watched: view.watched.map((watched) => ({
      ...watched,
      now: watched.now.map(withoutSmallRate),
      overall: watched.overall.map(withoutSmallRate),
    })),
    history: view.history.map(withoutSmallRate),
    crossings: view.crossings.map((crossing) => ({
      ...crossing,
      cells: crossing.cells.map((cell) => (cell.n < MIN_SHOWN ? { ...cell, value: null } : cell)),
    })),
  };
}

type Rate = MonitoringView['history'][number];

function withoutSmallRate(record: Rate): Rate {
  const isShown = record.group === null || record.n >= MIN_SHOWN;
  return isShown ? record : { ...record, value: null, low: null, high: null };
}

/** How a measure is drawn and written. */
export type Unit = 'share' | 'number';

/** The unit of a measure of groups; gaps are numbers always, since their limits are. */
export function unitOf(measure: string): Unit {
  return isDecisionRate(measure) ? 'share' : 'number';
}

/** A number of events. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** "1 event", "2 events". */
export function countedText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A rate in per cent, another number in three decimals. */
export function valueText(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return 'undefined';
  return unit === 'share' ? `${(100 * value).toFixed(1)}%` : formatNumber(value, 3);
}

/** The value of a group's rate; of too few events it is not shown. */
export function rateText({ value, n }: { readonly value: number | null; readonly n: number }, unit: Unit): string {
  return n < MIN_SHOWN ? 'too few' : valueText(value, unit);
}

/** "0.131 to 0.410". */
export function rangeText(low: number | null, high: number | null, unit: Unit): string {
  return low === null || high === null ? '\u2013' : `${valueText(low, unit)} to ${valueText(high, unit)}`;
}

/** An ISO time for people, in UTC as it came. */
export function timeText(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)}`;
}

/** An ISO time to the minute: more would be a precision that a guess does not have. */
export function minuteText(timestamp: string): string {
  return timeText(timestamp).slice(0, 16);
}

/** A sentence about an attribute, in which a crossing is named as everywhere else; labels of groups stay as they are. */
export function sentenceText(sentence: string, attribute: string): string {
  return attribute.includes(INTERSECTION_SEPARATOR)
    ? sentence.replaceAll(attribute, () => attributeText(attribute))
    : sentence;
}

/** "Demographic parity difference of region". */
export function watchedText({ metric, attribute }: { readonly metric: string; readonly attribute: string }): string {
  return `${inWords(metric)} of ${attributeText(attribute)}`;
}

/** A number as short as it can be written without losing any of it that matters. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}

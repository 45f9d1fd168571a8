import { inWords } from '../../metrics/metric-markdown.ts';
import { INTERSECTION_SEPARATOR } from '../../table/index.ts';
import { attributeText } from '../attribute-text.ts';
import { formatNumber, formatShare, NOTHING, type Unit } from '../../internal/format.ts';
import type { MonitoringView } from './monitoring-view.ts';

/**
 * The minimum number of events for a rate to be shown. A rate of fewer events could reveal decisions about individuals.
 */
export const MIN_SHOWN = 20;

/** Returns a view without the rates of groups and cells that have fewer than twenty events. */
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

/** Formats a rate as a percentage, and other numbers with three decimals. */
export function valueText(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return 'undefined';
  return unit === 'share' ? formatShare(value) : formatNumber(value, 3);
}

/** Formats the rate of a group. Returns "too few" if the group has too few events. */
export function rateText({ value, n }: { readonly value: number | null; readonly n: number }, unit: Unit): string {
  return n < MIN_SHOWN ? 'too few' : valueText(value, unit);
}

/** Formats a range, such as "0.131 to 0.410". */
export function rangeText(low: number | null, high: number | null, unit: Unit): string {
  return low === null || high === null ? NOTHING : `${valueText(low, unit)} to ${valueText(high, unit)}`;
}

/** Formats an ISO time for display, in UTC. */
export function timeText(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)}`;
}

/** Formats an ISO time to the minute. Used for estimated times. */
export function minuteText(timestamp: string): string {
  return timeText(timestamp).slice(0, 16);
}

/** Replaces an intersection's name in a sentence by its display name. Does not change the labels of groups. */
export function sentenceText(sentence: string, attribute: string): string {
  return attribute.includes(INTERSECTION_SEPARATOR)
    ? sentence.replaceAll(attribute, () => attributeText(attribute))
    : sentence;
}

/** Returns a metric's display name: "Demographic parity difference of region". */
export function watchedText({ metric, attribute }: { readonly metric: string; readonly attribute: string }): string {
  return `${inWords(metric)} of ${attributeText(attribute)}`;
}

import { FONT_FAMILY } from './chart.ts';
import type { Palette } from './palette.ts';

/** A share of the whole time that stays free before the first and after the last moment. */
const MARGIN = 0.01;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What labels say of a moment, by how long the whole time is at least. */
const FORMATS: readonly (readonly [least: number, format: string])[] = [
  [900 * DAY, '{yyyy}'],
  [90 * DAY, '{MMM} {yyyy}'],
  [3 * DAY, '{MMM} {d}'],
  [2 * HOUR, '{MMM} {d}, {HH}:{mm}'],
  [0, '{HH}:{mm}:{ss}'],
];

/**
 * An axis of time in UTC.
 * @param times milliseconds since 1970; a single moment gets a minute around it, none a day of 1970
 */
export function timeAxis(times: readonly number[], palette: Palette): unknown {
  const first = times.reduce((least, time) => Math.min(least, time), times[0] ?? 0);
  const last = times.reduce((most, time) => Math.max(most, time), times[0] ?? DAY);
  const margin = last > first ? Math.ceil(MARGIN * (last - first)) : MINUTE;
  const formatter = FORMATS.find(([least]) => last - first >= least)?.[1];
  return {
    type: 'time',
    min: first - margin,
    max: last + margin,
    splitNumber: 4,
    axisLabel: { formatter, fontFamily: FONT_FAMILY, fontSize: 12, color: palette.quiet, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.axis } },
    axisTick: { show: true, lineStyle: { color: palette.axis } },
    splitLine: { show: false },
  };
}

/** A box with numbers under the pointer. */
export function timelineTooltip(trigger: 'axis' | 'item', palette: Palette): unknown {
  return {
    trigger,
    confine: true,
    transitionDuration: 0,
    backgroundColor: palette.surface,
    borderColor: palette.axis,
    textStyle: { fontFamily: FONT_FAMILY, fontSize: 12, color: palette.ink },
  };
}

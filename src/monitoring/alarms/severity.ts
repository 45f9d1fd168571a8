import type { Severity } from './alert-event.ts';

/** Where bands begin, most severe first. */
const BANDS: readonly (readonly [severity: Severity, from: number])[] = [
  ['critical', 0.1],
  ['high', 0.02],
  ['low', -Infinity],
];

/** How much is known of a gap and how far it is above its limit. */
export interface Weighed {
  readonly confidence: number;
  readonly severityScore: number;
  readonly severity: Severity;
}

/**
 * confidence = 1 - min(1, half the interval's width / limit); severity =
 * confidence x (value - limit), banded. Small groups have wide intervals, so they
 * lower both. With a limit of 0 the confidence is 0: no width is small beside it.
 */
export function weigh(value: number, low: number, high: number, limit: number): Weighed {
  const half = (high - low) / 2;
  const confidence = half === 0 ? 1 : 1 - Math.min(1, half / limit);
  const severityScore = confidence * Math.max(0, value - limit);
  const [severity] = BANDS.find(([, from]) => severityScore >= from) as (typeof BANDS)[number];
  return { confidence, severityScore, severity };
}

/** Whether one severity is above another. */
export function isWorse(severity: Severity, than: Severity): boolean {
  const place = (one: Severity): number => BANDS.findIndex(([name]) => name === one);
  return place(severity) < place(than);
}

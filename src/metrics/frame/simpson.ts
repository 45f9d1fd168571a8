import { inPlainWords } from '../compare/exclusions.ts';
import type { MeasureName } from '../measures/index.ts';
import type { FilledMetricOptions } from '../options.ts';
import type { FrameValues } from './frame-values.ts';

/** A gap over all rows that points the other way inside levels of a control feature. */
export interface SimpsonFinding {
  readonly measure: MeasureName;
  /** The group with the largest value over all rows, and that with the smallest. */
  readonly high: string;
  readonly low: string;
  /** high minus low over all rows. */
  readonly gap: number;
  /** high minus low inside each level where both are large enough. */
  readonly gapPerLevel: Readonly<Record<string, number>>;
  /** The mean of the levels' gaps, weighted by n_high n_low / (n_high + n_low) as Mantel and Haenszel do. */
  readonly adjustedGap: number;
  /** Levels in which the gap has the other sign. */
  readonly reversed: readonly string[];
}

/**
 * Looks for Simpson's paradox: whether the gap between the extreme groups over
 * all rows changes its sign inside levels of the control feature.
 * @returns undefined where it does not, or there is no control feature
 */
export function simpsonFinding(
  frame: FrameValues,
  measure: MeasureName,
  { minGroupSize }: FilledMetricOptions,
): SimpsonFinding | undefined {
  const levels = Object.entries(frame.byLevel);
  if (levels.length === 0) return undefined;
  const groups = Object.entries(frame.byGroup)
    .map(([label, values]) => ({ label, value: values[measure] ?? NaN, n: frame.nPerGroup[label] ?? 0 }))
    .filter(({ value, n }) => Number.isFinite(value) && n >= minGroupSize)
    .sort((a, b) => a.value - b.value);
  const [low, high] = [groups[0], groups.at(-1)];
  if (low === undefined || high === undefined || low.value === high.value) return undefined;
  const inside = levels.flatMap(([level, { byGroup, nPerGroup }]) => {
    const gap = (byGroup[high.label]?.[measure] ?? NaN) - (byGroup[low.label]?.[measure] ?? NaN);
    const [nHigh, nLow] = [nPerGroup[high.label] ?? 0, nPerGroup[low.label] ?? 0];
    if (!Number.isFinite(gap) || nHigh < minGroupSize || nLow < minGroupSize) return [];
    return [{ level, gap, weight: (nHigh * nLow) / (nHigh + nLow) }];
  });
  const reversed = inside.filter(({ gap }) => gap < 0).map(({ level }) => level);
  if (reversed.length === 0) return undefined;
  const total = inside.reduce((sum, { weight }) => sum + weight, 0);
  return Object.freeze({
    measure,
    high: high.label,
    low: low.label,
    gap: high.value - low.value,
    gapPerLevel: Object.freeze(Object.fromEntries(inside.map(({ level, gap }) => [level, gap]))),
    adjustedGap: inside.reduce((sum, { gap, weight }) => sum + gap * (weight / total), 0),
    reversed: Object.freeze(reversed),
  });
}

/** The finding in one sentence. */
export function simpsonWarning({
  measure,
  high,
  low,
  gap,
  gapPerLevel,
  adjustedGap,
  reversed,
}: SimpsonFinding): string {
  const levels = Object.keys(gapPerLevel).length;
  return (
    `the ${inPlainWords(measure)} of ${high} is above that of ${low} by ${gap.toFixed(3)} over all rows, but below it in ` +
    `${String(reversed.length)} of ${String(levels)} levels of the control feature (${reversed.join(', ')}); ` +
    `averaged over levels the difference is ${adjustedGap.toFixed(3)} (Simpson's paradox)`
  );
}

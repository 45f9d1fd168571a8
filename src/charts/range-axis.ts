import { axisLines, axisName, COLOURS, font } from './chart.ts';
import type { Palette } from './palette.ts';

/** The margin of an axis beyond the data at each end, as a share of their range. */
const MARGIN = 0.06;

/** The ends of an axis. */
export interface AxisRange {
  readonly min: number;
  readonly max: number;
}

/** The colours of an axis. */
type AxisColours = Pick<Palette, 'ink' | 'quiet' | 'grid' | 'axis'>;

const USUAL: AxisColours = { ...COLOURS, axis: COLOURS.quiet };

/** Returns an axis that extends slightly beyond its values, with round steps, but not beyond the possible values. */
export function rangeAxis(
  name: string,
  nameGap: number,
  values: readonly number[],
  [least, most]: readonly [number, number],
  colours: AxisColours = USUAL,
): Record<string, unknown> & AxisRange {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = MARGIN * (high - low || 0.1);
  const step = niceStep((high - low + 2 * margin) / 6);
  // Rounded, since 41 x 0.02 is 0.8200000000000001 and would appear so on the axis.
  const stepsOf = (count: number): number => Number((count * step).toFixed(9));
  return {
    type: 'value',
    ...axisName(name, nameGap, 13, colours.ink),
    min: Math.max(least, stepsOf(Math.floor((low - margin) / step))),
    max: Math.min(most, stepsOf(Math.ceil((high + margin) / step))),
    interval: step,
    ...axisLines(font(12, colours.quiet), { line: colours.axis, grid: colours.grid }),
  };
}

/** Rounds a step up to 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}

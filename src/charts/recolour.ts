import { type Chart, COLOURS } from './chart.ts';
import type { Palette } from './palette.ts';

/** Returns a chart for a light background with the colours of another palette. Only colours change, and no texts. */
export function recolour(chart: Chart, { surface, ink, quiet, grid, axis, main }: Palette): Chart {
  const colours = new Map<unknown, string>([
    ['#ffffff', surface],
    [COLOURS.ink, ink],
    [COLOURS.quiet, quiet],
    [COLOURS.grid, grid],
    [COLOURS.main, main],
    [COLOURS.mainSoft, main],
    [COLOURS.other, axis],
  ]);
  const recoloured = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(recoloured);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, value]: [string, unknown]) => [
        key,
        /color$/i.test(key) ? (colours.get(value) ?? value) : recoloured(value),
      ]),
    );
  };
  return { ...chart, option: recoloured(chart.option) as Chart['option'] };
}

import { COLOURS } from './chart.ts';
import type { GroupRow } from './both-ends.ts';
import type { ComparedGroup, ComparedMeasure } from './compared-groups.ts';

/** One row of a chart of two sides. */
export type ComparedRow = GroupRow<ComparedGroup>;

type Side = 'before' | 'after';

/** Where in its row each side stands, counted from the middle in rows. */
const SHIFT = { before: 0.17, after: -0.17 } as const;

const LOOKS = {
  before: { line: COLOURS.other, fill: '#ffffff', edge: COLOURS.quiet, z: 3 },
  after: { line: COLOURS.main, fill: COLOURS.main, edge: '#ffffff', z: 4 },
} as const;

function onAxis(value: number, unit: ComparedMeasure['unit']): number {
  return unit === 'share' ? 100 * value : value;
}

/** Whiskers of one side; their caps are points, so that the axis reaches as far as they do. */
export function sideIntervals(
  side: Side,
  sideName: string,
  unit: ComparedMeasure['unit'],
  rows: readonly ComparedRow[],
): unknown {
  const { line, z } = LOOKS[side];
  const ends = rows.flatMap(({ group }, row) => {
    const ci = group?.[side]?.ci ?? null;
    return ci?.every(Number.isFinite) === true ? [ci.map((end) => [onAxis(end, unit), row + SHIFT[side]])] : [];
  });
  return {
    name: `intervals ${sideName}`,
    type: 'scatter',
    silent: true,
    clip: false,
    data: ends.flat(),
    symbol: 'rect',
    symbolSize: [1.6, 7],
    itemStyle: { color: line, opacity: 1 },
    z,
    markLine: {
      silent: true,
      animation: false,
      symbol: 'none',
      label: { show: false },
      lineStyle: { color: line, width: 1.6, type: 'solid' },
      data: ends.map(([from, to]) => [{ coord: from }, { coord: to }]),
    },
  };
}

/** Dots of one side. */
export function sideDots(
  side: Side,
  sideName: string,
  unit: ComparedMeasure['unit'],
  rows: readonly ComparedRow[],
): unknown {
  const { fill, edge, z } = LOOKS[side];
  return {
    name: sideName,
    type: 'scatter',
    clip: false,
    data: rows.flatMap(({ group, label }, row) => {
      const value = group?.[side]?.value;
      return value === undefined || !Number.isFinite(value)
        ? []
        : [{ name: label, value: [onAxis(value, unit), row + SHIFT[side]] }];
    }),
    symbolSize: side === 'before' ? 8.5 : 10,
    itemStyle: { color: fill, borderColor: edge, borderWidth: side === 'before' ? 1.8 : 1.5, opacity: 1 },
    emphasis: { disabled: true },
    z: z + 2,
  };
}

import {
  bothEnds,
  bottomLegend,
  type Chart,
  CHART_WIDTH,
  COLOURS,
  FRAME,
  type GroupRow,
  headline,
  LINE_HEIGHT,
  shortenLabel,
} from './chart.ts';
import { chartValue, formatCompact, type Unit } from '../internal/format.ts';
import {
  besideGroups,
  groupColumns,
  onAxis,
  valueAxis,
  whiskers,
  omission,
  startsAtZero,
} from './group-values-chart.ts';

/** A row of a chart that compares two values of each group. */
type ComparedRow = GroupRow<ComparedGroup>;

type Side = 'before' | 'after';

/** The vertical distance between the dots of a side and the middle of the row, as a share of the row height. */
const SHIFT = { before: 0.17, after: -0.17 } as const;

const STYLES = {
  before: { line: COLOURS.other, fill: '#ffffff', edge: COLOURS.quiet, z: 3 },
  after: { line: COLOURS.main, fill: COLOURS.main, edge: '#ffffff', z: 4 },
} as const;

/** Returns the dots of one side, before or after. */
function sideDots(side: Side, sideName: string, unit: Unit, rows: readonly ComparedRow[]): unknown {
  const { fill, edge, z } = STYLES[side];
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

/** Texts of the chart. */
interface BeforeAfterText {
  /** The first line under the title. The second line shows the gaps before and after. */
  readonly subtitle?: string | undefined;
  /**
   * The names of the two sides.
   * @defaultValue before and after
   */
  readonly sides?: Sides | undefined;
}

type Sides = readonly [before: SideWords, after: SideWords];

/** The names of one of the two sides. */
interface SideWords {
  /** The name in the legend, such as "control". */
  readonly name: string;
  /** The phrase used in a sentence, such as "under control". */
  readonly adverb: string;
}

const BEFORE_AFTER = [
  { name: 'before', adverb: 'before' },
  { name: 'after', adverb: 'after' },
] as const;

const ROW_HEIGHT = 34;

/** The width of the text column with the values of both sides, in pixels. */
const RIGHT = 132;

/**
 * Draws two dots with intervals for each group: a hollow dot for the value before a change, and a filled dot for the
 * value after the change. The group with the largest value after the change is at the top. A line above the plot states
 * the gaps before and after the change.
 *
 * A group with only one of the two values has one dot. A group without values is not drawn. If there are more than 40
 * groups, only the 20 groups with the lowest and the 20 groups with the highest values are drawn. In this case, the
 * chart contains a note.
 */
export function beforeAfterChart(measure: ComparedMeasure, text: BeforeAfterText = {}): Chart {
  const sides = text.sides ?? BEFORE_AFTER;
  const sorted = measure.groups.filter(hasValue).sort(byValue);
  const rows = bothEnds(sorted);
  const ends = sorted
    .flatMap(({ before, after }) =>
      [before, after].flatMap((side) => (side === null ? [] : [side.value, ...(side.ci ?? [])])),
    )
    .filter(Number.isFinite);
  const fromZero = startsAtZero(ends);
  const lines = [
    text.subtitle,
    gapSentence(measure, sides),
    fromZero ? undefined : 'The axis does not start at 0.',
    omission(sorted.length, `values ${sides[1].adverb}`),
  ].filter((line) => line !== undefined);
  const labels = rows.map(({ label }) => shortenLabel(label));
  const top = 54 + lines.length * LINE_HEIGHT;
  return {
    width: CHART_WIDTH,
    height: top + rows.length * ROW_HEIGHT + 76,
    description: describe(measure, sorted.length, sides),
    option: {
      ...FRAME,
      title: headline(measure.title, lines),
      legend: bottomLegend(rows.length === 0 ? [] : sides.map(({ name }) => name)),
      tooltip: { trigger: 'item' },
      grid: { ...besideGroups(labels), right: RIGHT, top, height: rows.length * ROW_HEIGHT, outerBoundsMode: 'none' },
      xAxis: valueAxis(measure.unit, fromZero ? [] : ends),
      yAxis: [
        // A category axis cannot place two dots above and below the middle of a row.
        { type: 'value', show: false, min: -0.5, max: rows.length - 0.5 },
        ...groupColumns(labels, rows, (group) => changeLabel(group, measure.unit)),
      ],
      series: (['before', 'after'] as const).flatMap((side, index) => {
        const { name } = sides[index] as SideWords;
        const { line: color, z } = STYLES[side];
        const all = rows.map(({ group }, row) => ({ ci: group?.[side]?.ci, row: row + SHIFT[side] }));
        return [
          whiskers(measure.unit, all, { name: `intervals ${name}`, color, capHeight: 7, z }),
          sideDots(side, name, measure.unit, rows),
        ];
      }),
    },
  };
}

function hasValue({ before, after }: ComparedGroup): boolean {
  return [before, after].some((side) => side !== null && Number.isFinite(side.value));
}

/** Compares groups by value, then by label, so that the sorted order does not depend on the order of the data. */
function byValue(a: ComparedGroup, b: ComparedGroup): number {
  return sortValueOf(a) - sortValueOf(b) || (a.label < b.label ? -1 : 1);
}

/**
 * Returns the value that determines the position of a group: the value after the change, or the value before the change
 * if the later value is missing.
 */
export function sortValueOf({ before, after }: ComparedGroup): number {
  return after?.value ?? before?.value ?? 0;
}

function changeLabel({ before, after }: ComparedGroup, unit: Unit): string {
  const shown = (side: ComparedGroup['before']): string => (side === null ? 'none' : chartValue(side.value, unit));
  return `${shown(before)} \u2192 ${shown(after)}`;
}

/**
 * Returns the difference between the largest and the smallest value of one side; undefined for fewer than two values.
 */
function gapOf(groups: readonly ComparedGroup[], side: Side): number | undefined {
  const values = groups.flatMap((group) => group[side]?.value ?? []).filter(Number.isFinite);
  return values.length < 2 ? undefined : Math.max(...values) - Math.min(...values);
}

function gapSentence({ groups, unit }: ComparedMeasure, sides: Sides): string | undefined {
  const [before, after] = [gapOf(groups, 'before'), gapOf(groups, 'after')];
  if (before === undefined || after === undefined) return undefined;
  const size = (gap: number): string => (unit === 'share' ? formatCompact(100 * gap) : formatCompact(gap));
  return `Largest gap between groups: ${size(before)} ${sides[0].adverb}, ${size(after)} ${sides[1].adverb}${unit === 'share' ? ' (percentage points)' : ''}`;
}

function describe(measure: ComparedMeasure, groups: number, sides: Sides): string {
  const sentence = gapSentence(measure, sides);
  const counted = `${measure.title} of ${String(groups)} ${groups === 1 ? 'group' : 'groups'} ${sides[0].adverb} and ${sides[1].adverb}`;
  return sentence === undefined ? `${counted}.` : `${counted}. ${sentence}.`;
}

/** A value with its interval. */
export interface ComparedValue {
  readonly value: number;
  readonly ci: readonly [low: number, high: number] | null;
}

/** The values of a group before and after a change. A missing value is null. */
export interface ComparedGroup {
  readonly label: string;
  readonly n: number;
  readonly before: ComparedValue | null;
  readonly after: ComparedValue | null;
}

/** The values of a measure for every group, before and after a change. */
interface ComparedMeasure {
  readonly title: string;
  /** The unit of the values. Shares are drawn in percent. */
  readonly unit: Unit;
  readonly groups: readonly ComparedGroup[];
}

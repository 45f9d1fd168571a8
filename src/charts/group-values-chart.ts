import { bothEnds, type Chart, FRAME, headline, type HeadlineWidths, LINE_HEIGHT, shortenLabel } from './chart.ts';
import { chartValue, formatCompact, type Unit } from '../internal/format.ts';
import {
  besideGroups,
  byValue,
  type ChartedGroup,
  type ChartedMeasure,
  groupColumns,
  intervals,
  omission,
  startsAtZero,
  valueAxis,
  values,
} from './group-values-parts.ts';

export type { ChartedGroup, ChartedMeasure } from './group-values-parts.ts';

/** Texts of the chart. */
export interface GroupValuesText {
  readonly title?: string | undefined;
  /** A line under the title. The next line has the gap between the extreme groups. */
  readonly subtitle?: string | undefined;
}

const WIDTH = 760;
const ROW_HEIGHT = 24;

/** The widths of the title and of a line under it, in lower-case letters. */
const WIDTHS: HeadlineWidths = { title: 78, line: 108 };

/**
 * Draws dots with intervals, a row for each group, the largest value at the top. A band from the smallest to the
 * largest value shows the gap.
 *
 * Groups without a finite value are not drawn. Of more than 40 groups, the 20 smallest and the 20 largest are drawn,
 * and the chart says so.
 */
export function groupValuesChart(measure: ChartedMeasure, text: GroupValuesText = {}): Chart {
  const sorted = measure.groups.filter(({ value }) => Number.isFinite(value)).sort(byValue);
  const rows = bothEnds(sorted);
  const [smallest, largest] = [sorted[0], sorted.at(-1)];
  const fromZero = startsAtZero(
    sorted.length === 0 ? [] : sorted.flatMap(({ value, ci }) => [value, ...(ci ?? [])]).concat(measure.overall ?? []),
  );
  const lines = [
    text.subtitle,
    gapSentence(measure.unit, smallest, largest),
    fromZero ? undefined : 'The axis does not start at 0.',
    omission(sorted.length, 'values'),
  ].filter((line) => line !== undefined);
  const labels = rows.map(({ label }) => shortenLabel(label));
  const top = 54 + lines.length * LINE_HEIGHT + (measure.overall === undefined ? 0 : LINE_HEIGHT);
  return {
    width: WIDTH,
    height: top + rows.length * ROW_HEIGHT + 44,
    description: describe(measure, smallest, largest, sorted.length),
    option: {
      ...FRAME,
      title: headline(text.title ?? measure.title, lines, WIDTHS),
      tooltip: { trigger: 'item' },
      grid: { ...besideGroups(labels), top, height: rows.length * ROW_HEIGHT, outerBoundsMode: 'none' },
      xAxis: valueAxis(measure.unit, fromZero),
      yAxis: groupColumns(labels, rows, ({ value }) => chartValue(value, measure.unit)),
      series: [intervals(measure.unit, rows), values(measure, rows, smallest, largest)],
    },
  };
}

function gapSentence(
  unit: Unit,
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
): string | undefined {
  if (smallest === undefined || largest === undefined || smallest === largest) return undefined;
  const gap = largest.value - smallest.value;
  const size = unit === 'share' ? `${formatCompact(100 * gap)} percentage points` : formatCompact(gap);
  return `From ${shortenLabel(smallest.label)} to ${shortenLabel(largest.label)}: a gap of ${size}`;
}

function describe(
  { title: name, unit }: ChartedMeasure,
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
  groups: number,
): string {
  if (smallest === undefined || largest === undefined) return `${name}: no group has a value.`;
  const end = ({ label, value }: ChartedGroup): string => `${chartValue(value, unit)} (${shortenLabel(label)})`;
  return `${name} of ${String(groups)} ${groups === 1 ? 'group' : 'groups'}, from ${end(smallest)} to ${end(largest)}.`;
}

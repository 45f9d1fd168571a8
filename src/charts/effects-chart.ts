import {
  bothEnds,
  type Chart,
  CHART_WIDTH,
  COLOURS,
  DRAWN_AT_EACH_END,
  FRAME,
  headline,
  LINE_HEIGHT,
  plotLines,
  shortenLabel,
} from './chart.ts';
import { chartValue, withPlus } from '../internal/format.ts';
import {
  besideGroups,
  byValue,
  type ChartedGroup,
  groupColumns,
  groupDots,
  intervals,
  type Row,
  valueAxis,
} from './group-values-chart.ts';

/** The effects on groups and on all rows. */
export interface ChartedEffects {
  readonly title: string;
  readonly subtitle: string;
  readonly groups: readonly ChartedGroup[];
  readonly overall: ChartedGroup;
}

const ROW_HEIGHT = 26;

/**
 * Draws a forest plot with a line at 0. The plot shows the effect on each group with its interval. The largest effect
 * is at the top, and the effect on all rows is at the bottom. Groups without a finite effect are not drawn. If there
 * are more than 40 groups, only the 20 smallest and the 20 largest effects are drawn.
 */
export function effectsChart({ title, subtitle, groups, overall }: ChartedEffects): Chart {
  const sorted = groups.filter(({ value }) => Number.isFinite(value)).sort(byValue);
  const rows: Row[] = [{ label: overall.label, group: overall }, ...bothEnds(sorted)];
  const each = String(DRAWN_AT_EACH_END);
  const lines = [
    subtitle,
    ...(sorted.length > 2 * DRAWN_AT_EACH_END
      ? [`Shows the ${each} groups with the lowest and the ${each} with the highest effects.`]
      : []),
  ];
  const labels = rows.map(({ label }) => shortenLabel(label));
  const top = 54 + lines.length * LINE_HEIGHT;
  return {
    width: CHART_WIDTH,
    height: top + rows.length * ROW_HEIGHT + 44,
    description: `${title}: ${sorted.map(({ label, value }) => `${shortenLabel(label)} ${effectLabel(value)}`).join(', ')}.`,
    option: {
      ...FRAME,
      title: headline(title, lines),
      grid: { ...besideGroups(labels), top, height: rows.length * ROW_HEIGHT, outerBoundsMode: 'none' },
      // The axis always includes 0, the reference of an effect.
      xAxis: valueAxis('number'),
      yAxis: groupColumns(labels, rows, ({ value }) => effectLabel(value)),
      series: [intervals('number', rows), dots(rows)],
    },
  };
}

function effectLabel(value: number): string {
  return withPlus(value, (size) => chartValue(size, 'number'));
}

/** Returns a dot for each group, a square for all rows, and the line at 0. */
function dots(rows: readonly Row[]): unknown {
  const data = rows.flatMap(({ group, label }, row) =>
    group === undefined ? [] : [{ name: label, value: [group.value, row], symbol: row === 0 ? 'rect' : 'circle' }],
  );
  return {
    ...groupDots('effects', data),
    markLine: plotLines({ color: COLOURS.ink, width: 1, type: 'solid' }, [{ xAxis: 0 }]),
  };
}

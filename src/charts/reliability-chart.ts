import { formatLevel } from '../internal/format.ts';
import { bottomLegend, type Chart, FRAME, headline, LINE_HEIGHT, shortenLabel } from './chart.ts';
import {
  diagonal,
  panelAxes,
  panelCount,
  placePanels,
  type ReliabilityDot,
  reliabilityLine,
  SCALE_STEPS,
  upwardName,
} from './reliability-parts.ts';

export type { ReliabilityDot } from './reliability-parts.ts';

/** The data of a group in the chart. */
export interface ReliabilityPanel {
  readonly label: string;
  readonly n: number;
  /** Bins in order of score. */
  readonly before: readonly ReliabilityDot[];
  /** The same rows after calibration. */
  readonly after?: readonly ReliabilityDot[] | undefined;
}

/** Texts of the chart. */
export interface ReliabilityChartText {
  readonly title?: string | undefined;
  readonly subtitle?: string | undefined;
  /**
   * Confidence level of the intervals.
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
}

/** The maximum number of groups; the largest are drawn. */
const MAX_PANELS = 16;

/** The approximate width of a letter in a group label. */
const LABEL_LETTER = 7.4;

/** The legend icon of the diagonal; by default the legend would add a dot. */
const DASHES = 'path://M0 0h5v1.6h-5z M9 0h5v1.6h-5z M18 0h5v1.6h-5z';

/**
 * Draws the share of positives over the mean score of bins, with a panel for each group. On the diagonal both are
 * equal. All panels have the same scale, from 0 to the smallest of 0.05, 0.1, 0.2, 0.5 and 1 that includes every dot;
 * intervals are cut off there. Of more than 16 groups, the largest are drawn, and the chart says so.
 */
export function reliabilityChart(panels: readonly ReliabilityPanel[], text: ReliabilityChartText = {}): Chart {
  const drawn = largest(panels);
  const hasAfter = drawn.some(({ after }) => after !== undefined);
  const dots = drawn.flatMap(({ before, after }) => [...before, ...(after ?? [])]);
  const top = Math.max(0, ...dots.flatMap(({ meanScore, positiveRate }) => [meanScore, positiveRate]));
  const most = [...SCALE_STEPS.keys()].find((end) => end >= top) ?? 1;
  const lines = [
    text.subtitle,
    `Dots are bins of equal size; bars are their ${formatLevel(text.level ?? 0.95)} intervals.`,
    panels.length > drawn.length
      ? `Shows the ${String(drawn.length)} largest of ${String(panels.length)} groups.`
      : undefined,
  ].filter((line) => line !== undefined);
  const { width, height, grids, side } = placePanels(drawn.length, 62 + lines.length * LINE_HEIGHT);
  return {
    width,
    height,
    description: describe(panels, drawn),
    option: {
      ...FRAME,
      title: headline(text.title ?? 'Reliability of scores by group', lines, {
        title: Math.floor((width - 32) / 9.5),
        line: Math.floor((width - 32) / 6.6),
      }),
      legend: bottomLegend(drawn.length === 0 ? [] : legendOf(hasAfter)),
      tooltip: { trigger: 'item', formatter: '{b}' },
      grid: grids.map(({ left, top: from, width: across }) => ({
        left: `${((100 * left) / width).toFixed(4)}%`,
        top: from,
        width: `${((100 * across) / width).toFixed(4)}%`,
        height: side,
        outerBoundsMode: 'none',
      })),
      xAxis: grids.map((position, index) => panelAxes(index, position, most, '').x),
      yAxis: [
        ...grids.map(
          (position, index) =>
            panelAxes(index, position, most, shortenLabel(drawn[index]?.label ?? '', Math.floor(side / LABEL_LETTER)))
              .y,
        ),
        ...grids.flatMap(({ isFirst }, index) => (isFirst ? [upwardName(index, most)] : [])),
      ],
      series: drawn.flatMap(({ n, before, after }, index) => [
        diagonal(index, most),
        panelCount(index, n, most),
        reliabilityLine(hasAfter ? 'before' : 'scores', index, before, most),
        ...(after === undefined ? [] : [reliabilityLine('after', index, after, most)]),
      ]),
    },
  };
}

function legendOf(hasAfter: boolean): unknown[] {
  return [...(hasAfter ? ['before', 'after'] : ['scores']), { name: 'calibrated', icon: DASHES }];
}

/** Returns the largest groups, in input order. */
function largest(panels: readonly ReliabilityPanel[]): readonly ReliabilityPanel[] {
  if (panels.length <= MAX_PANELS) return panels;
  const kept = new Set([...panels].sort((a, b) => b.n - a.n).slice(0, MAX_PANELS));
  return panels.filter((panel) => kept.has(panel));
}

function describe(panels: readonly ReliabilityPanel[], drawn: readonly ReliabilityPanel[]): string {
  const parts = drawn.map(({ label, before, after }) => {
    const own = `${shortenLabel(label)}: ${meanDistance(before)}`;
    return after === undefined ? own : `${own} before, ${meanDistance(after)} after`;
  });
  const groups = `${String(panels.length)} ${panels.length === 1 ? 'group' : 'groups'}`;
  return `Reliability of ${groups}: mean distance between shares and scores. ${parts.join('; ')}.`;
}

function meanDistance(dots: readonly ReliabilityDot[]): string {
  const n = dots.reduce((sum, dot) => sum + dot.n, 0);
  if (n === 0) return 'no rows';
  const sum = dots.reduce((total, dot) => total + dot.n * Math.abs(dot.positiveRate - dot.meanScore), 0);
  return (sum / n).toFixed(3);
}

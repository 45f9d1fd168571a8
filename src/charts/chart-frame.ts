import { COLOURS, FONT_FAMILY } from './chart.ts';
import { shortenLabel } from './chart-labels.ts';

/** The height of a line under a title. */
export const LINE_HEIGHT = 18;

/** Lower-case letters that fit. */
export interface HeadlineWidths {
  readonly title: number;
  readonly line: number;
}

/** A title with lines of words under it, each cut to what fits. */
export function headline(name: string, lines: readonly string[], widths: HeadlineWidths): unknown {
  return {
    text: shortenLabel(name, widths.title),
    subtext: lines.map((line) => shortenLabel(line, widths.line)).join('\n'),
    left: 16,
    top: 12,
    itemGap: 6,
    textStyle: { fontFamily: FONT_FAMILY, fontSize: 16, fontWeight: 700, color: COLOURS.ink },
    subtextStyle: { fontFamily: FONT_FAMILY, fontSize: 12, lineHeight: LINE_HEIGHT, color: COLOURS.quiet },
  };
}

/**
 * A legend below the plot that only tells, and cannot be clicked.
 * @param data names of series, or entries with looks of their own
 */
export function bottomLegend(data: readonly unknown[]): unknown {
  return {
    left: 16,
    bottom: 10,
    itemGap: 24,
    selectedMode: false,
    textStyle: { fontFamily: FONT_FAMILY, fontSize: 12, color: COLOURS.ink },
    data,
  };
}

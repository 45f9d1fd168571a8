import type { MeasureName } from '../measures/index.ts';
import { escapeMarkdown, inWords, markdownTable } from '../metric-markdown.ts';
import type { MetricResult } from '../metric-result.ts';
import { formatNumber } from '../../internal/format.ts';
import type { MetricOptions } from '../options.ts';

/** Renders a frame as Markdown: one table of groups, then for each measure one table of levels by groups. */
export function frameToMarkdown(frame: FrameValues): string {
  const notes = frame.warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`);
  const levels =
    Object.keys(frame.byLevel).length === 0 ? [] : frame.measures.flatMap((measure) => levelSection(frame, measure));
  return [groupTable(frame), ...(notes.length === 0 ? [] : ['', ...notes]), ...levels].join('\n');
}

function groupTable(frame: FrameValues): string {
  const line = (title: string, n: string, values: MeasureValues): string[] => [
    title,
    n,
    ...frame.measures.map((name) => formatNumber(values[name] ?? NaN)),
  ];
  const rows = Object.entries(frame.byGroup).map(([label, values]) =>
    line(escapeMarkdown(label), String(frame.nPerGroup[label] ?? 0), values),
  );
  const total = Object.values(frame.nPerGroup).reduce((sum, n) => sum + n, 0);
  return markdownTable(
    ['group', 'n', ...frame.measures.map(inWords)],
    [
      ...rows,
      line('(all rows)', String(total), frame.overall),
      line('(difference)', '', frame.difference()),
      line('(ratio)', '', frame.ratio()),
    ],
  );
}

function levelSection(frame: FrameValues, measure: MeasureName): string[] {
  const groups = Object.keys(frame.byGroup);
  const levels = Object.entries(frame.byLevel);
  const gaps = levels.map(([level, own]) => ({
    level,
    gap: own.metric(measure, 'difference', { withCi: false, withEffectSize: false }),
  }));
  const rows = levels.map(([level, own], index) => [
    escapeMarkdown(level),
    ...groups.map((group) => {
      const value = own.byGroup[group]?.[measure];
      return value === undefined ? '-' : `${formatNumber(value)} (n = ${String(own.nPerGroup[group] ?? 0)})`;
    }),
    formatNumber(gaps[index]?.gap.value ?? NaN),
  ]);
  const reasons = gaps.flatMap(({ level, gap }) =>
    gap.undefinedReason === null
      ? []
      : [`- ${escapeMarkdown(level)}: undefined, ${escapeMarkdown(gap.undefinedReason)}`],
  );
  return [
    '',
    `#### ${inWords(measure)} by level`,
    '',
    markdownTable(['level', ...groups.map(escapeMarkdown), 'difference'], rows),
    ...(reasons.length === 0 ? [] : ['', ...reasons]),
  ];
}

/** One number per measure; NaN if it is undefined. */
export type MeasureValues = Readonly<Record<string, number>>;

/** The properties of a metric frame that are needed to evaluate or print it. */
export interface FrameValues {
  readonly measures: readonly MeasureName[];
  readonly overall: MeasureValues;
  readonly byGroup: Readonly<Record<string, MeasureValues>>;
  readonly nPerGroup: Readonly<Record<string, number>>;
  readonly byLevel: Readonly<Record<string, FrameValues>>;
  readonly warnings: readonly string[];
  difference(): MeasureValues;
  ratio(): MeasureValues;
  metric(name: MeasureName, comparison?: 'difference' | 'ratio', options?: MetricOptions): MetricResult;
}

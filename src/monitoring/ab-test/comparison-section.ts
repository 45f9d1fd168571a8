import {
  capital,
  formatCount,
  formatShare,
  formatLevel,
  NOTHING,
  pValueText,
  twoDigits,
} from '../../internal/format.ts';
import { beforeAfterChart } from '../../charts/before-after-chart.ts';
import { effectsChart } from '../../charts/effects-chart.ts';
import type { ChartedGroup } from '../../charts/group-values-chart.ts';
import { numberColumn, type ReportBlock, type ReportSection, valueColumn } from '../../document/report-document.ts';
import { cutItems, labelText } from '../../document/report-text.ts';
import { wilsonInterval } from '../../stats/proportion-interval.ts';
import { attributeText } from '../attribute-text.ts';
import type { ABComparison, ABEffect, ABGroup, ABInterval, ABRow } from './ab-test-fields.ts';
import type { ABSettings } from './ab-test-options.ts';
import { changeWords, intervalWords, measureWords, numberWords } from './verdict-words.ts';

/**
 * Returns a section for each comparison. A section contains the effects on groups, the rates in both arms, and the
 * details of the pairs.
 */
export function comparisonSections(
  comparisons: readonly ABComparison[],
  settings: ABSettings,
  family: 'fairness' | 'business',
): ReportSection[] {
  return comparisons.map((comparison) => ({
    title: titleOf(comparison, family),
    blocks: [
      ...pictures(comparison, settings),
      effectTable(comparison, settings),
      ...gapBlocks(comparison, family),
      ...pairTable(comparison, family),
      ...droppedBlocks(comparison),
    ],
  }));
}

function titleOf({ attribute, metric, measure }: ABComparison, family: 'fairness' | 'business'): string {
  const what = family === 'business' ? `Business metric ${labelText(metric)}` : capital(measureWords(measure));
  return `${what} by ${attributeText(attribute)}`;
}

/** Returns the name of the metric and measure for use in a sentence. */
function subjectOf({ metric, measure }: ABComparison): string {
  return measure === 'mean' ? `mean of ${labelText(metric)}` : measureWords(measure);
}

/**
 * The names of the two arms in a chart. The arms run at the same time, so the words "before" and "after" are not used.
 */
const SIDES = [
  { name: 'control', adverb: 'under control' },
  { name: 'treatment', adverb: 'under treatment' },
] as const;

function pictures(comparison: ABComparison, settings: ABSettings): ReportBlock[] {
  const { groups, overall, kind, attribute } = comparison;
  const drawn = groups.filter(({ excluded, value }) => excluded === null && value !== null);
  if (drawn.length < 2) return [];
  const level = formatLevel(1 - settings.alpha);
  const by = attributeText(attribute);
  const charted = (label: string, effect: ABEffect): ChartedGroup => ({
    label,
    n: effect.n.control + effect.n.treatment,
    value: effect.value ?? NaN,
    ci: effect.interval,
  });
  return [
    {
      kind: 'picture',
      chart: () =>
        effectsChart({
          title: `Effect of the treatment on the ${subjectOf(comparison)} by ${by}`,
          subtitle: `Treatment minus control; lines are ${level} intervals for each group separately`,
          groups: drawn.map((group) => charted(group.group, group)),
          overall: charted('all rows', overall),
        }),
    },
    {
      kind: 'picture',
      chart: () =>
        beforeAfterChart(
          {
            title: `${capital(subjectOf(comparison))} by ${by}`,
            // Numbers are formatted as in the tables and sentences, so that they can be compared.
            unit: 'number',
            groups: drawn.map((group) => ({
              label: group.group,
              n: group.n.control + group.n.treatment,
              before: { value: group.control ?? NaN, ci: armInterval(group, 'control', kind, settings) },
              after: { value: group.treatment ?? NaN, ci: armInterval(group, 'treatment', kind, settings) },
            })),
          },
          {
            sides: SIDES,
            ...(kind === 'rate' && !settings.isSequential
              ? { subtitle: `Lines are ${level} intervals for each rate separately` }
              : {}),
          },
        ),
    },
  ];
}

/**
 * Returns Wilson's interval of a rate. Returns null in the sequential mode, because the interval would not hold over
 * repeated analyses. Also returns null for means, whose intervals are reported with the effects.
 */
function armInterval(
  group: ABGroup,
  arm: 'control' | 'treatment',
  kind: ABComparison['kind'],
  { alpha, isSequential }: ABSettings,
): ABInterval | null {
  const trials = group.effective[arm];
  const value = group[arm];
  if (kind === 'mean' || isSequential || value === null) return null;
  return wilsonInterval(Math.min(trials, value * trials), trials, 1 - alpha);
}

function effectTable({ groups, overall, ...comparison }: ABComparison, { alpha }: ABSettings): ReportBlock {
  const line = (label: string, effect: ABEffect): string[] => [
    label,
    numberWords(effect.control),
    numberWords(effect.treatment),
    changeWords(effect.value),
    intervalWords(effect.interval),
    pValueText(effect.pValue),
    formatCount(effect.n.control),
    formatCount(effect.n.treatment),
  ];
  return {
    kind: 'table',
    caption: `Effect on the ${subjectOf({ ...comparison, groups, overall })}, with ${formatLevel(1 - alpha)} intervals, p-values not adjusted`,
    columns: [
      { name: 'Group' },
      ...['Control', 'Treatment', 'Effect'].map(valueColumn),
      ...['Interval', 'p', 'n control', 'n treatment'].map(numberColumn),
    ],
    rows: [
      ...groups.map((group) =>
        line(`${labelText(group.group)}${group.excluded === null ? '' : ' (not compared)'}`, group),
      ),
      line('All rows', overall),
    ],
  };
}

function gapBlocks({ gap, reference }: ABComparison, family: 'fairness' | 'business'): ReportBlock[] {
  if (gap === null || family === 'business') return [];
  const of =
    gap.groups === 2
      ? 'The two groups differ by'
      : `Of ${String(gap.groups)} groups, the two that differ most differ by`;
  const method =
    gap.method === 'pair'
      ? ''
      : ' This interval is conservative, and is not one of the tests that determine the verdict.';
  return [
    {
      kind: 'paragraph',
      text: `${of} ${numberWords(gap.control)} under control and ${numberWords(gap.treatment)} under treatment: a change of ${changeWords(gap.change)} (${intervalWords(gap.interval)}).${method} The reference group is ${labelText(reference ?? '')}.`,
    },
  ];
}

function pairTable({ rows, kind }: ABComparison, family: 'fairness' | 'business'): ReportBlock[] {
  const tested = rows.filter(({ pValue }) => pValue !== null);
  if (rows.length === 0) return [];
  if (tested.length === 0)
    return [{ kind: 'list', items: cutItems(rows.map(({ verdict }) => `${capital(verdict)}.`)) }];
  const fairness = kind === 'rate' ? [...SIZE_COLUMNS, ...LOGIT_COLUMNS] : SIZE_COLUMNS;
  const columns = [...PAIR_COLUMNS, ...(family === 'business' ? EFFECT_COLUMNS : fairness)];
  return [
    {
      kind: 'table',
      caption:
        family === 'business'
          ? 'Whether the effect differs between groups'
          : 'Details of the pairs: the change in the size of the disparity',
      columns: [
        { name: 'Groups' },
        ...columns.map(({ name, isEssential }) => ({ ...numberColumn(name), isEssential })),
      ],
      rows: tested.map((row) => [
        `${labelText(row.group)} vs. ${labelText(row.reference)}`,
        ...columns.map(({ text }) => text(row)),
      ]),
    },
  ];
}

/** A numeric column in a table of pairs. */
interface PairColumn {
  readonly name: string;
  /** Whether the verdict rests on it. */
  readonly isEssential?: boolean;
  readonly text: (row: ABRow) => string;
}

const PAIR_COLUMNS: readonly PairColumn[] = [
  { name: 'Standard error', text: ({ standardError }) => numberWords(standardError) },
  {
    name: 'Power',
    text: ({ power, minimumEffect }) =>
      power === null ? NOTHING : `${formatShare(power, 0)} for ${twoDigits(minimumEffect ?? NaN)}`,
  },
  { name: 'Minimum detectable (80% power)', text: ({ detectable }) => numberWords(detectable) },
];

const EFFECT_COLUMNS: readonly PairColumn[] = [
  { name: 'Difference of effects', isEssential: true, text: ({ fairnessChange }) => changeWords(fairnessChange) },
  { name: 'Interval', text: ({ interval }) => intervalWords(interval) },
  { name: 'Adjusted p', isEssential: true, text: ({ adjustedPValue }) => pValueText(adjustedPValue) },
];

const SIZE_COLUMNS: readonly PairColumn[] = [
  { name: 'Change in size', isEssential: true, text: ({ sizeChange }) => changeWords(sizeChange.value) },
  { name: 'Interval (size)', text: ({ sizeChange }) => intervalWords(sizeChange.interval) },
  { name: 'Adjusted p (size)', isEssential: true, text: ({ sizeChange }) => pValueText(sizeChange.adjustedPValue) },
];

const LOGIT_COLUMNS: readonly PairColumn[] = [
  { name: 'Logit interaction', text: ({ logitInteraction }) => changeWords(logitInteraction?.estimate ?? null) },
  { name: 'p (logit)', text: ({ logitInteraction }) => pValueText(logitInteraction?.pValue ?? null) },
];

function droppedBlocks({ dropped }: ABComparison): ReportBlock[] {
  const words = (['group', 'outcome', 'label', 'weight'] as const).flatMap((reason) => {
    const [control, treatment] = [dropped.control[reason], dropped.treatment[reason]];
    return control + treatment === 0
      ? []
      : [`without a ${reason}: ${formatCount(control)} under control and ${formatCount(treatment)} under treatment`];
  });
  return words.length === 0 ? [] : [{ kind: 'paragraph', text: `Excluded rows ${words.join('; ')}.` }];
}

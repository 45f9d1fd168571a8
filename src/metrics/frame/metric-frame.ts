import { assertKnownOptions, oneOf } from '../../internal/arguments.ts';
import { formatNumber } from '../../internal/format.ts';
import { readingWarnings } from '../../table/index.ts';
import { compareGroups } from '../compare/compare-groups.ts';
import { assertTruth, measureOfCompat, overallOfCompat } from '../compare/compat.ts';
import { largest, smallest } from '../compare/gap.ts';
import { findMeasure, measureDefinition, type MeasureName } from '../measures/index.ts';
import { escapeMarkdown, inWords, markdownTable } from '../metric-markdown.ts';
import type { MetricResult } from '../metric-result.ts';
import { fillMetricOptions, type GapMethod, METRIC_OPTION_NAMES, type MetricOptions } from '../options.ts';
import type { GroupStats } from '../statistics/group-stats.ts';
import { regroup } from '../statistics/regroup-stats.ts';
import { rowsPerGroup } from '../statistics/rows-per-group.ts';
import type { StatsByKind } from './cross-control.ts';
import { type SimpsonFinding, simpsonFindings, simpsonWarning } from './simpson.ts';

/** One number for each measure; NaN if the number is undefined. */
export type MeasureValues = Readonly<Record<string, number>>;

/**
 * A table of the measures of every group, with overall values, differences and ratios. With a control feature, the
 * frame also contains these values within each level. The frame is frozen. Use {@link metricFrame} or an analyzer to
 * create a frame.
 */
export class MetricFrame {
  readonly measures: readonly MeasureName[];
  /** The value of each measure for all rows together. */
  readonly overall: MeasureValues;
  /** The value of each measure for every group; NaN if it is undefined. */
  readonly byGroup: Readonly<Record<string, MeasureValues>>;
  readonly nPerGroup: Readonly<Record<string, number>>;
  /** The frame of each level of the control feature; empty without a control feature. */
  readonly byLevel: Readonly<Record<string, MetricFrame>>;
  /** The gaps of measures that have the opposite sign within the levels of the control feature. */
  readonly simpson: readonly SimpsonFinding[];
  /** Warnings to consider before you quote the values. */
  readonly warnings: readonly string[];
  readonly nDropped: number;
  readonly #stats: StatsByKind;
  readonly #options: MetricOptions;
  readonly #isLevel: boolean;

  /**
   * @param statsByKind statistics of all rows
   * @param levels the statistics of each level of a control feature
   * @param isLevel whether the frame is about a single level, in which some groups may not occur
   */
  constructor(
    statsByKind: StatsByKind,
    measures: readonly MeasureName[],
    options: MetricOptions,
    levels: ReadonlyMap<string, StatsByKind> = new Map(),
    isLevel = false,
  ) {
    this.#stats = statsByKind;
    // A copy, so that later changes to the caller's options have no effect.
    this.#options = { ...options, referenceGroup: ownNames(options.referenceGroup) };
    this.#isLevel = isLevel;
    this.measures = measures;
    const filled = fillMetricOptions(options);
    const known = Object.values(this.#stats);
    assertTruth(known, measures.join(', '), measures);
    const { labels, nDropped } = known[0] as GroupStats;
    const columns = measures.map((name) => {
      const { kind, measure } = measureDefinition(name);
      const stats = this.#stats[kind] as GroupStats;
      const values = measureOfCompat(measure(stats), filled).values;
      return { name, values, overall: overallOfCompat(measure, stats, filled) };
    });
    this.overall = Object.fromEntries(columns.map(({ name, overall }) => [name, overall]));
    this.byGroup = Object.fromEntries(
      labels.map((label, group) => [
        label,
        Object.freeze(Object.fromEntries(columns.map(({ name, values }) => [name, values[group] as number]))),
      ]),
    );
    const rows = rowsPerGroup(known[0] as GroupStats, false);
    this.nPerGroup = Object.fromEntries(labels.map((label, group) => [label, rows[group] as number]));
    this.nDropped = nDropped;
    this.byLevel = Object.fromEntries(
      Array.from(levels, ([level, stats]) => [level, new MetricFrame(stats, measures, options, undefined, true)]),
    );
    this.simpson = measures.flatMap((name) => simpsonFindings(name, statsByKind, levels, filled));
    const readings = isLevel ? [] : known.flatMap((stats) => stats.readings ?? []);
    this.warnings = [...readingWarnings(readings), ...this.simpson.map(simpsonWarning)];
    for (const part of [this.overall, this.byGroup, this.nPerGroup, this.byLevel, this.simpson, this.warnings, this]) {
      Object.freeze(part);
    }
  }

  /**
   * Returns the difference of each measure between groups. See {@link MetricFrame.metric} for intervals and exclusions.
   */
  difference(method?: GapMethod): MeasureValues {
    return this.#compare('difference', method);
  }

  /** Returns the ratio of each measure between groups. */
  ratio(method?: GapMethod): MeasureValues {
    return this.#compare('ratio', method);
  }

  /** Returns the smallest value of each measure. */
  groupMin(): MeasureValues {
    return this.#extreme(smallest);
  }

  /** Returns the largest value of each measure. */
  groupMax(): MeasureValues {
    return this.#extreme(largest);
  }

  /**
   * Compares the groups by one measure, and returns a complete {@link MetricResult} with interval, exclusions and
   * warnings.
   * @param name one of the frame's measures
   * @throws {ValueError} if the measure or the comparison is unknown
   */
  metric(
    name: MeasureName,
    comparison: 'difference' | 'ratio' = 'difference',
    options: MetricOptions = {},
  ): MetricResult {
    assertKnownOptions('MetricFrame.metric', options, METRIC_OPTION_NAMES);
    const measure = oneOf('name', findMeasure(name) ?? name, this.measures);
    const filled = fillMetricOptions({ ...this.#options, ...options });
    const own = this.#stats[measureDefinition(measure).kind] as GroupStats;
    const stats = this.#isLevel ? withGroups(own, filled.referenceGroup ?? []) : own;
    oneOf('comparison', comparison, ['difference', 'ratio']);
    const definition = { metric: `${measure}_${comparison}`, measures: [measure], comparison };
    return compareGroups([{ stats, className: undefined }], definition, filled);
  }

  /** Returns the frame in its wire format: snake_case keys, with null for undefined values. */
  toJSON(): Record<string, unknown> {
    const plain = (values: MeasureValues): Record<string, number | null> =>
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number.isFinite(value) ? value : null]));
    const levels = Object.entries(this.byLevel);
    return {
      overall: plain(this.overall),
      by_group: Object.fromEntries(Object.entries(this.byGroup).map(([label, values]) => [label, plain(values)])),
      n_per_group: this.nPerGroup,
      difference: plain(this.difference()),
      ratio: plain(this.ratio()),
      n_dropped: this.nDropped,
      warnings: this.warnings,
      ...(levels.length === 0
        ? {}
        : { by_level: Object.fromEntries(levels.map(([level, frame]) => [level, frame.toJSON()])) }),
    };
  }

  /**
   * Renders the frame as Markdown tables. The first table shows the groups, all rows, differences and ratios. After it,
   * there is a table for each measure with the values within the levels.
   */
  toMarkdown(): string {
    return frameToMarkdown(this);
  }

  #compare(comparison: 'difference' | 'ratio', method: GapMethod | undefined): MeasureValues {
    const options = {
      withCi: false,
      withEffectSize: false,
      withPValue: false,
      ...(method === undefined ? {} : { method }),
    };
    return Object.fromEntries(this.measures.map((name) => [name, this.metric(name, comparison, options).value]));
  }

  #extreme(pick: (values: readonly number[]) => number): MeasureValues {
    const { minGroupSize } = fillMetricOptions(this.#options);
    return Object.fromEntries(
      this.measures.map((name) => {
        const { kind, needsTruth } = measureDefinition(name);
        const stats = this.#stats[kind] as GroupStats;
        // As in differences, a group counts by its rows with true labels if the measure needs them.
        const rows = rowsPerGroup(stats, needsTruth);
        const values = stats.labels.flatMap((label, group) => {
          const value = this.byGroup[label]?.[name] ?? NaN;
          return (rows[group] as number) < minGroupSize || Number.isNaN(value) ? [] : [value];
        });
        return [name, values.length === 0 ? NaN : pick(values)];
      }),
    );
  }
}

function ownNames(names: MetricOptions['referenceGroup']): MetricOptions['referenceGroup'] {
  return typeof names === 'object' ? [...names] : names;
}

/**
 * Adds groups without rows to the statistics of a level, so that the result can report that the reference group has no
 * rows in this level.
 */
function withGroups(stats: GroupStats, groups: readonly string[]): GroupStats {
  const absent = groups.filter((group) => !stats.labels.includes(group));
  return absent.length === 0 ? stats : regroup(stats, [...stats.labels.keys()], [...stats.labels, ...absent]);
}

/**
 * Renders a frame as Markdown: a table of groups, and then, for each measure, a table with levels as rows and groups as
 * columns.
 */
function frameToMarkdown(frame: MetricFrame): string {
  const notes = frame.warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`);
  const levels =
    Object.keys(frame.byLevel).length === 0 ? [] : frame.measures.flatMap((measure) => levelSection(frame, measure));
  return [groupTable(frame), ...(notes.length === 0 ? [] : ['', ...notes]), ...levels].join('\n');
}

function groupTable(frame: MetricFrame): string {
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

function levelSection(frame: MetricFrame, measure: MeasureName): string[] {
  const groups = Object.keys(frame.byGroup);
  const levels = Object.entries(frame.byLevel);
  const gaps = levels.map(([level, own]) => ({
    level,
    gap: own.metric(measure, 'difference', { withCi: false, withEffectSize: false, withPValue: false }),
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

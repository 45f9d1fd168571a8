import type { Chart } from '../../charts/chart.ts';
import { capital, NOTHING, tableCount, rangeText, tableValue, type Unit } from '../../internal/format.ts';
import {
  beforeAfterChart,
  type ComparedGroup,
  type ComparedValue,
  sortValueOf,
} from '../../charts/before-after-chart.ts';
import { numberColumn, type ReportBlock, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import type { MetricResult } from '../../metrics/metric-result.ts';
import { intervalName, measuresOf } from '../metric-facts.ts';
import { own } from '../../internal/values.ts';
import { signedValue } from './workflow-changes.ts';

/** The number of groups shown at each end of a long table. A table is long if it has more than twice as many groups. */
const SHOWN_AT_EACH_END = 20;

/** Returns a chart and a table of each group's value before and after; for a single group only the table. */
export function comparisonBlocks(comparison: GroupComparison, attribute: string, subtitle: string): ReportBlock[] {
  const { measure, unit, groups } = comparison;
  const table = groupTable(comparison, attribute);
  const title = `${inWords(measure)} by ${attribute}`;
  const chart = (): Chart => beforeAfterChart({ title, unit, groups }, { subtitle });
  return groups.length < 2 ? [table] : [{ kind: 'picture', chart }, table];
}

/**
 * Builds the table of each group's value before and after. If there are very many groups, it shows the groups with the
 * lowest and the highest values, and the number of other groups.
 */
export function groupTable(
  { measure, unit, level, groups, clusters }: GroupComparison,
  attribute: string,
): ReportTable {
  const interval = level === null ? [] : [numberColumn(capital(intervalName(level)))];
  const values = ({ before, after }: ComparedGroup): string[] => [
    ...sideOf(before, unit, level !== null),
    ...sideOf(after, unit, level !== null),
    before === null || after === null ? NOTHING : signedValue(after.value - before.value, unit),
  ];
  const columns = [
    { name: 'Group' },
    numberColumn('n'),
    ...(clusters === undefined ? [] : [numberColumn('Clusters')]),
    numberColumn('Before'),
    ...interval,
    numberColumn('After'),
    ...interval,
    numberColumn('Change'),
  ];
  const row = (group: ComparedGroup): string[] => [
    labelText(group.label),
    tableCount(group.n),
    ...(clusters === undefined ? [] : [tableCount(own(clusters, group.label) ?? 0)]),
    ...values(group),
  ];
  const name = `${inWords(measure)} by ${labelText(attribute)}`;
  const between = groups.length - 2 * SHOWN_AT_EACH_END;
  if (between <= 0) return { kind: 'table', caption: name, columns, rows: groups.map(row) };
  const sorted = [...groups].sort((a, b) => sortValueOf(a) - sortValueOf(b));
  const each = String(SHOWN_AT_EACH_END);
  return {
    kind: 'table',
    caption: `${name}: the ${each} lowest and the ${each} highest of ${tableCount(groups.length)} groups`,
    columns,
    rows: [
      ...sorted.slice(0, SHOWN_AT_EACH_END).map(row),
      [`\u22EE ${tableCount(between)} more groups`, ...columns.slice(1).map(() => '')],
      ...sorted.slice(-SHOWN_AT_EACH_END).map(row),
    ],
  };
}

function sideOf(side: ComparedValue | null, unit: Unit, hasIntervals: boolean): string[] {
  const value = side === null ? NOTHING : tableValue(side.value, unit);
  if (!hasIntervals) return [value];
  return [value, side === null || side.ci === null ? NOTHING : rangeText(side.ci, (end) => tableValue(end, unit))];
}

/** The values of a measure for every group, before and after. */
export interface GroupComparison {
  readonly measure: string;
  readonly unit: Unit;
  /** The level of the intervals of groups; null if groups have no intervals. */
  readonly level: number | null;
  readonly groups: readonly ComparedGroup[];
  /** The number of clusters of each group; undefined if rows are independent. */
  readonly clusters?: Readonly<Record<string, number>> | undefined;
}

type Results = Readonly<Record<string, MetricResult>>;

/** Lists each measure of one attribute's metrics once, with every group that has a value before or after. */
export function compareGroups(baseline: Results, final: Results): GroupComparison[] {
  const seen = new Set<string>();
  return Object.entries(final).flatMap(([metric, after]) => {
    const before = own(baseline, metric);
    const measures = new Set([...(before === undefined ? [] : measuresOf(before)), ...measuresOf(after)]);
    return [...measures].flatMap((measure): GroupComparison[] => {
      if (seen.size === seen.add(measure).size) return [];
      const groups = groupsOf(before, after, measure);
      const hasIntervals = groups.some((group) =>
        [group.before, group.after].some((side) => (side?.ci ?? null) !== null),
      );
      const level = hasIntervals ? after.ciLevel : null;
      return groups.length === 0 ? [] : [{ measure, unit: unitOf(measure), level, groups, clusters: after.nClusters }];
    });
  });
}

function groupsOf(before: MetricResult | undefined, after: MetricResult, measure: string): ComparedGroup[] {
  const labels = new Set([...Object.keys(before?.perGroup ?? {}), ...Object.keys(after.perGroup)]);
  return [...labels].flatMap((label): ComparedGroup[] => {
    const [from, to] = [valueOf(before, label, measure), valueOf(after, label, measure)];
    if (from === null && to === null) return [];
    const n = own(after.nPerGroup, label) ?? own(before?.nPerGroup, label) ?? 0;
    return [{ label, n, before: from, after: to }];
  });
}

function valueOf(result: MetricResult | undefined, label: string, measure: string): ComparedValue | null {
  const value = own(own(result?.perGroup, label), measure) ?? null;
  if (value === null || !Number.isFinite(value)) return null;
  return { value, ci: own(own(result?.perGroupCi, label), measure) ?? null };
}

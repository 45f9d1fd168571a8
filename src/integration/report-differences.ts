import { FairnessToolkitError } from '../exceptions/index.ts';
import { isMapping, type Mapping, valueAt } from '../internal/values.ts';
import type { GroupStats } from '../metrics/statistics/group-stats.ts';
import { regroup } from '../metrics/statistics/regroup-stats.ts';
import { rowsPerGroup } from '../metrics/statistics/rows-per-group.ts';
import { statsFromJson, type StatsJson, statsToJson } from '../metrics/statistics/stats-json.ts';
import type { StatisticsJson } from './report-evidence.ts';

/** A value that differs. */
export interface ReportDifference {
  /** The place in the report, as names that are joined by points. */
  readonly where: string;
  readonly reported: unknown;
  readonly computed: unknown;
}

/**
 * Lists the differences of statistics, with the names of groups and cells. Groups are compared by their labels, so that a
 * missing group changes nothing in the others.
 */
export function statisticsDifferences(
  reported: StatisticsJson,
  computed: StatisticsJson,
  tolerance: number,
): ReportDifference[] {
  const differences = inStatistics(reported, computed, tolerance, ['manifest', 'statistics']);
  // The statistics of decisions and of scores name the same missing group.
  return [...new Map(differences.map((one) => [JSON.stringify(one), one])).values()];
}

/** Returns the labels of groups that only the first statistics have. */
export function groupsOnlyIn(first: StatisticsJson, second: StatisticsJson): string[] {
  const only = first.flatMap(({ attributes }, kind) =>
    attributes.flatMap((_, attribute) => {
      const labelsIn = (statistics: StatisticsJson): readonly string[] => {
        const path = [kind, 'attributes', attribute];
        const labels = [['stats'], ['classes', 0, 'stats']].map((own) =>
          valueAt(statistics, [...path, ...own, 'labels']),
        );
        return (labels.find((own) => Array.isArray(own)) ?? []) as readonly string[];
      };
      const others = new Set(labelsIn(second));
      return labelsIn(first).filter((label) => !others.has(label));
    }),
  );
  return [...new Set(only)];
}

/** Finds the statistics of attributes and classes, and compares everything else by its position. */
function inStatistics(
  reported: unknown,
  computed: unknown,
  tolerance: number,
  path: readonly string[],
): ReportDifference[] {
  if (isStats(reported) && isStats(computed)) return groupDifferences(reported, computed, tolerance, path);
  if (!isObject(reported) || !isObject(computed)) return differencesOf(reported, computed, tolerance, path);
  const names = new Set([...Object.keys(reported), ...Object.keys(computed)]);
  // The cells of a control feature are the parts of its labels, so that other labels explain other cells.
  const labelsOf = (value: Mapping): string => JSON.stringify(valueAt(value, ['stats', 'labels']));
  if (labelsOf(reported) !== labelsOf(computed)) names.delete('cells');
  return [...names].flatMap((name) => inStatistics(reported[name], computed[name], tolerance, [...path, name]));
}

function isObject(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null;
}

interface LabelledStats extends StatsJson {
  readonly labels: readonly string[];
}

function isStats(value: unknown): value is LabelledStats {
  return isMapping(value) && Array.isArray(value['labels']);
}

/** Compares the groups that two statistics share, and lists the rows of all other groups. */
function groupDifferences(
  reported: LabelledStats,
  computed: LabelledStats,
  tolerance: number,
  path: readonly string[],
): ReportDifference[] {
  if (JSON.stringify(reported.labels) === JSON.stringify(computed.labels)) {
    return cellDifferences(reported, computed, tolerance, path);
  }
  const [left, right] = [readStats(reported), readStats(computed)];
  if (left === undefined || right === undefined) return differencesOf(reported, computed, tolerance, path);
  const known = new Set(right.labels);
  const shared = new Map(left.labels.filter((label) => known.has(label)).map((label, index) => [label, index]));
  const onShared = (stats: GroupStats): LabelledStats => {
    const labels = [...shared.keys()];
    const positions = stats.labels.map((label) => shared.get(label) ?? -1);
    return { ...statsToJson(regroup(stats, positions, labels)), labels };
  };
  const rowsOfOthers = (stats: GroupStats): [where: string, rows: number][] => {
    const rows = rowsPerGroup(stats, false);
    return stats.labels.flatMap((label, group) =>
      shared.has(label) ? [] : [[`rows of group '${label}'${partOf(path)}`, rows[group] as number]],
    );
  };
  return [
    ...rowsOfOthers(left).map(([where, rows]) => ({ where, reported: rows, computed: undefined })),
    ...rowsOfOthers(right).map(([where, rows]) => ({ where, reported: undefined, computed: rows })),
    ...cellDifferences(onShared(left), onShared(right), tolerance, path),
  ];
}

/** Reads statistics; undefined if they were changed and cannot be read. */
function readStats(json: StatsJson): GroupStats | undefined {
  try {
    return statsFromJson(json);
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return undefined;
    throw error;
  }
}

/** Compares statistics with the same groups, and names the groups and cells. */
function cellDifferences(
  reported: LabelledStats,
  computed: LabelledStats,
  tolerance: number,
  path: readonly string[],
): ReportDifference[] {
  return differencesOf(reported, computed, tolerance).flatMap(({ where, ...values }) => {
    const names = where.split('.');
    const [table, index] = [names.slice(0, -1), names.at(-1) ?? ''];
    // Without weights of rows, the sums of weights are the counts, and a difference is named once.
    const countIn = (stats: StatsJson): unknown => valueAt(stats, [...table.slice(0, -1), 'counts', index]);
    const repeatsCount = values.reported === countIn(reported) && values.computed === countIn(computed);
    if (/weights$/.test(table.at(-1) ?? '') && repeatsCount) return [];
    const name = cellName(reported, table.join('.'), Number(index));
    return [{ where: name === undefined ? [...path, where].join('.') : `${name}${partOf(path)}`, ...values }];
  });
}

/** Names statistics inside those of an attribute, which have the same groups: of a class, or of a control feature. */
function partOf(path: readonly string[]): string {
  return path.length > ATTRIBUTE_PATH ? `, in ${path.join('.')}` : '';
}

/** The length of the path `manifest.statistics.0.attributes.0.stats`. */
const ATTRIBUTE_PATH = 6;

interface NamedCells {
  readonly tables: RegExp;
  /** The names of the cells of a group, in their order. */
  readonly cells: readonly string[];
}

/** The tables with numbers of each group. */
const GROUP_TABLES: Readonly<Record<GroupStats['kind'], readonly NamedCells[]>> = {
  classification: [
    {
      tables: /^(counts|weights|squared_weights)$/,
      cells: [', true label 0', ', true label 1', ''].flatMap((truth) =>
        [0, 1].map((decision) => `${truth}, decision ${String(decision)}`),
      ),
    },
    { tables: /^undecided\./, cells: [', true label 0', ', true label 1', ''] },
  ],
  regression: [{ tables: /^(counts|weights|squared_weights|dropped|moments\..+)$/, cells: [''] }],
  scores: [{ tables: /^(dropped|log_losses|squared_log_losses)$/, cells: [''] }],
};

/** Names the group and the cell of a number; undefined if the table is not one of numbers by group. */
function cellName({ kind, labels }: LabelledStats, table: string, index: number): string | undefined {
  const known = isKind(kind) ? GROUP_TABLES[kind] : [];
  const cells = known.find(({ tables }) => tables.test(table))?.cells;
  if (cells === undefined) return undefined;
  return `${table} of group '${labels[Math.floor(index / cells.length)] ?? ''}'${cells[index % cells.length] ?? ''}`;
}

function isKind(kind: unknown): kind is GroupStats['kind'] {
  return typeof kind === 'string' && Object.hasOwn(GROUP_TABLES, kind);
}

/** Returns the first place in which two texts differ. */
export function firstDifference(reported: string, computed: string): ReportDifference {
  let at = 0;
  while (at < reported.length && reported[at] === computed[at]) at++;
  const line = reported.slice(0, at).split('\n').length;
  const around = (text: string): string => text.slice(Math.max(0, at - 40), at + 40);
  return { where: `line ${String(line)} of the page`, reported: around(reported), computed: around(computed) };
}

/** Lists the places in which two values differ. Numbers are equal within a relative tolerance. */
export function differencesOf(
  reported: unknown,
  computed: unknown,
  tolerance: number,
  path: readonly string[] = [],
): ReportDifference[] {
  if (typeof reported === 'number' && typeof computed === 'number') {
    const scale = Math.max(1, Math.abs(reported), Math.abs(computed));
    if (Math.abs(reported - computed) <= tolerance * scale) return [];
  } else if (typeof reported === 'object' && typeof computed === 'object' && reported !== null && computed !== null) {
    const [left, right] = [reported, computed] as Readonly<Record<string, unknown>>[];
    const names = new Set([...Object.keys(reported), ...Object.keys(computed)]);
    return [...names].flatMap((name) => differencesOf(left?.[name], right?.[name], tolerance, [...path, name]));
  } else if (reported === computed) return [];
  return [{ where: path.join('.'), reported, computed }];
}

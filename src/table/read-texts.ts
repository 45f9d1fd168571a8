import {
  type ColumnReading,
  countLabels,
  countTexts,
  readingOfGroups,
  readingOfLabels,
  readingOfMissing,
  readingWarnings,
} from './column-reading.ts';
import type { Column } from './column.ts';
import { asNumbersWithout, missingGroups, missingOutcomes, withoutTexts } from './missing-values.ts';
import { labelValue } from './label-values.ts';
import { Table } from './table.ts';
import { readLabels } from './to-binary.ts';

/** The columns of a table that `readTexts` reads, by their roles. */
export interface TextColumns {
  /**
   * The columns of groups. In a column of groups, only the empty text means a missing value, unless `naValues` is
   * given.
   */
  readonly groups: readonly string[];
  /** The column of labels. */
  readonly target?: string | undefined;
  readonly positiveLabel?: string | undefined;
  /** Other columns, such as weights and features. */
  readonly others?: readonly string[] | undefined;
  /** The texts that mean a missing value, instead of `MISSING_TEXTS`. `naValues` also applies to columns of groups. */
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Replaces texts that mean a missing value, and returns warnings about how labels and texts were interpreted. A column
 * becomes numeric if all its remaining texts are numbers. Columns that are not listed do not change.
 */
export function readTexts(
  table: Table,
  columns: TextColumns,
): { readonly table: Table; readonly warnings: readonly string[] } {
  const changed = new Map<string, Column>();
  const readings: ColumnReading[] = [];
  const named = [
    ...columns.groups,
    ...(columns.target === undefined ? [] : [columns.target]),
    ...(columns.others ?? []),
  ];
  for (const name of new Set(named)) {
    if (!table.has(name)) continue;
    const read = readColumn(table.column(name), name, columns);
    if (read.column !== table.column(name)) changed.set(name, read.column);
    readings.push(...read.readings);
  }
  if (changed.size === 0) return { table, warnings: readingWarnings(readings) };
  const all = table.columnNames.map((name) => [name, changed.get(name) ?? table.column(name)] as const);
  return { table: Table.ofColumns(all), warnings: readingWarnings(readings) };
}

interface ReadColumn {
  readonly column: Column;
  readonly readings: readonly ColumnReading[];
}

function readColumn(
  column: Column,
  name: string,
  { groups, target, positiveLabel, naValues }: TextColumns,
): ReadColumn {
  if (groups.includes(name)) {
    const missing = missingGroups(naValues);
    const labels = column.kind === 'numeric' ? [] : countLabels(column).filter(({ label }) => label !== '');
    const read = labels.map((one) => ({ ...one, value: missing.has(one.label) ? -1 : 1 }));
    return { column: withoutTexts(column, missing), readings: readingOfGroups(name, read, naValues) };
  }
  if (name === target && positiveLabel !== undefined) {
    const { column: labelled, rule } = readLabels(column, name, positiveLabel, naValues);
    const counts = countLabels(labelled).filter(({ label }) => label !== '');
    const read = counts.map((one) => ({ ...one, value: labelValue(one.label, rule) ?? NaN }));
    return {
      column: withoutTexts(column, missingOutcomes(naValues, positiveLabel)),
      readings: [readingOfLabels('true labels', read, { name, positiveLabel: rule.positiveLabel })],
    };
  }
  const missing = missingOutcomes(naValues);
  const texts = countTexts(column, missing);
  const rest = asNumbersWithout(column, missing);
  if (Object.keys(texts).length === 0) return { column: rest, readings: [] };
  return { column: rest, readings: [readingOfMissing(name === target ? 'true labels' : 'features', texts, name)] };
}

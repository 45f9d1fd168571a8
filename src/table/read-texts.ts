import {
  type ColumnReading,
  type ColumnRole,
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
  /** The column of true labels. */
  readonly target?: string | undefined;
  readonly positiveLabel?: string | undefined;
  /** The column of predictions, and the label that counts as 1 in it. */
  readonly predictions?: { readonly name: string; readonly positiveLabel?: string | undefined } | undefined;
  /** Other columns, such as weights and features. */
  readonly others?: readonly string[] | undefined;
  /** The texts that mean a missing value, instead of `MISSING_TEXTS`. `naValues` also applies to columns of groups. */
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Replaces texts that mean a missing value, and returns warnings about how labels and texts were interpreted. A column
 * becomes numeric if all its remaining texts are numbers. Columns that are not listed in `columns` do not change.
 */
export function readTexts(
  table: Table,
  columns: TextColumns,
): { readonly table: Table; readonly warnings: readonly string[] } {
  const changed = new Map<string, Column>();
  const readings: ColumnReading[] = [];
  const named = [
    ...columns.groups,
    ...[columns.predictions?.name, columns.target].filter((name) => name !== undefined),
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

function readColumn(column: Column, name: string, columns: TextColumns): ReadColumn {
  const { groups, naValues } = columns;
  if (groups.includes(name)) {
    const missing = missingGroups(naValues);
    const labels =
      column.kind === 'numeric'
        ? Object.entries(countTexts(column, missing)).map(([label, count]) => ({ label, count }))
        : countLabels(column).filter(({ label }) => label !== '');
    const read = labels.map((one) => ({ ...one, value: missing.has(one.label) ? -1 : 1 }));
    return { column: withoutTexts(column, missing), readings: readingOfGroups(name, read, naValues) };
  }
  const { role, positiveLabel } = roleOf(name, columns);
  if (positiveLabel !== undefined) {
    const { column: labelled, rule } = readLabels(column, name, positiveLabel, naValues);
    const counts = countLabels(labelled).filter(({ label }) => label !== '');
    const read = counts.map((one) => ({ ...one, value: labelValue(one.label, rule) ?? NaN }));
    return {
      column: withoutTexts(column, missingOutcomes(naValues, positiveLabel)),
      readings: [readingOfLabels(role, read, { name, positiveLabel: rule.positiveLabel })],
    };
  }
  const missing = missingOutcomes(naValues);
  const texts = countTexts(column, missing);
  const rest = asNumbersWithout(column, missing);
  if (Object.keys(texts).length === 0) return { column: rest, readings: [] };
  return { column: rest, readings: [readingOfMissing(role, texts, name)] };
}

function roleOf(
  name: string,
  { target, positiveLabel, predictions }: TextColumns,
): { readonly role: ColumnRole; readonly positiveLabel?: string | undefined } {
  if (name === predictions?.name) return { role: 'predictions', positiveLabel: predictions.positiveLabel };
  return name === target ? { role: 'true labels', positiveLabel } : { role: 'features' };
}

import type { AssociationMeasure } from '../association.ts';

/** A table of texts, which the output format must escape. */
export interface ReportTable {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Notes below the table. */
  readonly notes: readonly string[];
}

/** A section of a report. */
export interface ReportSection {
  readonly title: string;
  /** The question and the method. */
  readonly intro: string;
  readonly tables: readonly ReportTable[];
}

/** The maximum number of rows in a table; the JSON report has all rows. */
const MAX_ROWS = 60;

/** Creates a table, with a note if rows are omitted. */
export function reportTable(
  caption: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = [],
): ReportTable {
  const more = rows.length - MAX_ROWS;
  const omission = more > 0 ? [`${String(more)} more rows are in the JSON report.`] : [];
  return { caption, header, rows: rows.slice(0, MAX_ROWS), notes: [...omission, ...notes] };
}

/** The names of association measures in reports. */
export const MEASURE_NAMES: Readonly<Record<AssociationMeasure, string>> = {
  cramers_v: "Cramér's V",
  eta_squared: 'eta squared',
};

/** Formats a p-value with three decimals, or as a bound below them. */
export function formatPValue(p: number): string {
  if (Number.isNaN(p)) return 'undefined';
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Formats a share as a percentage with one decimal. */
export function formatShare(share: number): string {
  return Number.isNaN(share) ? 'undefined' : `${(100 * share).toFixed(1)}%`;
}

/** Formats the size of an association or an effect, 0 to 1. */
export function formatSize(value: number): string {
  return Number.isNaN(value) ? 'undefined' : value.toFixed(3);
}

/** Formats a statistic or a mean with four digits. */
export function formatStatistic(value: number): string {
  if (Number.isNaN(value)) return 'undefined';
  if (!Number.isFinite(value)) return 'no bound';
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return size >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(4)));
}

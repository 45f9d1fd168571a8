import type { AssociationMeasure } from '../association.ts';

/** A table whose texts are not escaped. The code for each output format must escape them. */
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
  /** A sentence that states the question of the section and the method. */
  readonly intro: string;
  readonly tables: readonly ReportTable[];
}

/** The maximum number of rows in a table. The JSON report contains all rows. */
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

/** A table of texts; whoever prints it escapes them. */
export interface ReportTable {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What to know of the table. */
  readonly notes: readonly string[];
}

/** A part of a report. */
export interface ReportSection {
  readonly title: string;
  /** What was asked of the data, and how. */
  readonly intro: string;
  readonly tables: readonly ReportTable[];
}

/** Rows that a table shows; the JSON report has all. */
const MOST_ROWS = 60;

/** A table that says what it leaves out. */
export function reportTable(
  caption: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = [],
): ReportTable {
  const more = rows.length - MOST_ROWS;
  const omission = more > 0 ? [`${String(more)} more rows are in the JSON report.`] : [];
  return { caption, header, rows: rows.slice(0, MOST_ROWS), notes: [...omission, ...notes] };
}

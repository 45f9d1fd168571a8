/** What a validation is called in its report, since that is not in its result. */
export interface ReportNames {
  readonly source: string;
  /** The one attribute; several have their names in the result. */
  readonly attribute: string;
}

/** Of arrays, which come without a file, and one attribute without a name. */
export const ROWS_NAMES: ReportNames = Object.freeze({ source: 'the rows of the request', attribute: 'sensitive' });

/** The file in which a run leaves its {@link ReportNames}. */
export const NAMES_FILE = 'report-names.json';

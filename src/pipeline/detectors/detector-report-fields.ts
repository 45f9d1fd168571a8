import type { AssociationMeasure } from '../association.ts';
import type { DetectorName, FindingOf } from './detectors.ts';

/** The settings of the analysis, and the columns that it covers. */
export interface DetectorReportMeta {
  /** The version of this package. */
  readonly version: string;
  /** The number of rows of the data. */
  readonly rows: number;
  /** The names of the attributes and intersections. The name of an intersection is its columns joined by `||`. */
  readonly attributes: readonly string[];
  /** The target column, which is not tested; null if no target was named. */
  readonly target: string | null;
  readonly alpha: number;
  readonly proxyThreshold: number;
  /** Columns tested against at least one attribute. */
  readonly columnsTested: readonly string[];
  /** Columns and attributes that were not tested, with the reason. */
  readonly skipped: readonly SkippedColumn[];
  readonly warnings: readonly string[];
}

/** A column or an attribute that was not tested. */
export interface SkippedColumn {
  /** The column; null if the reason applies to all columns. */
  readonly column: string | null;
  /** The attribute; null if the reason applies to all attributes. */
  readonly attribute: string | null;
  readonly reason: string;
}

/** The strength of the association between a column and an attribute. */
export interface AssociationCell {
  readonly attribute: string;
  readonly column: string;
  readonly measure: AssociationMeasure;
  /** The association, from 0 to 1; NaN if undefined. */
  readonly value: number;
  /** The number of rows with a value and a group. */
  readonly n: number;
  /** The reason why the value is undefined; null if it is defined. */
  readonly reason: string | null;
}

/** A summary of the findings. */
export interface DetectorSummary {
  /** The number of attributes whose groups differ significantly from their benchmark. */
  readonly representationFlagged: number;
  /** The number of pairs of an attribute and a column whose values differ between the groups of the attribute. */
  readonly disparitiesFlagged: number;
  /** The number of pairs of an attribute and a column for which missing values are more frequent in some groups. */
  readonly missingnessFlagged: number;
  /** The number of pairs of an attribute and a column that is a proxy for it. */
  readonly proxiesFound: number;
  /** The findings as sentences, most severe finding first. */
  readonly findings: readonly string[];
}

/** The findings of each detector. */
export type DetectorFindings = { readonly [Name in DetectorName]: readonly FindingOf<Name>[] };

/** The findings, their summary and all associations. */
export interface DetectorReportBody extends DetectorFindings {
  readonly summary: DetectorSummary;
  /** The association of every pair of column and attribute, including pairs that are not proxies. */
  readonly associations: readonly AssociationCell[];
}

/** The content of a report. */
export interface DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;
}

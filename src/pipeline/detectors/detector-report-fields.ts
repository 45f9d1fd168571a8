import type { AssociationMeasure } from '../association.ts';
import type { DetectorName, FindingOf } from './detectors.ts';

/** The settings of the analysis and the columns it covers. */
export interface DetectorReportMeta {
  /** The version of this package. */
  readonly version: string;
  /** Rows of the data. */
  readonly rows: number;
  /** Attributes and intersections (their columns joined by `||`). */
  readonly attributes: readonly string[];
  /** The target column, which is not tested; null if none was named. */
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
  /** The column; null for all columns. */
  readonly column: string | null;
  /** The attribute; null for all attributes. */
  readonly attribute: string | null;
  readonly reason: string;
}

/** The strength of the association between a column and an attribute. */
export interface AssociationCell {
  readonly attribute: string;
  readonly column: string;
  readonly measure: AssociationMeasure;
  /** From 0 to 1; NaN if undefined. */
  readonly value: number;
  /** Rows with a value and a group. */
  readonly n: number;
  /** Why the value is undefined; null if it is defined. */
  readonly reason: string | null;
}

/** A summary of the findings. */
export interface DetectorSummary {
  /** Attributes whose groups differ from the benchmark. */
  readonly representationFlagged: number;
  /** Pairs of attribute and column for which the groups differ. */
  readonly disparitiesFlagged: number;
  /** Pairs of attribute and column for which the groups differ in missing values. */
  readonly missingnessFlagged: number;
  /** Pairs of attribute and column that are proxies. */
  readonly proxiesFound: number;
  /** Sentences, the most severe finding first. */
  readonly findings: readonly string[];
}

/** The findings of each detector. */
export type DetectorFindings = { readonly [Name in DetectorName]: readonly FindingOf<Name>[] };

/** The findings, their summary and all associations. */
export interface DetectorReportBody extends DetectorFindings {
  readonly summary: DetectorSummary;
  /** Every pair of column and attribute, proxy or not. */
  readonly associations: readonly AssociationCell[];
}

/** The content of a report. */
export interface DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;
}

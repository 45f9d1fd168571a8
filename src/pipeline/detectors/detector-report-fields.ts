import type { AssociationMeasure } from '../association.ts';
import type { DetectorName, FindingOf } from './detectors.ts';

/** What was looked at, and how. */
export interface DetectorReportMeta {
  /** Of this package. */
  readonly version: string;
  /** Rows of the data. */
  readonly rows: number;
  /** Attributes and intersections (their columns joined by `||`). */
  readonly attributes: readonly string[];
  /** The column to be predicted, which is not tested; null where none was named. */
  readonly target: string | null;
  readonly alpha: number;
  readonly proxyThreshold: number;
  /** Columns tested against at least one attribute. */
  readonly columnsTested: readonly string[];
  /** Columns and attributes that were not tested, and why. */
  readonly skipped: readonly SkippedColumn[];
  readonly warnings: readonly string[];
}

/** Something that was not tested. */
export interface SkippedColumn {
  /** The column; null where it is all columns. */
  readonly column: string | null;
  /** The attribute; null where it is all attributes. */
  readonly attribute: string | null;
  readonly reason: string;
}

/** How strongly a column goes with an attribute. */
export interface AssociationCell {
  readonly attribute: string;
  readonly column: string;
  readonly measure: AssociationMeasure;
  /** From 0 to 1; NaN where undefined. */
  readonly value: number;
  /** Rows with a value and a group. */
  readonly n: number;
  /** Why the value is undefined; null where it is not. */
  readonly reason: string | null;
}

/** The findings in short. */
export interface DetectorSummary {
  /** Attributes whose groups do not occur as in the benchmark. */
  readonly representationFlagged: number;
  /** Pairs of attribute and column that differ. */
  readonly disparitiesFlagged: number;
  /** Pairs of attribute and column whose missing values differ. */
  readonly missingnessFlagged: number;
  /** Pairs of attribute and column that are proxies. */
  readonly proxiesFound: number;
  /** In words, the worst first. */
  readonly findings: readonly string[];
}

/** What the detectors found, by detector. */
export type DetectorFindings = { readonly [Name in DetectorName]: readonly FindingOf<Name>[] };

/** The findings, and what stands beside them. */
export interface DetectorReportBody extends DetectorFindings {
  readonly summary: DetectorSummary;
  /** Every pair of column and attribute, proxy or not. */
  readonly associations: readonly AssociationCell[];
}

/** What a report holds. */
export interface DetectorReportFields {
  readonly meta: DetectorReportMeta;
  readonly body: DetectorReportBody;
}

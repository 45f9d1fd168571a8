import type { AnalysedAttribute } from './relation.ts';
import type { ReportSection } from './report-numbers.ts';

/** The limits that findings are judged by. */
export interface DetectorSettings {
  /** A p-value of at most this counts as a difference, in (0, 1). */
  readonly alpha: number;
  /** An association of at least this makes a column a proxy, in [0, 1]. */
  readonly proxyThreshold: number;
}

/** What every finding has. */
export interface DetectorFinding {
  /** The attribute, or the columns of an intersection joined by `||`. */
  readonly attribute: string;
}

/** A finding in words. */
export interface Sentence {
  readonly text: string;
  /** The size of what was found, 0 to 1; the worst come first. */
  readonly severity: number;
}

/**
 * One way of looking at data by groups. A detector is pure: it is given an
 * attribute with everything counted, and knows nothing of files or time.
 */
export interface Detector<Finding extends DetectorFinding = DetectorFinding> {
  /** Its part of the report's body. */
  readonly name: string;
  /** What it finds about one attribute; never throws for data that have been read. */
  detect(attribute: AnalysedAttribute, settings: DetectorSettings): Finding[];
  /**
   * Adjusts the findings of all attributes to each other; absent where each
   * attribute is a family of tests of its own.
   */
  adjust?(findings: readonly Finding[], settings: DetectorSettings): Finding[];
  /** The findings about one attribute that a reader should hear of, in words that claim no more than was tested. */
  summarise(findings: readonly Finding[], settings: DetectorSettings): Sentence[];
  /** All findings as a section of a report. */
  section(findings: readonly Finding[], settings: DetectorSettings): ReportSection;
}

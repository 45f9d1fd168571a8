import { benjaminiHochberg } from '../../stats/multipletests/adjust-p-values.ts';
import type { AnalysedAttribute } from './relation.ts';
import type { ReportSection } from './report-numbers.ts';

/** The limits that determine what counts as a finding. */
export interface DetectorSettings {
  /** The significance level, in (0, 1). A finding is flagged if its adjusted p-value is at most this level. */
  readonly alpha: number;
  /** A column counts as a proxy if its association with an attribute is at least this value, in [0, 1]. */
  readonly proxyThreshold: number;
}

/** Fields shared by all findings. */
export interface DetectorFinding {
  /** The attribute, or the columns of an intersection joined by `||`. */
  readonly attribute: string;
}

/** A finding of a statistical test, with a p-value that is adjusted for the number of tests. */
export interface TestFinding extends DetectorFinding {
  /** The test statistic; NaN if the test is undefined. */
  readonly statistic: number;
  readonly degrees: readonly number[];
  readonly pValue: number;
  /** The p-value, adjusted for the number of tests in the detector's family of tests (Benjamini and Hochberg). */
  readonly adjustedPValue: number;
  /** Whether the adjusted p-value is at most alpha. */
  readonly flagged: boolean;
  readonly notes: readonly string[];
}

/** Adjusts the p-values of all findings as one family, and flags findings by the adjusted p-values. */
export function judge<Finding extends TestFinding>(findings: readonly Finding[], alpha: number): Finding[] {
  const [adjusted, order] = benjaminiHochberg(findings.map(({ pValue }) => pValue));
  const judged = [...findings];
  order.forEach((index, rank) => {
    const adjustedPValue = adjusted[rank] as number;
    judged[index] = { ...(findings[index] as Finding), adjustedPValue, flagged: adjustedPValue <= alpha };
  });
  return judged;
}

/** A finding, described in a sentence. */
export interface Sentence {
  readonly text: string;
  /** The severity of the finding, from 0 to 1. The most severe findings come first. */
  readonly severity: number;
}

/**
 * A detector performs one kind of analysis of data by group. A detector does not access files or the time. Its result
 * depends only on its input, which is an attribute with all counts.
 */
export interface Detector<Finding extends DetectorFinding = DetectorFinding> {
  /** The key of the detector's findings in the body of the report. */
  readonly name: string;
  /** Returns the findings about one attribute. This method never throws for data that were read without an error. */
  detect(attribute: AnalysedAttribute, settings: DetectorSettings): Finding[];
  /**
   * Adjusts the p-values of the findings for all attributes together. The method is absent if p-values are adjusted
   * separately for each attribute.
   */
  adjust?(findings: readonly Finding[], settings: DetectorSettings): Finding[];
  /** Summarises the findings about one attribute in sentences. The sentences state only what a test has shown. */
  summarise(findings: readonly Finding[], settings: DetectorSettings): Sentence[];
  /** Returns all findings as a section of a report. */
  section(findings: readonly Finding[], settings: DetectorSettings): ReportSection;
}

import { benjaminiHochberg } from '../../stats/multipletests/adjust-p-values.ts';
import type { AnalysedAttribute } from './relation.ts';
import type { ReportSection } from './report-numbers.ts';

/** The limits that decide what counts as a finding. */
export interface DetectorSettings {
  /** The significance level, in (0, 1). A finding is flagged if its adjusted p-value is at most this. */
  readonly alpha: number;
  /** The smallest association of a proxy, in [0, 1]. */
  readonly proxyThreshold: number;
}

/** Fields shared by all findings. */
export interface DetectorFinding {
  /** The attribute, or the columns of an intersection joined by `||`. */
  readonly attribute: string;
}

/** A finding of a statistical test, with its p-value adjusted over the detector's family of tests. */
export interface TestFinding extends DetectorFinding {
  /** NaN if the test is undefined. */
  readonly statistic: number;
  readonly degrees: readonly number[];
  readonly pValue: number;
  /** By Benjamini and Hochberg, over the detector's family of tests. */
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

/** A finding as a sentence. */
export interface Sentence {
  readonly text: string;
  /** The size of the finding, 0 to 1. The most severe findings come first. */
  readonly severity: number;
}

/**
 * A detector analyses data by groups in one way. It is a pure function: its input is an attribute with all counts,
 * and it does not access files or the time.
 */
export interface Detector<Finding extends DetectorFinding = DetectorFinding> {
  /** The name of the detector's findings in the report's body. */
  readonly name: string;
  /** Returns the findings about one attribute; never throws for data that have been read. */
  detect(attribute: AnalysedAttribute, settings: DetectorSettings): Finding[];
  /**
   * Adjusts the findings of all attributes together; absent if the tests of each attribute are a separate family.
   */
  adjust?(findings: readonly Finding[], settings: DetectorSettings): Finding[];
  /** Summarises the findings about one attribute in sentences that claim no more than was tested. */
  summarise(findings: readonly Finding[], settings: DetectorSettings): Sentence[];
  /** Returns all findings as a section of a report. */
  section(findings: readonly Finding[], settings: DetectorSettings): ReportSection;
}

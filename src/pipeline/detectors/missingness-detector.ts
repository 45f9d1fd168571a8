import { formatCount, formatNumber, formatStatistic, pValueText, pValueWords } from '../../internal/format.ts';
import { type Contrast, contrastPhrase } from './contrast.ts';
import { type Detector, judge, type TestFinding } from './detector.ts';
import { expectedNotes } from './relation.ts';
import { reportTable } from './report-numbers.ts';

/**
 * The finding about the missing values of a column in each group. The test is Pearson's chi-square test of independence
 * of group and missingness.
 */
export interface MissingnessFinding extends TestFinding {
  readonly column: string;
  /** The number of rows with a group but without a value. */
  readonly nMissing: number;
  /** The effect size: bias-corrected Cramér's V of group and missingness. */
  readonly effectSize: number;
  readonly contrast: Contrast | null;
}

/** Tests whether values are missing more often in some groups, by Pearson's chi-square. */
export const missingnessDetector: Detector<MissingnessFinding> = {
  name: 'missingness',

  detect({ name, relations }, { alpha }) {
    const missing = relations.flatMap(({ column, missing: own }) =>
      own === null || Number.isNaN(own.result.pValue) ? [] : [{ column, ...own }],
    );
    const findings = missing.map(({ column, n, result, association, contrast }): MissingnessFinding => ({
      attribute: name,
      column,
      nMissing: n,
      statistic: result.statistic,
      degrees: result.degrees,
      pValue: result.pValue,
      adjustedPValue: NaN,
      effectSize: association,
      flagged: false,
      contrast,
      notes: expectedNotes(result),
    }));
    return judge(findings, alpha).sort((a, b) => a.pValue - b.pValue || b.effectSize - a.effectSize);
  },

  summarise(findings) {
    return findings
      .filter(({ flagged }) => flagged)
      .map(({ attribute, column, adjustedPValue, effectSize, contrast }) => ({
        severity: effectSize,
        text: `Values of '${column}' are missing more often in some groups of ${attribute} than in others (${pValueWords(adjustedPValue)})${contrast === null ? '' : `: ${contrastPhrase(contrast)}`}.`,
      }));
  },

  section(findings) {
    const rows = findings.map((finding) => [
      finding.attribute,
      finding.column,
      formatCount(finding.nMissing),
      formatStatistic(finding.statistic),
      pValueText(finding.adjustedPValue),
      formatNumber(finding.effectSize, 3),
      finding.flagged ? 'yes' : 'no',
      [...(finding.contrast === null ? [] : [contrastPhrase(finding.contrast)]), ...finding.notes].join('; '),
    ]);
    const header = ['attribute', 'column', 'missing', 'chi-square', 'adjusted p', "Cramér's V", 'differs', 'where'];
    return {
      title: 'Missing values',
      intro: "Tests whether values are missing more often in some groups, by Pearson's chi-square.",
      tables: rows.length === 0 ? [] : [reportTable('Columns with missing values', header, rows)],
    };
  },
};

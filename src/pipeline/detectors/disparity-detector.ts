import { formatCount, formatNumber, formatStatistic, pValueText, pValueWords } from '../../internal/format.ts';
import type { AssociationMeasure } from '../association.ts';
import { type Contrast, contrastPhrase } from './contrast.ts';
import { type Detector, judge, type TestFinding } from './detector.ts';
import { MEASURE_NAMES, reportTable } from './report-numbers.ts';

/** The finding about how the values of a column differ between groups. */
export interface DisparityFinding extends TestFinding {
  readonly column: string;
  /** The number of rows with a value and a group. */
  readonly n: number;
  /** The test: Pearson's chi-square test of independence (for text), or one-way analysis of variance (for numbers). */
  readonly test: 'chi_square' | 'anova';
  readonly effectSizeName: AssociationMeasure;
  /** The effect size, from 0 to 1. */
  readonly effectSize: number;
  /** The two groups of at least 30 rows that differ most. */
  readonly contrast: Contrast | null;
  /** The reason why the test is undefined; null if it is defined. */
  readonly reason: string | null;
}

/**
 * Tests every column for differences between groups: text by Pearson's chi-square, numbers by one-way analysis of
 * variance. P-values are adjusted over the columns of one attribute. The expected share of false discoveries, among the
 * columns that are flagged for an attribute, is therefore at most alpha.
 */
export const disparityDetector: Detector<DisparityFinding> = {
  name: 'disparities',

  detect({ name, relations }, { alpha }) {
    const findings = relations.map(
      ({ column, n, test, result, measure, association, contrast, reason, ...own }): DisparityFinding => ({
        attribute: name,
        column,
        n,
        test,
        statistic: result.statistic,
        degrees: result.degrees,
        pValue: result.pValue,
        adjustedPValue: NaN,
        effectSizeName: measure,
        effectSize: association,
        flagged: false,
        contrast,
        reason,
        notes: [...own.notes, ...own.associationNotes],
      }),
    );
    return judge(findings, alpha).sort(byPValue);
  },

  summarise(findings, { alpha }) {
    const [first] = findings;
    const flagged = findings.filter((finding) => finding.flagged);
    const [largest] = [...flagged].sort((a, b) => b.effectSize - a.effectSize);
    if (first === undefined || largest === undefined) return [];
    const tested = findings.filter(({ reason }) => reason === null).length;
    const detail = largest.contrast === null ? '' : `: ${contrastPhrase(largest.contrast)}`;
    const text = `${String(flagged.length)} of ${String(tested)} columns tested ${flagged.length === 1 ? 'differs' : 'differ'} between groups of ${first.attribute} at ${String(alpha)}; the largest difference is in '${largest.column}' (${MEASURE_NAMES[largest.effectSizeName]} ${formatNumber(largest.effectSize, 3)}, ${pValueWords(largest.adjustedPValue)})${detail}.`;
    return [{ severity: largest.effectSize, text }];
  },

  section(findings) {
    const rows = findings.map((finding) => [
      finding.attribute,
      finding.column,
      formatCount(finding.n),
      finding.test === 'anova' ? 'F' : 'chi-square',
      formatStatistic(finding.statistic),
      finding.degrees.map(formatCount).join('; '),
      pValueText(finding.adjustedPValue),
      `${MEASURE_NAMES[finding.effectSizeName]} ${formatNumber(finding.effectSize, 3)}`,
      finding.flagged ? 'yes' : 'no',
      [
        ...(finding.reason === null ? [] : [`undefined: ${finding.reason}`]),
        ...(finding.contrast === null ? [] : [contrastPhrase(finding.contrast)]),
        ...finding.notes,
      ].join('; '),
    ]);
    const header = [
      'attribute',
      'column',
      'rows',
      'test',
      'statistic',
      'df',
      'adjusted p',
      'effect',
      'differs',
      'where',
    ];
    return {
      title: 'Disparities',
      intro:
        "Tests whether columns differ between groups: Pearson's chi-square for text, one-way analysis of variance for numbers; p-values adjusted over the columns of each attribute by Benjamini and Hochberg.",
      tables: rows.length === 0 ? [] : [reportTable('Columns by attribute', header, rows)],
    };
  },
};

/**
 * Compares findings by p-value. If p-values are equal, for example 0 in large data, the larger effect comes first.
 * Undefined p-values come last.
 */
function byPValue(a: DisparityFinding, b: DisparityFinding): number {
  if (Number.isNaN(a.pValue) || Number.isNaN(b.pValue))
    return Number(Number.isNaN(a.pValue)) - Number(Number.isNaN(b.pValue));
  return a.pValue - b.pValue || (b.effectSize || 0) - (a.effectSize || 0);
}

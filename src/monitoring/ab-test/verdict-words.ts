import { NOTHING, pValueWords, rangeText, tableNumber, twoDigits, withPlus } from '../../internal/format.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { benjaminiHochberg } from '../../stats/multipletests/adjust-p-values.ts';
import type { ABComparison, ABFinding, ABInterval, ABRow } from './ab-test-fields.ts';

/** Formats a number for a table. Returns a dash if the number is null. */
export function numberWords(value: number | null): string {
  return value === null ? NOTHING : tableNumber(value);
}

/** Formats a change with its sign. */
export function changeWords(value: number | null): string {
  return value === null ? NOTHING : withPlus(value, tableNumber);
}

/** Formats an interval of changes. */
export function intervalWords(interval: ABInterval | null): string {
  return interval === null ? NOTHING : rangeText(interval, changeWords);
}

/** All findings, in order of precedence: `worse` comes first, and the inconclusive finding comes last. */
const ORDER: readonly ABFinding[] = ['worse', 'changed', 'better', 'no_change_shown', 'cannot_tell'];

/** Returns a measure's name for use in a sentence: "selection rate". */
export function measureWords(measure: string): string {
  return inWords(measure).toLowerCase();
}

/**
 * Returns a function that determines the finding and the verdict for a row of a fairness metric, at the significance
 * level alpha.
 */
export function judgeFairness(alpha: number): JudgeRow {
  return (row) => {
    const finding = findingOf(row, alpha);
    return { finding, verdict: FAIRNESS_WORDS[finding](row) };
  };
}

/** Returns a function that determines whether the effect on a business metric is the same for both groups. */
export function judgeBusiness(alpha: number): JudgeRow {
  return (row) => {
    const isShown = (row.adjustedPValue ?? 1) <= alpha;
    const finding = findingOf(row, alpha);
    const verdict = isShown
      ? `the effect on '${row.group}' is ${separate(row.fairnessChange)} ${(row.fairnessChange ?? 0) > 0 ? 'above' : 'below'} that on '${row.reference}' (adjusted ${pValueWords(row.adjustedPValue ?? 1)})`
      : `no difference between the effects shown (adjusted ${pValueWords(row.adjustedPValue ?? 1)}); ${detectableWords(row.detectable)}`;
    return { finding, verdict };
  };
}

function findingOf({ adjustedPValue, sizeChange }: ABRow, alpha: number): ABFinding {
  if ((adjustedPValue ?? 1) > alpha) return 'no_change_shown';
  if ((sizeChange.adjustedPValue ?? 1) > alpha) return 'changed';
  return (sizeChange.value ?? 0) > 0 ? 'worse' : 'better';
}

const FAIRNESS_WORDS: Readonly<Record<ABFinding, (row: ABRow) => string>> = {
  worse: (row) => `fairness got worse: ${moved(row)}`,
  better: (row) => `fairness got better: ${moved(row)}`,
  changed: (row) =>
    `the disparity changed, but a change in its size is not shown: '${row.group}' minus '${row.reference}' in ${measureWords(row.measure)} went from ${signed(row.disparity.control)} to ${signed(row.disparity.treatment)} (adjusted ${pValueWords(row.adjustedPValue ?? 1)}, of its size ${pValueWords(row.sizeChange.adjustedPValue ?? 1)})`,
  no_change_shown: (row) =>
    `no change shown (adjusted ${pValueWords(row.adjustedPValue ?? 1)}); ${detectableWords(row.detectable)}`,
  cannot_tell: (row) => row.verdict,
};

function moved({ group, reference, measure, disparity, sizeChange }: ABRow): string {
  return `'${group}' and '${reference}' differ in ${measureWords(measure)} by ${separate(disparity.treatment)} under treatment and by ${separate(disparity.control)} under control (adjusted ${pValueWords(sizeChange.adjustedPValue ?? 1)})`;
}

function detectableWords(value: number | null): string {
  return `minimum detectable difference ${twoDigits(value ?? NaN)} (80% power, unadjusted)`;
}

function separate(value: number | null): string {
  return twoDigits(Math.abs(value ?? NaN));
}

function signed(value: number | null): string {
  return withPlus(value ?? NaN, twoDigits);
}

/**
 * Returns the overall finding, which is the worst finding of any row. The verdict states the number of rows with each
 * finding.
 */
export function overallVerdict(comparisons: readonly ABComparison[]): {
  readonly finding: ABFinding;
  readonly verdict: string;
} {
  const rows = comparisons.flatMap((comparison) => comparison.rows);
  const finding = ORDER.find((one) => rows.some((row) => row.finding === one)) ?? 'cannot_tell';
  if (rows.length === 0) return { finding, verdict: 'inconclusive: no attribute has two groups' };
  const counts = ORDER.map((one) => [one, rows.filter((row) => row.finding === one).length] as const);
  const parts = counts.filter(([, count]) => count > 0).map(([one, count]) => COUNT_WORDS[one](count, rows.length));
  const smallest = Math.max(
    ...rows.flatMap(({ finding: one, detectable }) => (one === 'no_change_shown' ? (detectable ?? []) : [])),
  );
  const limit = finding === 'no_change_shown' ? `. The largest ${detectableWords(smallest)}` : '';
  return { finding, verdict: `${parts.join('; ')}${limit}` };
}

const COUNT_WORDS: Readonly<Record<ABFinding, (count: number, all: number) => string>> = {
  worse: (count, all) => `fairness got worse in ${ofAll(count, all)}`,
  changed: (count, all) => `the disparity changed, but a change in its size is not shown, in ${ofAll(count, all)}`,
  better: (count, all) => `fairness got better in ${ofAll(count, all)}`,
  no_change_shown: (count, all) => `no change shown in ${ofAll(count, all)}`,
  cannot_tell: (count, all) => `inconclusive in ${ofAll(count, all)}`,
};

function ofAll(count: number, all: number): string {
  return all === 1 ? 'the one comparison made' : `${String(count)} of ${String(all)} comparisons`;
}

/** Determines the finding and the verdict of a row with adjusted p-values. */
type JudgeRow = (row: ABRow) => Pick<ABRow, 'finding' | 'verdict'>;

/**
 * Adjusts the p-values of all rows together (Benjamini and Hochberg). The tests of signed changes form one family, and
 * the tests of changes in size form another family. Then determines the finding and the verdict of every row that could
 * be tested.
 *
 * In the sequential mode, each always-valid p-value is the reciprocal of an e-value. The adjustment of such p-values is
 * the e-BH procedure. The e-BH procedure controls the false discovery rate at any stopping time and under any
 * dependence (Wang and Ramdas 2022).
 */
export function adjustRows(comparisons: readonly ABComparison[], judge: JudgeRow): ABComparison[] {
  const rows = comparisons.flatMap((comparison) => comparison.rows);
  const adjusted = adjust(rows.map(({ pValue }) => pValue));
  const sizes = adjust(rows.map(({ sizeChange }) => sizeChange.pValue));
  let index = 0;
  return comparisons.map((comparison) =>
    Object.freeze({
      ...comparison,
      rows: Object.freeze(
        comparison.rows.map((row): ABRow => {
          const own = index++;
          const [adjustedPValue, size] = [adjusted[own] ?? null, sizes[own] ?? null];
          const sizeChange = Object.freeze({ ...row.sizeChange, adjustedPValue: size });
          const known = { ...row, adjustedPValue, sizeChange };
          return Object.freeze(adjustedPValue === null ? known : { ...known, ...judge(known) });
        }),
      ),
    }),
  );
}

/** Returns the adjusted p-values in the order of the given p-values. */
function adjust(pValues: readonly (number | null)[]): (number | null)[] {
  const [ascending, order] = benjaminiHochberg(pValues.map((p) => p ?? NaN));
  const adjusted = pValues.map((): number | null => null);
  order.forEach((index, rank) => {
    const p = ascending[rank] as number;
    adjusted[index] = Number.isNaN(p) ? null : p;
  });
  return adjusted;
}

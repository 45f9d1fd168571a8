import { inWords } from '../../metrics/metric-markdown.ts';
import type { ABComparison, ABFinding, ABRow } from './ab-test-fields.ts';
import type { JudgeRow } from './adjust-rows.ts';

/** From worst to best to unknown. */
const ORDER: readonly ABFinding[] = ['worse', 'changed', 'better', 'no_change_shown', 'cannot_tell'];

/** A number with two digits that count, as in "0.14". */
export function twoDigits(value: number): string {
  if (!Number.isFinite(value)) return 'undefined';
  const size = Math.abs(value);
  return size >= 1e-4 && size < 10 ? value.toPrecision(2) : String(Number(value.toPrecision(2)));
}

/** A p-value; below what most tables print, as a bound. */
export function pValueWords(p: number): string {
  return p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
}

/** A measure inside a sentence: "selection rate". */
export function measureWords(measure: string): string {
  return inWords(measure).toLowerCase();
}

/** Judges rows of fairness metrics at an alpha. */
export function judgeFairness(alpha: number): JudgeRow {
  return (row) => {
    const finding = findingOf(row, alpha);
    return { finding, verdict: FAIRNESS_WORDS[finding](row) };
  };
}

/** Judges rows of business metrics: whether the effect is the same for both groups. */
export function judgeBusiness(alpha: number): JudgeRow {
  return (row) => {
    const isShown = (row.adjustedPValue ?? 1) <= alpha;
    const finding = findingOf(row, alpha);
    const verdict = isShown
      ? `the effect on '${row.group}' is ${apart(row.fairnessChange)} ${(row.fairnessChange ?? 0) > 0 ? 'above' : 'below'} that on '${row.reference}' (adjusted ${pValueWords(row.adjustedPValue ?? 1)})`
      : `no difference between the effects shown (adjusted ${pValueWords(row.adjustedPValue ?? 1)}); this n could have shown ${twoDigits(row.detectable ?? NaN)} at best`;
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
    `the disparity changed, and whether it grew is not shown: '${row.group}' minus '${row.reference}' in ${measureWords(row.measure)} went from ${signed(row.disparity.control)} to ${signed(row.disparity.treatment)} (adjusted ${pValueWords(row.adjustedPValue ?? 1)}, of its size ${pValueWords(row.sizeChange.adjustedPValue ?? 1)})`,
  no_change_shown: (row) =>
    `no change shown (adjusted ${pValueWords(row.adjustedPValue ?? 1)}); this n could have shown ${twoDigits(row.detectable ?? NaN)} at best`,
  cannot_tell: (row) => row.verdict,
};

function moved({ group, reference, measure, disparity, sizeChange }: ABRow): string {
  return `'${group}' and '${reference}' are ${apart(disparity.treatment)} apart in ${measureWords(measure)}, after ${apart(disparity.control)} under control (adjusted ${pValueWords(sizeChange.adjustedPValue ?? 1)})`;
}

function apart(value: number | null): string {
  return twoDigits(Math.abs(value ?? NaN));
}

function signed(value: number | null): string {
  return `${(value ?? 0) > 0 ? '+' : ''}${twoDigits(value ?? NaN)}`;
}

/** What was found over all rows: the worst of them, and how many there are of each. */
export function overallVerdict(comparisons: readonly ABComparison[]): {
  readonly finding: ABFinding;
  readonly verdict: string;
} {
  const rows = comparisons.flatMap((comparison) => comparison.rows);
  const finding = ORDER.find((one) => rows.some((row) => row.finding === one)) ?? 'cannot_tell';
  if (rows.length === 0) return { finding, verdict: 'cannot tell: no attribute has two groups' };
  const counts = ORDER.map((one) => [one, rows.filter((row) => row.finding === one).length] as const);
  const parts = counts.filter(([, count]) => count > 0).map(([one, count]) => COUNT_WORDS[one](count, rows.length));
  const smallest = Math.max(
    ...rows.flatMap(({ finding: one, detectable }) => (one === 'no_change_shown' ? (detectable ?? []) : [])),
  );
  const limit =
    finding === 'no_change_shown' ? `. This n could have shown ${twoDigits(smallest)} at best where it sees least` : '';
  return { finding, verdict: `${parts.join('; ')}${limit}` };
}

const COUNT_WORDS: Readonly<Record<ABFinding, (count: number, all: number) => string>> = {
  worse: (count, all) => `fairness got worse in ${ofAll(count, all)}`,
  changed: (count, all) => `the disparity changed, without its growth or decline shown, in ${ofAll(count, all)}`,
  better: (count, all) => `fairness got better in ${ofAll(count, all)}`,
  no_change_shown: (count, all) => `no change shown in ${ofAll(count, all)}`,
  cannot_tell: (count, all) => `cannot tell in ${ofAll(count, all)}`,
};

function ofAll(count: number, all: number): string {
  return all === 1 ? 'the one comparison made' : `${String(count)} of ${String(all)} comparisons`;
}

import { benjaminiHochberg } from '../../stats/multipletests/benjamini-hochberg.ts';
import type { ABComparison, ABRow } from './ab-test-fields.ts';

/** Turns a row whose p-values are adjusted into a finding, with its words. */
export type JudgeRow = (row: ABRow) => Pick<ABRow, 'finding' | 'verdict'>;

/**
 * Adjusts the p-values of all rows together (Benjamini and Hochberg), those of
 * signed changes and those of changes of size each as one family, then judges
 * every row that could be tested.
 *
 * On the always-valid p-values of the sequential mode, which are one over an
 * e-value, this is the e-BH procedure: it keeps its rate at any stopping time
 * and under any dependence (Wang and Ramdas 2022).
 */
export function adjustRows(comparisons: readonly ABComparison[], judge: JudgeRow): ABComparison[] {
  const rows = comparisons.flatMap((comparison) => comparison.rows);
  const adjusted = adjust(rows.map(({ pValue }) => pValue));
  const sizes = adjust(rows.map(({ sizeChange }) => sizeChange.pValue));
  let place = 0;
  return comparisons.map((comparison) =>
    Object.freeze({
      ...comparison,
      rows: Object.freeze(
        comparison.rows.map((row): ABRow => {
          const own = place++;
          const [adjustedPValue, size] = [adjusted[own] ?? null, sizes[own] ?? null];
          const sizeChange = Object.freeze({ ...row.sizeChange, adjustedPValue: size });
          const known = { ...row, adjustedPValue, sizeChange };
          return Object.freeze(adjustedPValue === null ? known : { ...known, ...judge(known) });
        }),
      ),
    }),
  );
}

/** Adjusted values at the places of the given ones. */
function adjust(pValues: readonly (number | null)[]): (number | null)[] {
  const [ascending, order] = benjaminiHochberg(pValues.map((p) => p ?? NaN));
  const adjusted = pValues.map((): number | null => null);
  order.forEach((place, rank) => {
    const p = ascending[rank] as number;
    adjusted[place] = Number.isNaN(p) ? null : p;
  });
  return adjusted;
}

import fc from 'fast-check';

import { MEASURE_NAMES, type MetricRows, NAMED_METRICS } from '../../src/metrics/index.ts';

/** One row with all values that any metric reads; null is missing. */
export interface Row {
  readonly label: 0 | 1 | null;
  readonly decision: 0 | 1 | null;
  readonly target: number | null;
  readonly guess: number | null;
  readonly score: number | null;
  /** The values of the sensitive attributes. */
  readonly groups: readonly (string | null)[];
  readonly weight: number | null;
}

/** A complete row in one of three groups, with small integers. */
const completeRow: fc.Arbitrary<Row> = fc.record({
  label: fc.constantFrom(0, 1),
  decision: fc.constantFrom(0, 1),
  target: fc.integer({ min: -3, max: 9 }),
  guess: fc.integer({ min: -3, max: 9 }),
  score: fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8),
  groups: fc.constantFrom('a', 'b', 'c').map((group) => [group]),
  weight: fc.integer({ min: 1, max: 4 }),
});

/** Complete rows. */
export const completeRows: fc.Arbitrary<Row[]> = fc.array(completeRow, { minLength: 1, maxLength: 50 });

/** Rows, some of them incomplete. */
export const gappyRows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.tuple(completeRow, fc.constantFrom('label', 'decision', 'target', 'guess', 'score', 'weight', 'group', 'none')),
    { minLength: 1, maxLength: 50 },
  )
  .map((drawn) =>
    drawn.map(([row, lacks]) => {
      if (lacks === 'none') return row;
      return lacks === 'group' ? { ...row, groups: [null] } : { ...row, [lacks]: null };
    }),
  )
  // At least one row of every kind remains.
  .map((rows) => [...rows, ...ONE_OF_EACH]);

const plain = { target: 2, guess: 1, score: 0.5, weight: 1 } as const;
const ONE_OF_EACH: readonly Row[] = [
  { ...plain, label: 1, decision: 1, groups: ['a'] },
  { ...plain, label: 0, decision: 0, groups: ['b'] },
];

/** The parts of a metric's name. */
export type Kind = 'decisions' | 'numbers' | 'scores';

const NUMBERS =
  /^(mean_(absolute|squared)_error|root_mean_squared_error|mean_error|mean_prediction|r2|mae_parity|rmse_parity)_/;
const SCORES =
  /^(roc_auc|expected_calibration_error|calibration|log_loss|brier_score|generalized_\w+)_(difference|ratio)$/;

/** The kind of values that a metric reads. */
export function kindOf(metric: string): Kind {
  if (NUMBERS.test(metric)) return 'numbers';
  return SCORES.test(metric) ? 'scores' : 'decisions';
}

/** All named metrics. */
export const ALL_METRICS: readonly string[] = [
  ...new Set([...NAMED_METRICS, ...MEASURE_NAMES.flatMap((name) => [`${name}_difference`, `${name}_ratio`])]),
];

/** A metric by name. */
export const anyMetric: fc.Arbitrary<string> = fc.constantFrom(...ALL_METRICS);

/** Returns one column of rows. */
export function pick<Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][] {
  return rows.map((row) => row[name]);
}

/** Converts rows to the columns that a metric takes. */
export function columnsOf(metric: string, rows: readonly Row[]): MetricRows {
  const isNumeric = kindOf(metric) === 'numbers';
  const width = rows[0]?.groups.length ?? 1;
  const attribute = (index: number): (string | null)[] => rows.map(({ groups }) => groups[index] ?? null);
  const sensitive =
    width === 1
      ? attribute(0)
      : Object.fromEntries(Array.from({ length: width }, (_, index) => [`attribute${index}`, attribute(index)]));
  return {
    yTrue: pick(rows, isNumeric ? 'target' : 'label'),
    yPred: pick(rows, isNumeric ? 'guess' : 'decision'),
    yScore: pick(rows, 'score'),
    sensitive,
  };
}

/** Converts rows to columns, with weights. */
export function weightedColumnsOf(metric: string, rows: readonly Row[]): MetricRows {
  return { ...columnsOf(metric, rows), sampleWeight: pick(rows, 'weight') };
}

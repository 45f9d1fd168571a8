import type { ArmRows } from './read-arms.ts';
import { type ABMeasure, needsTruth } from './fairness-measures.ts';

/** The reason why a row is excluded. */
export type RowProblem = 'outcome' | 'label' | 'weight';

/** The values of every row for one measure. */
export interface MeasuredRows {
  readonly measure: ABMeasure;
  /** [rows]; NaN if the row is excluded because a value is missing, or if the row is not in the denominator. */
  readonly values: Float64Array;
  /** [rows]: 0, or 1 + the index of the {@link RowProblem} that excludes the row. */
  readonly faults: Uint8Array;
}

/** The reasons in order. A row with several reasons is counted under the first one. */
export const ROW_PROBLEMS: readonly RowProblem[] = ['outcome', 'label', 'weight'];

const [OUTCOME, LABEL, WEIGHT] = [1, 2, 3] as const;

/** Returns the values of one measure, row by row. */
export function measureRows(rows: ArmRows, measure: ABMeasure, outcome: Float64Array): MeasuredRows {
  const { nRows, truth, weights } = rows;
  const usesTruth = truth !== undefined && needsTruth(measure);
  const values = new Float64Array(nRows).fill(NaN);
  const problems = new Uint8Array(nRows);
  for (let row = 0; row < nRows; row++) {
    const given = outcome[row] as number;
    const label = usesTruth ? (truth[row] as number) : 0;
    if (Number.isNaN(given)) problems[row] = OUTCOME;
    else if (Number.isNaN(label)) problems[row] = LABEL;
    else if (weights !== undefined && Number.isNaN(weights[row])) problems[row] = WEIGHT;
    else if (countsIn(measure, label)) values[row] = valueOf(measure, given, label);
  }
  return { measure, values, faults: problems };
}

function countsIn({ rows }: ABMeasure, label: number): boolean {
  return rows === 'all' || label === Number(rows === 'positives');
}

function valueOf({ of }: ABMeasure, given: number, label: number): number {
  if (of === 'correct') return Number(given === label);
  return of === 'absolute_error' ? Math.abs(given - label) : given;
}

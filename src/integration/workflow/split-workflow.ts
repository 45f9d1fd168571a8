import { DataValidationError } from '../../exceptions/index.ts';
import { stratifiedSplit } from '../../training/data/row-splits.ts';
import type { WorkflowSplit } from '../workflow-result.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** The number of quantile bins of a regression target. The split is stratified by these bins. */
const PARTS = 5;

/** The partition of a workflow, as indices of its rows. */
export interface RowSplit {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

/**
 * Splits rows into training rows and held-out rows, stratified by target and sensitive groups; numeric targets are
 * stratified by fifths.
 * @throws {DataValidationError} if either part would be empty
 */
export function splitWorkflow(
  { y, groups, task }: WorkflowRows,
  { trainSize, randomState }: FilledWorkflowOptions,
): RowSplit {
  const parts = task === 'binary' ? Int32Array.from(y) : partsOf(Float64Array.from(y));
  const strata = groups.codes.map((code, row) => PARTS * code + (parts[row] as number));
  const [train, test] = stratifiedSplit(strata, [trainSize, 1 - trainSize], randomState) as [Int32Array, Int32Array];
  if (train.length > 0 && test.length > 0) return { train, test };
  const none = train.length === 0 ? 'training' : 'held-out';
  throw new DataValidationError(
    `A training share of ${String(trainSize)} of ${String(y.length)} rows leaves no ${none} rows.`,
    {
      code: 'too-few-rows',
      context: { rows: y.length, trainSize },
      suggestion: 'Use a share closer to 0.8 (trainSize), or more rows.',
    },
  );
}

/** Returns the split as row indices in the input data. */
export function describeSplit(
  { train, test }: RowSplit,
  { positions: indices, nDropped }: WorkflowRows,
  { trainSize, randomState }: FilledWorkflowOptions,
): WorkflowSplit {
  const given = (part: Int32Array): Int32Array => part.map((row) => indices[row] as number);
  return Object.freeze({ train: given(train), test: given(test), trainSize, seed: randomState, nDropped });
}

/** Returns, for each value, the index of the quantile bin (fifth) that contains it. */
function partsOf(values: Float64Array): Int32Array {
  const order = Int32Array.from(values.keys()).sort((a, b) => (values[a] as number) - (values[b] as number));
  const parts = new Int32Array(values.length);
  order.forEach((row, rank) => {
    parts[row] = Math.floor((PARTS * rank) / values.length);
  });
  return parts;
}

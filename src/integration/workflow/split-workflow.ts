import { DataValidationError } from '../../exceptions/index.ts';
import { stratifiedSplit } from '../../training/data/stratified-split.ts';
import type { WorkflowSplit } from '../workflow-result.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** Parts of a regression's targets that are shared out evenly. */
const PARTS = 5;

/** The one partition of a workflow, as places among its rows. */
export interface RowSplit {
  readonly train: Int32Array;
  readonly test: Int32Array;
}

/**
 * Parts rows into those trained on and those held out, each combination of
 * target and sensitive groups in proportion; numbers count by their fifth.
 * @throws {DataValidationError} where either part would be empty
 */
export function splitWorkflow(
  { y, groups, task }: WorkflowRows,
  { trainSize, randomState }: FilledWorkflowOptions,
): RowSplit {
  const parts = task === 'binary' ? Int32Array.from(y) : partsOf(Float64Array.from(y));
  const strata = groups.codes.map((code, row) => PARTS * code + (parts[row] as number));
  const [train, test] = stratifiedSplit(strata, [trainSize, 1 - trainSize], randomState) as [Int32Array, Int32Array];
  if (train.length > 0 && test.length > 0) return { train, test };
  const none = train.length === 0 ? 'to train on' : 'held out';
  throw new DataValidationError(
    `With a share of ${String(trainSize)} of ${String(y.length)} rows none is left ${none}.`,
    {
      context: { rows: y.length, trainSize },
      suggestion: 'Take a share nearer to 0.8 (trainSize), or give more rows.',
    },
  );
}

/** The split by places in the data as given. */
export function describeSplit(
  { train, test }: RowSplit,
  { places, nDropped }: WorkflowRows,
  { trainSize, randomState }: FilledWorkflowOptions,
): WorkflowSplit {
  const given = (part: Int32Array): Int32Array => part.map((row) => places[row] as number);
  return Object.freeze({ train: given(train), test: given(test), trainSize, seed: randomState, nDropped });
}

/** Which fifth of the values each one is in. */
function partsOf(values: Float64Array): Int32Array {
  const order = Int32Array.from(values.keys()).sort((a, b) => (values[a] as number) - (values[b] as number));
  const parts = new Int32Array(values.length);
  order.forEach((row, rank) => {
    parts[row] = Math.floor((PARTS * rank) / values.length);
  });
  return parts;
}

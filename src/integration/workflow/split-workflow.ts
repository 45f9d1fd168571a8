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
 * stratified by fifths. The rows of a cluster are in the same part, so that the held-out rows are of clusters that no
 * model has seen. A cluster has the mean target of its rows, and the groups of its first row.
 * @throws {DataValidationError} if either part would be empty
 */
export function splitWorkflow(
  { y, groups, task, clusters }: WorkflowRows,
  { trainSize, randomState }: FilledWorkflowOptions,
): RowSplit {
  const units = clusters?.cluster === undefined ? undefined : unitsOf(clusters.cluster, y);
  const means = units?.means ?? Float64Array.from(y);
  const parts = task === 'binary' ? means.map(Math.round) : partsOf(means);
  const strata = Int32Array.from(
    parts,
    (part, unit) => PARTS * (groups.codes[units?.first[unit] ?? unit] as number) + part,
  );
  const sides = stratifiedSplit(strata, [trainSize, 1 - trainSize], randomState) as [Int32Array, Int32Array];
  const [train, test] = units === undefined ? sides : rowsOfUnits(sides[1], units.unitOf);
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

/** The clusters of rows, in the order of their first rows. */
interface Units {
  /** The cluster of each row, [rows]. */
  readonly unitOf: Int32Array;
  /** The first row of each cluster, [clusters]. */
  readonly first: readonly number[];
  /** The mean target of each cluster, [clusters]. */
  readonly means: Float64Array;
}

function unitsOf(clusters: Int32Array, y: ArrayLike<number>): Units {
  const positions = new Map<number, number>();
  const first: number[] = [];
  const unitOf = clusters.map((cluster, row) => {
    const position = positions.get(cluster) ?? positions.size;
    if (position === positions.size) first.push(row);
    positions.set(cluster, position);
    return position;
  });
  const [sums, counts] = [new Float64Array(first.length), new Float64Array(first.length)];
  unitOf.forEach((unit, row) => {
    sums[unit] = (sums[unit] as number) + (y[row] as number);
    counts[unit] = (counts[unit] as number) + 1;
  });
  return { unitOf, first, means: sums.map((sum, unit) => sum / (counts[unit] as number)) };
}

/** Returns the rows of all clusters except the held-out ones, and the rows of the held-out clusters. */
function rowsOfUnits(held: Int32Array, unitOf: Int32Array): readonly [Int32Array, Int32Array] {
  const isHeld = new Set(held);
  const rows = Int32Array.from(unitOf.keys());
  return [
    rows.filter((row) => !isHeld.has(unitOf[row] as number)),
    rows.filter((row) => isHeld.has(unitOf[row] as number)),
  ];
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

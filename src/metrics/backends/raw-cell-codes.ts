import type { WeightSums } from '../../io/value-sql.ts';
import { type PreparedDecisions, RAW_CELLS, type RawCells } from '../reduce/reduce-classification.ts';
import { fillTables } from '../reduce/stats-of-sums.ts';

/** Returns the raw cell of each row, as {@link RawCells} numbers them; a row without a weight is one without a decision. */
export function rawCellCodes({ groups, yTrue, yPred, weights }: PreparedDecisions): Int32Array {
  return groups.codes.map((code, row) => {
    const decisionState = Number.isNaN(weights?.[row] ?? 0) ? 0 : (yPred[row] as number) + 1;
    return (code + 1) * RAW_CELLS + ((yTrue?.[row] ?? -1) + 1) * 4 + decisionState;
  });
}

/** Returns the weights of rows, 0 where one is missing. */
export function knownWeights({ weights }: PreparedDecisions): Float64Array | undefined {
  return weights?.map((weight) => (Number.isNaN(weight) ? 0 : weight));
}

/** Puts sums by cell into tables. */
export function rawCellsOf(sums: readonly (WeightSums & { readonly group: number })[], labels: number): RawCells {
  return fillTables(
    sums,
    sums.map(({ group }) => group),
    (labels + 1) * RAW_CELLS,
  );
}

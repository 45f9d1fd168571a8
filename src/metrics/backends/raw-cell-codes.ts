import type { WeightSums } from '../../io/value-sql.ts';
import { type PreparedDecisions, RAW_CELLS, type RawCells } from '../reduce/reduce-classification.ts';
import { fillTables } from '../reduce/stats-of-sums.ts';

/** The raw cell of each row, as {@link RawCells} numbers them; -1 for a row without a weight. */
export function rawCellCodes({ groups, yTrue, yPred, weights }: PreparedDecisions): Int32Array {
  return groups.codes.map((code, row) => {
    if (Number.isNaN(weights?.[row] ?? 0)) return -1;
    return (code + 1) * RAW_CELLS + ((yTrue?.[row] ?? -1) + 1) * 4 + (yPred[row] as number) + 1;
  });
}

/** Puts sums by cell into tables. */
export function rawCellsOf(sums: readonly (WeightSums & { readonly group: number })[], labels: number): RawCells {
  return fillTables(
    sums,
    sums.map(({ group }) => group),
    (labels + 1) * RAW_CELLS,
  );
}

/** The combinations of codes that occur in rows, and what they weigh. */
export interface Cells {
  /** The cell of each row. */
  readonly cellOfRow: Int32Array;
  /** The codes of each attribute, one per cell; -1 where the cell has none. */
  readonly codes: readonly Int32Array[];
  /** The total weight of each cell. */
  readonly masses: Float64Array;
}

/** Codes of one attribute; -1 is missing. */
export interface CodedColumn {
  readonly codes: Int32Array;
  readonly labels: readonly string[];
}

/**
 * Crosses attributes to the cells that occur: O(rows attributes), whatever the
 * number of combinations that could.
 * @param weights one per row; each row is 1 where left out
 */
export function crossToCells(attributes: readonly CodedColumn[], weights?: Float64Array): Cells {
  const [first] = attributes as readonly [CodedColumn];
  let cellOfRow = new Int32Array(first.codes.length);
  let codes: number[][] = [[]];
  for (const attribute of attributes) [cellOfRow, codes] = split(cellOfRow, codes, attribute);
  const masses = new Float64Array(codes.length);
  cellOfRow.forEach((cell, row) => (masses[cell] = (masses[cell] as number) + (weights?.[row] ?? 1)));
  return {
    cellOfRow,
    codes: attributes.map((_, place) => Int32Array.from(codes, (parts) => parts[place] as number)),
    masses,
  };
}

/** The cells of attributes so far, split by one more. */
function split(
  cellOfRow: Int32Array<ArrayBuffer>,
  parts: readonly number[][],
  { codes, labels }: CodedColumn,
): [Int32Array<ArrayBuffer>, number[][]] {
  const width = labels.length + 1;
  const cellOf = new Map<number, number>();
  const split: number[][] = [];
  const next = cellOfRow.map((cell, row) => {
    const code = codes[row] as number;
    const key = cell * width + code + 1;
    const known = cellOf.get(key);
    if (known !== undefined) return known;
    cellOf.set(key, split.length);
    split.push([...(parts[cell] as number[]), code]);
    return split.length - 1;
  });
  return [next, split];
}

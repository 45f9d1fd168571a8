import { sumOf } from '../../../internal/values.ts';
import { invalidParameter } from '../../../internal/arguments.ts';

/** The combinations of codes that occur in rows, with their total weights. */
export interface Cells {
  /** The cell of each row. */
  readonly cellOfRow: Int32Array;
  /** The codes of each attribute, one per cell; -1 if the value of the attribute is missing. */
  readonly codes: readonly Int32Array[];
  /** The total weight of each cell. */
  readonly masses: Float64Array;
}

/** The codes of one attribute. The code -1 means that the value is missing. */
export interface CodedColumn {
  readonly codes: Int32Array;
  readonly labels: readonly string[];
}

/**
 * Combines attributes into the cells that occur. Takes O(rows attributes) time, regardless of the number of possible
 * combinations.
 * @param weights one per row; every weight is 1 if omitted
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
    codes: attributes.map((_, index) => Int32Array.from(codes, (parts) => parts[index] as number)),
    masses,
  };
}

/** Splits the cells by one more attribute. */
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

/**
 * Checks the maximum weight, if weights have mean 1.
 * @throws {ValueError} if a mean of 1 would be impossible
 */
export function requireMaxWeight(maxWeight: number): number {
  if (maxWeight >= 1 && maxWeight < Infinity) return maxWeight;
  throw invalidParameter('maxWeight', 'be a finite number of at least 1, since the weights have mean 1', maxWeight);
}

/** The conversion of ratios to weights: min(limit, scale x ratio). */
export interface MeanOne {
  readonly scale: number;
  readonly limit: number;
  /** The cells whose ratio is capped. */
  readonly cut: readonly number[];
}

/**
 * Computes weights that are proportional to ratios, capped at a limit, and have mean 1 (weighted by `masses`). The
 * excess over the limit is distributed among the other cells in proportion to their ratios. If the mean is below 1 even
 * if every cell with a ratio above 0 has the limit as its weight, all these cells get the same weight above the limit.
 * Takes O(cells log cells) time.
 * @param ratios one per cell, 0 or more
 * @param masses the weight of the rows of each cell
 * @param limit the largest weight allowed, at least 1
 */
export function scaleToMeanOne(ratios: ArrayLike<number>, masses: ArrayLike<number>, limit: number): MeanOne {
  if (ratios.length === 0) return { scale: 1, limit, cut: [] };
  const cells = Array.from({ length: ratios.length }, (_, cell) => cell).filter((cell) => (ratios[cell] as number) > 0);
  cells.sort((a, b) => (ratios[b] as number) - (ratios[a] as number));
  const total = sumOf(masses);
  let left = total;
  let sought = cells.reduce((all, cell) => all + (ratios[cell] as number) * (masses[cell] as number), 0);
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] as number;
    const scale = left / sought;
    if (scale * (ratios[cell] as number) <= limit) return { scale, limit, cut: cells.slice(0, index) };
    left -= limit * (masses[cell] as number);
    sought -= (ratios[cell] as number) * (masses[cell] as number);
    if (left <= 0 || sought <= 0) break;
  }
  // With this scale, any ratio above 0 reaches the limit, and the scale is finite in JSON.
  return { scale: Number.MAX_VALUE, limit: total / sumOf(cells.map((cell) => masses[cell] as number)), cut: cells };
}

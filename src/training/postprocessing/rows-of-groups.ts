import type { CategoricalColumn } from '../../table/index.ts';

/** The rows of each group, by its code, in the order in which they are given (a counting sort). */
export function rowsOfGroups({ codes, labels }: CategoricalColumn, order: Iterable<number>): Int32Array[] {
  const filled = new Int32Array(labels.length);
  for (const code of codes) filled[code] = (filled[code] as number) + 1;
  const members = Array.from(filled, (size) => new Int32Array(size));
  filled.fill(0);
  for (const row of order) {
    const code = codes[row] as number;
    const place = filled[code] as number;
    (members[code] as Int32Array)[place] = row;
    filled[code] = place + 1;
  }
  return members;
}

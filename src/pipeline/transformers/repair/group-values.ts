import type { CategoricalColumn } from '../../../table/index.ts';

/** The known values of one column, by group. */
export interface GroupValues {
  /** One per group, ascending. */
  readonly sorted: readonly Float64Array[];
}

/** The values of each group in ascending order, without missing ones: O(rows log rows), one sort a group. */
export function sortByGroup(values: Float64Array, { codes, labels }: CategoricalColumn): GroupValues {
  const counts = new Int32Array(labels.length);
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    const value = values[row] as number;
    // NaN alone differs from itself; a call per row would cost as much as the sort.
    if (code >= 0 && value === value) counts[code] = (counts[code] as number) + 1;
  }
  const starts = new Int32Array(labels.length + 1);
  counts.forEach((count, code) => (starts[code + 1] = (starts[code] as number) + count));
  const all = new Float64Array(starts[labels.length] as number);
  const next = starts.slice();
  for (let row = 0; row < values.length; row++) {
    const code = codes[row] as number;
    const value = values[row] as number;
    if (!(code >= 0 && value === value)) continue;
    const place = next[code] as number;
    all[place] = value;
    next[code] = place + 1;
  }
  const sorted = labels.map((_, code) => all.subarray(starts[code], starts[code + 1]).sort());
  return { sorted };
}

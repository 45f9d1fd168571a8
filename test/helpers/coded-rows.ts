import { type CodedBatch, type CodedRows, SEARCH_HALF } from '../../src/metrics/subgroups/coded-rows.ts';

/** Rows with columns of codes 0 to 2. The rows of a cluster follow each other. */
export interface CodedData {
  readonly codes: readonly (readonly number[])[];
  readonly values: readonly number[];
  readonly clusters?: readonly number[];
  /** @defaultValue all rows are in the half that is searched */
  readonly halves?: readonly number[];
}

/** Returns coded rows in batches of 7, so that conjunctions are counted over several batches. */
export function codedRows({ codes, values, clusters, halves }: CodedData, isRate: boolean): CodedRows {
  const batches: CodedBatch[] = [];
  for (let start = 0; start < values.length; start += 7) {
    const part = values.slice(start, start + 7);
    batches.push({
      rowCount: part.length,
      codes: codes.map((column) => Uint8Array.from(column.slice(start, start + 7))),
      values: Float64Array.from(part),
      halves: Uint8Array.from(halves?.slice(start, start + 7) ?? part.map(() => SEARCH_HALF)),
      clusters: clusters && Int32Array.from(clusters.slice(start, start + 7)),
    });
  }
  return {
    columns: codes.map((_, index) => ({ name: `c${index}`, kind: 'values', labels: ['a', 'b', 'c'], missing: 0 })),
    isRate,
    async *batches() {
      yield* await Promise.resolve(batches);
    },
  };
}

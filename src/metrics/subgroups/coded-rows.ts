import { createHash } from 'node:crypto';

import { mix } from '../../internal/random.ts';
import type { CodedChunk, CodedSource } from '../../io/code-rows.ts';
import type { SubgroupColumn } from '../../io/subgroup-columns.ts';
import { type DecisionRateName, rateCells } from '../measures/decision-rates.ts';
import { cellIndex } from '../statistics/group-stats.ts';

/** The code of a missing value. A column has at most this number of values. */
export const MISSING_CODE = 255;

/** The two halves of the rows: one to search for subgroups, and one to test those that were found. */
export const SEARCH_HALF = 0;
export const TEST_HALF = 1;

/** Some rows whose value counts: the rows in the denominator of a rate, or the rows with a score. */
export interface CodedBatch {
  readonly rowCount: number;
  /** The code of each row, for each column: an index into the labels of the column, or {@link MISSING_CODE}. */
  readonly codes: readonly Uint8Array[];
  /** For a rate, 0 or 1; else the score. */
  readonly values: Float64Array;
  readonly halves: Uint8Array;
  /** The cluster of each row. The rows of a cluster follow each other, also across batches. */
  readonly clusters: Int32Array | undefined;
}

/** Rows with coded columns, which can be read several times. */
export interface CodedRows {
  readonly columns: readonly SubgroupColumn[];
  readonly isRate: boolean;
  batches(): AsyncIterable<CodedBatch>;
}

/** Returns a function that assigns a row to a half, from its index and the seed. */
function halfOfRow(seed: number): (row: number) => number {
  const salt = mix(Math.trunc(seed) ^ 0x2545f491);
  return (row) => (mix(row ^ salt) >>> 15) & 1;
}

/** Assigns a cluster to a half, from its label and the seed, so that the order of the rows does not matter. */
export function halfOfCluster(label: string, seed: number): number {
  const [first = '0'] = createHash('sha256')
    .update(`${String(seed)}:${label}`)
    .digest('hex');
  return Number.parseInt(first, 16) & 1;
}

/** How the values of rows are read from their outcomes. */
export interface ValueRule {
  /** The rate to measure; undefined for the mean score. */
  readonly rate: DecisionRateName | undefined;
  readonly seed: number;
  /** Whether the batches are kept in memory after the first pass. */
  readonly keeps: boolean;
}

/** The rows that a source lacks an outcome or a cluster for. */
export interface ReadRows extends CodedRows {
  /** The number that was subtracted from all scores, so that sums of squares keep their digits. Known after a pass. */
  offset(): number;
  /** The number of rows without an outcome or a cluster. Known after a pass. */
  dropped(): number;
}

/** Returns the rows of a source whose value counts. Rows without an outcome or a cluster are dropped and counted. */
export function readCodedRows(source: CodedSource, { rate, seed, keeps }: ValueRule): ReadRows {
  const valueOf = rate === undefined ? undefined : valuesOfRate(rate);
  const halfOf = halfOfRow(seed);
  let offset: number | undefined;
  let dropped = 0;
  let kept: CodedBatch[] | undefined;
  const read = (chunk: CodedChunk, firstRow: number): CodedBatch => {
    const { rowCount, truths, decisions, scores, clusters } = chunk;
    const rows = new Int32Array(rowCount);
    const values = new Float64Array(rowCount);
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const outcome =
        valueOf === undefined
          ? (scores?.[row] as number)
          : (valueOf[(truths?.[row] ?? 2) * 3 + (decisions?.[row] as number)] as number);
      if (Number.isNaN(outcome) || (clusters !== undefined && (clusters[row] as number) < 0)) dropped++;
      else if (outcome !== NOT_COUNTED || valueOf === undefined) {
        if (valueOf === undefined) offset ??= outcome;
        rows[count] = row;
        values[count++] = outcome - (offset ?? 0);
      }
    }
    const bytes = (own: Uint8Array): Uint8Array => {
      const taken = new Uint8Array(count);
      for (let index = 0; index < count; index++) taken[index] = own[rows[index] as number] as number;
      return taken;
    };
    const halves = new Uint8Array(count);
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number;
      halves[index] = chunk.halves === undefined ? halfOf(firstRow + row) : (chunk.halves[row] as number);
    }
    return {
      rowCount: count,
      codes: chunk.codes.map(bytes),
      values: values.subarray(0, count),
      halves,
      clusters: clusters && Int32Array.from({ length: count }, (_, index) => clusters[rows[index] as number] as number),
    };
  };
  return {
    columns: source.columns,
    isRate: rate !== undefined,
    offset: () => offset ?? 0,
    dropped: () => dropped,
    async *batches() {
      if (kept !== undefined) {
        yield* kept;
        return;
      }
      dropped = 0;
      const own: CodedBatch[] = [];
      let firstRow = 0;
      for await (const chunk of source.chunks()) {
        const batch = read(chunk, firstRow);
        firstRow += chunk.rowCount;
        if (keeps) own.push(batch);
        yield batch;
      }
      if (keeps) kept = own;
    },
  };
}

/** The value of a row that is not in the denominator of a rate. */
const NOT_COUNTED = -1;

/** Returns the value for each true label (0, 1, missing) and decision: 0 or 1, -1 outside the rate, NaN if missing. */
function valuesOfRate(name: DecisionRateName): Float64Array {
  const { above, below } = rateCells(name);
  const needsTruth = name !== 'selection_rate';
  return Float64Array.from({ length: 9 }, (_, index) => {
    const [truth, decision] = [Math.floor(index / 3), index % 3];
    if (decision === 2 || (needsTruth && truth === 2)) return NaN;
    const cell = cellIndex(truth as 0 | 1 | 2, decision as 0 | 1);
    if (!below.includes(cell)) return NOT_COUNTED;
    return above.includes(cell) ? 1 : 0;
  });
}

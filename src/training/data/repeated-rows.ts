import { formatCount, formatShare } from '../../internal/format.ts';
import { sharesDiffer } from '../../stats/share-difference.ts';
import type { CategoricalColumn, Column, Table } from '../../table/index.ts';
import { absorb, murmurHash, uniformOf } from '../murmur-hash.ts';

/** Rows with their features, 0 or 1 as the target, and their groups. */
interface Rows {
  readonly table: Table;
  readonly y: Uint8Array;
  readonly groups: CategoricalColumn;
}

/** The smallest number of test rows from which equal rows are no coincidence. */
const MIN_ROWS = 30;

/** The smallest excess of the share of test rows that equal a training row over the share that chance explains. */
const MIN_EXCESS = 0.02;

/**
 * Returns a note if more test rows equal a training row, in all features, the target and the group, than chance explains:
 * how often the training rows equal each other. Such test rows were probably trained on. Takes O(rows) for each feature.
 */
export function repeatedTestNotes(rows: Rows, test: Rows, features: readonly string[]): string[] {
  if (features.length === 0 || test.y.length < MIN_ROWS) return [];
  const [trained, tested] = [rowCodes(rows, features), rowCodes(test, features)];
  const counts = new Map<number, number>();
  for (const code of trained) counts.set(code, (counts.get(code) ?? 0) + 1);
  const found = tested.filter((code) => counts.has(code)).length;
  const repeated = { n: tested.length, share: found / tested.length };
  const byChance = { n: trained.length, share: trained.filter((code) => (counts.get(code) ?? 0) > 1).length / trained.length }; // prettier-ignore
  const isSame = trained.length === tested.length && trained.every((code, row) => code === tested[row]);
  const isMore = repeated.share > byChance.share + MIN_EXCESS && sharesDiffer(repeated, byChance);
  if (isSame) return [sameRowsNote()];
  if (!isMore) return [];
  return [
    noteOf(
      `${formatCount(found)} of ${formatCount(tested.length)} test rows (${formatShare(repeated.share)}) equal a training row in all features, the target and the group, against ${formatShare(byChance.share)} by chance`,
    ),
  ];
}

/** Returns the note on test rows that are all training rows. */
export function sameRowsNote(): string {
  return noteOf('the test rows are the training rows');
}

function noteOf(which: string): string {
  return `${which}, so the values on test rows are better than on new rows: give rows that no model was trained on, or hold out rows (folds)`;
}

/** Returns a number for each row, which is the same for equal rows, and hardly ever for others. */
function rowCodes({ table, y, groups }: Rows, features: readonly string[]): Float64Array {
  const columns = [...features.map((name) => table.column(name)), groups];
  const statesOf = (seed: number): Int32Array => {
    const states = Int32Array.from(y, (label) => absorb(seed, label));
    for (const column of columns) absorbColumn(states, column, seed);
    return states;
  };
  const [high, low] = [statesOf(0), statesOf(1)];
  return Float64Array.from(high, (state, row) => uniformOf(state, low[row] as number));
}

/** Adds the values of a column to the hashes of the rows. */
function absorbColumn(states: Int32Array, column: Column, seed: number): void {
  if (column.kind === 'categorical') {
    const encoder = new TextEncoder();
    const ofLabels = column.labels.map((label) => murmurHash(encoder.encode(label), seed));
    for (let row = 0; row < states.length; row++) {
      states[row] = absorb(states[row] as number, ofLabels[column.codes[row] as number] ?? 0);
    }
    return;
  }
  const number = new Float64Array(1);
  const words = new Int32Array(number.buffer);
  for (let row = 0; row < states.length; row++) {
    // -0 equals 0.
    number[0] = (column.values[row] as number) + 0;
    states[row] = absorb(absorb(states[row] as number, words[0] as number), words[1] as number);
  }
}

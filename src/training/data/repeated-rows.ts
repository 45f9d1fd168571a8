import { formatCount, formatShare } from '../../internal/format.ts';
import { sharesDiffer } from '../../stats/share-difference.ts';
import type { CategoricalColumn, Column, Table } from '../../table/index.ts';

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
  if (!isSame && !isMore) return [];
  if (isSame) return [sameRowsNote()];
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
  const [high, low] = [new Uint32Array(y.length), new Uint32Array(y.length)];
  const add = (codesOf: (row: number) => readonly [number, number]): void => {
    for (let row = 0; row < y.length; row++) {
      const [first, second] = codesOf(row);
      high[row] = mixed(high[row] as number, first, 0x85ebca6b);
      low[row] = mixed(low[row] as number, second, 0xc2b2ae35);
    }
  };
  for (const column of [...features.map((name) => table.column(name)), groups]) add(valueCodes(column));
  add((row) => [y[row] as number, y[row] as number]);
  return Float64Array.from(high, (code, row) => code * 2 ** 21 + ((low[row] as number) >>> 11));
}

function valueCodes(column: Column): (row: number) => readonly [number, number] {
  if (column.kind === 'categorical') {
    const ofLabels = column.labels.map((label) => [textCode(label, 1), textCode(label, 2)] as const);
    return (row) => ofLabels[column.codes[row] as number] ?? [0, 0];
  }
  const number = new Float64Array(1);
  const bits = new Uint32Array(number.buffer);
  return (row) => {
    // -0 equals 0.
    number[0] = (column.values[row] as number) + 0;
    const [first = 0, second = 0] = bits;
    return [first ^ Math.imul(second, 0x9e3779b1), second ^ Math.imul(first, 0x27d4eb2f)];
  };
}

function textCode(text: string, seed: number): number {
  let code = seed;
  for (let index = 0; index < text.length; index++) code = mixed(code, text.charCodeAt(index), 0x01000193);
  return code;
}

function mixed(code: number, value: number, factor: number): number {
  const sum = Math.imul((code ^ value) >>> 0, factor);
  return (sum ^ (sum >>> 15)) + Math.imul(code, 31);
}

import { DataValidationError } from '../../exceptions/index.ts';
import { type CategoricalColumn, readTable, Table, type TableSource } from '../../table/index.ts';
import { nameSome } from '../../internal/format.ts';

/** Training rows. */
export interface FitRows {
  readonly table: Table;
  /** One weight per row, above 0, divided by a common unit; undefined if all weights are equal. */
  readonly weights: Float64Array | undefined;
}

/**
 * Reads training rows, and excludes rows with weight 0.
 * @throws {DataValidationError} if there are no rows, the number of weights is not the number of rows, a weight is
 *   negative or not finite, or all weights are 0
 */
export async function readFitRows(data: TableSource, sampleWeight: ArrayLike<number> | undefined): Promise<FitRows> {
  const table = await readTable(data);
  if (table.rowCount === 0) {
    throw new DataValidationError('data has no rows, so the transformer cannot be fitted.', {
      code: 'empty-data',
      context: { argument: 'data' },
      suggestion: 'Provide at least one row.',
    });
  }
  return sampleWeight === undefined ? { table, weights: undefined } : weighRows(table, sampleWeight);
}

function weighRows(table: Table, sampleWeight: ArrayLike<number>): FitRows {
  if (sampleWeight.length !== table.rowCount) {
    throw new DataValidationError(
      `sampleWeight has ${String(sampleWeight.length)} values, but data has ${String(table.rowCount)} rows.`,
      { code: 'length-mismatch', context: { argument: 'sampleWeight' }, suggestion: 'Provide one weight per row.' },
    );
  }
  const weights = Float64Array.from(sampleWeight);
  const bad = weights.findIndex((weight) => !(weight >= 0 && weight < Infinity));
  if (bad >= 0) throw badWeight(bad, weights[bad] as number);
  scaleDown(weights);
  const rows = Int32Array.from(weights.keys()).filter((row) => (weights[row] as number) > 0);
  if (rows.length === weights.length) return { table, weights };
  if (rows.length > 0) return { table: table.take(rows), weights: weights.filter((weight) => weight > 0) };
  throw new DataValidationError('sampleWeight is 0 for every row.', {
    code: 'empty-data',
    context: { argument: 'sampleWeight' },
    suggestion: 'Give at least one row a weight above 0.',
  });
}

/** Divides weights by a power of two near the largest weight, so that sums stay finite and the division is exact. */
function scaleDown(weights: Float64Array): void {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  if (largest === 0) return;
  const unit = 2 ** Math.max(-1021, Math.min(1022, Math.floor(Math.log2(largest))));
  weights.forEach((weight, row) => (weights[row] = weight / unit));
}

function badWeight(index: number, value: number): DataValidationError {
  return new DataValidationError(
    `sampleWeight must hold finite numbers of at least 0, but holds ${String(value)} at index ${String(index)}.`,
    {
      code: 'invalid-value',
      context: { argument: 'sampleWeight', index, value },
      suggestion: 'Correct that weight, or omit sampleWeight.',
    },
  );
}

/** Counts the rows that have no group. */
export function countMissing({ codes }: CategoricalColumn): number {
  let count = 0;
  for (const code of codes) if (code < 0) count++;
  return count;
}

/** Formats, for example, "3 rows without a value of 'race'". */
export function nameMissing(count: number, columns: readonly string[]): string {
  return `${count === 1 ? '1 row' : `${String(count)} rows`} without a value of ${nameSome(columns)}`;
}

/** Returns a warning if rows were excluded from a fit. */
export function leftOutWarning(count: number, columns: readonly string[]): string[] {
  return count === 0 ? [] : [`${nameMissing(count, columns)} ${count === 1 ? 'is' : 'are'} excluded from the fit`];
}

/** Returns a table with new numbers in some of its columns; the order of the columns stays the same. */
export function replaceColumns(table: Table, changed: Iterable<readonly [name: string, values: Float64Array]>): Table {
  const values = new Map(changed);
  return Table.ofColumns(
    table.columnNames.map((name) => {
      const numbers = values.get(name);
      return [name, numbers === undefined ? table.column(name) : { kind: 'numeric', values: numbers }] as const;
    }),
  );
}

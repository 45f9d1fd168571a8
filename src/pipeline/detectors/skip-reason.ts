import type { CategoricalColumn, Column, NumericColumn } from '../../table/index.ts';

/** A text column with more different values than this share of its rows holds identifiers. */
const IDENTIFIER_SHARE = 0.9;

/** Fewer whole numbers than this may lie close together by chance, as ages do. */
const LEAST_ROWS_OF_A_SEQUENCE = 50;

/** Names that identifiers go by: id, customer_id, Customer ID, userId, uuid, index, row number. */
const IDENTIFIER_NAMES = [/(^|[^a-z])(id|uuid|guid|index|row[ _]?(nr|number))$/i, /[a-z]I[dD]$/];

/**
 * Why a column is not tested whatever the attribute; undefined where it is.
 *
 * Identifiers are columns of text of which more than nine in ten values differ,
 * and columns of whole numbers that are all different and either lie as dense
 * as a sequence does (50 rows or more) or have the name of an identifier.
 */
export function skipReason(name: string, column: Column): string | undefined {
  return column.kind === 'numeric' ? numericReason(name, column) : textReason(column);
}

function textReason({ codes, labels }: CategoricalColumn): string | undefined {
  const seen = new Uint8Array(labels.length);
  let present = 0;
  for (const code of codes) {
    if (code < 0) continue;
    seen[code] = 1;
    present += 1;
  }
  const distinct = seen.reduce((sum, mark) => sum + mark, 0);
  if (distinct === 0) return 'it has no values';
  if (distinct === 1) return 'all its values are the same';
  if (distinct <= IDENTIFIER_SHARE * present) return undefined;
  return `it identifies rows: ${String(distinct)} different values in ${String(present)} rows`;
}

function numericReason(name: string, { values }: NumericColumn): string | undefined {
  let [present, low, high, isWhole] = [0, Infinity, -Infinity, true];
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    if (!Number.isFinite(value)) return `it holds an infinite value in row ${String(row + 1)}`;
    present += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
    isWhole &&= Number.isInteger(value);
  }
  if (present === 0) return 'it has no values';
  if (low === high) return 'all its values are the same';
  const isDense = present >= LEAST_ROWS_OF_A_SEQUENCE && high - low < 2 * present;
  const hasRoom = high - low >= present - 1;
  if (!isWhole || !hasRoom || !(isDense || hasIdentifierName(name)) || !areDifferent(values)) return undefined;
  return `it identifies rows: ${String(present)} different whole numbers`;
}

function areDifferent(values: Float64Array): boolean {
  // Missing values stand last, and NaN equals nothing.
  const sorted = values.slice().sort();
  return sorted.every((value, place) => place === 0 || value !== sorted[place - 1]);
}

function hasIdentifierName(name: string): boolean {
  return IDENTIFIER_NAMES.some((pattern) => pattern.test(name));
}

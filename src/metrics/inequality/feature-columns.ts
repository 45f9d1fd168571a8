import { DataValidationError } from '../../exceptions/index.ts';
import {
  columnsOfTensor,
  type ColumnSource,
  isTensorLike,
  nameOfPosition,
  Table,
  type TableSource,
  type TensorLike,
  toColumn,
} from '../../table/index.ts';
import { toFiniteNumbers } from '../reduce/row-arguments.ts';

/**
 * Features of rows: a table, columns by name, records, an array of rows, a
 * tensor of shape [rows, features], or the values of a single feature.
 */
export type FeatureSource = TableSource | TensorLike | ArrayLike<unknown>;

/** The numbers of one feature (NaN if missing), and the name of the feature in errors. */
export interface FeatureColumn {
  readonly name: string;
  readonly values: Float64Array;
}

/**
 * Reads features as columns of numbers.
 * @throws {DataValidationError} if there is no feature, rows differ in width, or a feature holds texts or infinities
 */
export function readFeatures(features: FeatureSource): FeatureColumn[] {
  const columns = columnsOf(features);
  if (columns.length === 0) {
    throw new DataValidationError('features has no columns.', {
      code: 'unknown-column',
      context: { argument: 'features' },
      suggestion: 'Give at least one feature, as in { age: [...] }.',
    });
  }
  return columns.map(([name, source]) => ({ name, values: readNumbers(source, name) }));
}

function columnsOf(features: FeatureSource): (readonly [name: string, source: ColumnSource])[] {
  if (isTensorLike(features)) return columnsOfTensor(features, 'features');
  if (ArrayBuffer.isView(features)) return [['features', features as ArrayLike<unknown>]];
  if (Array.isArray(features)) {
    const first: unknown = features.find((row) => row !== null && row !== undefined);
    if (isArrayLike(first)) return columnsOfRows(features as readonly ArrayLike<unknown>[]);
    if (typeof first !== 'object') return [['features', features]];
  }
  const table = Table.from(features as TableSource);
  return table.columnNames.map((name) => [`features.${name}`, table.column(name)]);
}

function columnsOfRows(rows: readonly ArrayLike<unknown>[]): (readonly [string, ColumnSource])[] {
  const width = rows.find(isArrayLike)?.length ?? 0;
  rows.forEach((row, index) => {
    if (isArrayLike(row) && row.length === width) return;
    const got = isArrayLike(row) ? `${String(row.length)} values` : String(row);
    throw new DataValidationError(
      `Every row of features must have ${String(width)} values, like the first row; the row at index ${String(index)} has ${got}.`,
      {
        code: 'invalid-value',
        context: { argument: 'features', index, width },
        suggestion: 'Give every row one value per feature; use null for a missing value.',
      },
    );
  });
  return Array.from({ length: width }, (_, axis) => [nameOfPosition('features', axis), rows.map((row) => row[axis])]);
}

function isArrayLike(row: unknown): row is ArrayLike<unknown> {
  return Array.isArray(row) || ArrayBuffer.isView(row);
}

/** Reads numbers, numbers written as texts, and booleans as 0 and 1. */
function readNumbers(source: ColumnSource, name: string): Float64Array {
  const column = toColumn(source, name);
  if (column.kind === 'numeric') return toFiniteNumbers(column, name);
  const numberOf = column.labels.map(numberFromText);
  const values = Float64Array.from(column.codes, (code) => (code < 0 ? NaN : (numberOf[code] ?? NaN)));
  const wrong = column.codes.findIndex((code) => code >= 0 && numberOf[code] === undefined);
  if (wrong < 0) return toFiniteNumbers(values, name);
  const text = column.labels[column.codes[wrong] as number];
  throw new DataValidationError(
    `${name} must hold numbers, but holds '${String(text)}' at index ${String(wrong)}. Distances need numbers.`,
    {
      code: 'invalid-value',
      context: { argument: 'features', column: name, index: wrong, value: text },
      suggestion: 'Encode each category as a column of 0 and 1.',
    },
  );
}

function numberFromText(text: string): number | undefined {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isNaN(number) ? undefined : number;
}

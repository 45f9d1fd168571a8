/** A column of numbers; a missing value is NaN. */
export interface NumericColumn {
  readonly kind: 'numeric';
  readonly values: Float64Array;
}

/** A column of categories: `codes[row]` is an index into `labels`, or -1 if the value is missing. */
export interface CategoricalColumn {
  readonly kind: 'categorical';
  readonly codes: Int32Array;
  readonly labels: readonly string[];
}

/** A column that is completely in memory. */
export type Column = NumericColumn | CategoricalColumn;

/** Returns the number of rows of a column. */
export function columnLength(column: Column): number {
  return column.kind === 'numeric' ? column.values.length : column.codes.length;
}

/** Returns whether a label is a number. Infinite numbers are included. */
export function isNumber(label: string): boolean {
  return label.trim() !== '' && !Number.isNaN(Number(label));
}

/** Converts a categorical column whose labels are numbers to a numeric column. */
export function numbersOf({ codes, labels }: CategoricalColumn): NumericColumn {
  const numberOf = labels.map(Number);
  return { kind: 'numeric', values: Float64Array.from(codes, (code) => numberOf[code] ?? NaN) };
}

/** Returns the rows of a column at the given indexes, in the order of the indexes. */
export function takeRows(column: CategoricalColumn, rows: ArrayLike<number>): CategoricalColumn;
export function takeRows(column: Column, rows: ArrayLike<number>): Column;
export function takeRows(column: Column, rows: ArrayLike<number>): Column {
  const pick = <T extends Float64Array | Int32Array>(from: T, into: T): T => {
    for (let i = 0; i < rows.length; i++) into[i] = from[rows[i] as number] as number;
    return into;
  };
  return column.kind === 'numeric'
    ? { kind: 'numeric', values: pick(column.values, new Float64Array(rows.length)) }
    : {
        kind: 'categorical',
        codes: pick(column.codes, new Int32Array(rows.length)),
        labels: column.labels,
      };
}

/** Returns the values of a column as numbers or strings, with null for missing values. */
export function columnToArray(column: Column): (number | string | null)[] {
  if (column.kind === 'numeric') return Array.from(column.values, (value) => (Number.isNaN(value) ? null : value));
  return Array.from(column.codes, (code) => column.labels[code] ?? null);
}

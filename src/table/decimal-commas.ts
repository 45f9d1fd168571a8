import { DataValidationError } from '../exceptions/index.ts';
import type { Column } from './column.ts';
import { sortLabels } from './encode-labels.ts';

/** Matches a number with a point. Beside decimal commas, the point may separate thousands. */
const POINTED = /^\s*[-+]?\d*\.\d[\d.]*(?:,\d*)?(?:e[-+]?\d+)?\s*$/i;

/** Matches digits between at least two points, for example a date (01.02.2026) or a version. */
const SEVERAL_POINTS = /^\s*\d+\.\d+\.[\d.]*\s*$/;

/** Matches digits whose points separate thousands. */
const THOUSANDS = /^\s*\d{1,3}(?:\.\d{3})+\s*$/;

const WITH_COMMA = /^\s*[-+]?(?:\d+,\d*|,\d+)(?:e[-+]?\d+)?\s*$/i;

/** Returns whether a text is a number with a decimal comma. */
export function hasDecimalComma(text: string): boolean {
  return WITH_COMMA.test(text);
}

/**
 * Returns whether a text is a number with a point that is ambiguous beside decimal commas. Dates and versions with several
 * points are not numbers.
 */
export function hasAmbiguousPoint(text: string): boolean {
  return POINTED.test(text) && (THOUSANDS.test(text) || !SEVERAL_POINTS.test(text));
}

/**
 * Returns the error for a number with a point in a column with decimal commas.
 * @param row the first row of the number, counted from 1; undefined if it is unknown
 */
export function ambiguousPoint(name: string, value: string, row: string | undefined): DataValidationError {
  const where = row === undefined ? '' : ` in row ${row}`;
  return new DataValidationError(
    `Column '${name}' holds '${value}'${where}, which contains a point, but the decimal separator is a comma.`,
    {
      code: 'invalid-value',
      context: { column: name, value, ...(row === undefined ? {} : { row }), parameters: ['decimal'] },
      suggestion: spellingFor(value.trim()),
    },
  );
}

/** Returns a sentence that ends with a space if a text is a number with the other decimal separator, or ''. */
export function decimalHint(text: string): string {
  if (hasDecimalComma(text))
    return "If the comma is a decimal comma, write a point, or read the file with --decimal , (in code, decimal: ','; the service reads only points). ";
  return /^\s*[-+]?\d*\.\d+\s*$/.test(text)
    ? 'The decimal separator is a comma: without --decimal , a point is the separator. '
    : '';
}

/** Suggests how to write a number with a point without it. */
function spellingFor(value: string): string {
  const whole = value.replaceAll('.', '');
  const withComma = value.replace('.', ',');
  if (value.includes(',') || withComma.includes('.')) return `Write '${whole}', without separators of thousands.`;
  const others = ' If points separate the decimals of this file, leave out the decimal separator (decimal).';
  if (THOUSANDS.test(value) && !value.startsWith('0'))
    return `Write '${whole}' if the point separates thousands, or '${withComma}' if it separates decimals.${others}`;
  const number = Number(value);
  return `Write ${Number.isSafeInteger(number) ? `'${String(number)}' or ` : ''}'${withComma}'.${others}`;
}

/**
 * Returns a column of texts in which decimal commas of numbers are replaced by decimal points, which all other code
 * expects. The numbers of a column are texts if the column also contains other texts, for example NA.
 * @param hasRows whether the codes are those of all rows, so that an error can name the row
 * @throws {DataValidationError} if a number contains a point
 */
export function withPoints(name: string, column: Column, hasRows = true): Column {
  if (column.kind === 'numeric') return column;
  const ambiguous = new Set(column.labels.flatMap((label, code) => (hasAmbiguousPoint(label) ? [code] : [])));
  if (ambiguous.size > 0) {
    const index = column.codes.findIndex((code) => ambiguous.has(code));
    const value = column.labels[column.codes[index] as number] as string;
    throw ambiguousPoint(name, value, hasRows ? String(index + 1) : undefined);
  }
  const labels = column.labels.map((label) => (hasDecimalComma(label) ? label.replace(',', '.') : label));
  return sortLabels(column.codes, labels);
}

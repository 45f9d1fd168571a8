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
 * Returns a column of texts in which decimal commas of numbers are replaced by decimal points, which all other code
 * expects. The numbers of a column are texts if the column also contains other texts, for example NA.
 * @throws {DataValidationError} if a number contains a point
 */
export function withPoints(name: string, column: Column): Column {
  if (column.kind === 'numeric') return column;
  const ambiguous = column.labels.find(
    (label) => POINTED.test(label) && (THOUSANDS.test(label) || !SEVERAL_POINTS.test(label)),
  );
  if (ambiguous !== undefined) {
    throw new DataValidationError(
      `Column '${name}' holds '${ambiguous}', which contains a point, but the decimal separator is a comma.`,
      {
        code: 'invalid-value',
        context: { column: name, value: ambiguous },
        suggestion: 'Remove the thousands separators, or remove the column from the file.',
      },
    );
  }
  const labels = column.labels.map((label) => (hasDecimalComma(label) ? label.replace(',', '.') : label));
  return sortLabels(column.codes, labels);
}

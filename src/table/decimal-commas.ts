import { DataValidationError } from '../exceptions/index.ts';
import type { Column } from './column.ts';
import { sortLabels } from './encode-labels.ts';

/**
 * Returns a column of texts in which decimal commas of numbers are replaced by decimal points, which all other code
 * expects. The numbers of a column are texts if the column also contains other texts, for example NA.
 * @throws {DataValidationError} if a number contains a point
 */
export function withPoints(name: string, column: Column): Column {
  if (column.kind === 'numeric') return column;
  const ambiguous = column.labels.find((label) => /^\s*[-+]?\d*\.\d[\d.]*(?:,\d*)?(?:e[-+]?\d+)?\s*$/i.test(label));
  if (ambiguous !== undefined) {
    throw new DataValidationError(
      `Column '${name}' holds '${ambiguous}', which contains a point, but the decimal separator is a comma.`,
      {
        code: 'invalid-value',
        context: { column: name, value: ambiguous },
        suggestion: 'Remove the thousands separators, or leave out the column.',
      },
    );
  }
  const labels = column.labels.map((label) =>
    /^\s*[-+]?(?:\d+,\d*|,\d+)(?:e[-+]?\d+)?\s*$/i.test(label) ? label.replace(',', '.') : label,
  );
  return sortLabels(column.codes, labels);
}

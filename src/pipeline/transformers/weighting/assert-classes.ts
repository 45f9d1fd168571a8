import { DataValidationError } from '../../../exceptions/index.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';

/** More different numbers than this are a measured quantity. */
const MOST_NUMBERS = 20;

/**
 * That the values of a label column can each be a class. Of a measured quantity
 * nearly every row would be one, whose weight, the share of its group, would
 * weigh small groups down.
 * @throws {DataValidationError} for a column of numbers with more than 20 different ones
 */
export function assertClasses(table: Table, column: string, { labels }: CategoricalColumn): void {
  if (table.column(column).kind !== 'numeric' || labels.length <= MOST_NUMBERS) return;
  const count = String(labels.length);
  throw new DataValidationError(
    `The label column '${column}' has ${count} different numbers; classes are needed, and more than ${String(MOST_NUMBERS)} numbers are taken for none.`,
    {
      context: { argument: 'label', column, values: labels.length },
      suggestion:
        'For a target of numbers use InstanceReweighting; or name a label column of classes, or the positiveLabel.',
    },
  );
}

import { DataValidationError } from '../../exceptions/index.ts';
import { type BinaryValues, type ColumnSource, Table } from '../../table/index.ts';

/** Labels and decisions as they were given. */
interface LabelledRows {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  readonly positiveLabel?: string | undefined;
}

/**
 * Checks that a positive label means something in the data it was used on.
 * @throws {DataValidationError} where the labels never hold it, or the predictions use other labels than the truth
 */
export function assertPositiveLabel(rows: LabelledRows, yTrue: BinaryValues | undefined, yPred: BinaryValues): void {
  if (rows.positiveLabel === undefined) return;
  assertLabelOccurs(rows.positiveLabel, yTrue ?? yPred, yTrue === undefined ? 'yPred' : 'yTrue');
  assertSameLabels(rows, yPred, rows.positiveLabel);
}

/** A model may decide for no one, if it speaks the language of the true labels. */
function assertSameLabels(rows: LabelledRows, yPred: BinaryValues, positiveLabel: string): void {
  if (rows.yTrue === undefined || yPred.includes(1)) return;
  const labelsOf = (source: ColumnSource, name: string): Set<string> =>
    new Set(Table.from({ [name]: source }).categorical(name).labels);
  const known = labelsOf(rows.yTrue, 'yTrue');
  if ([...labelsOf(rows.yPred, 'yPred')].every((label) => known.has(label))) return;
  throw new DataValidationError(
    `No row of yPred holds the positive label '${positiveLabel}', and its labels are not those of yTrue.`,
    {
      context: { argument: 'yPred', positiveLabel },
      suggestion: 'Use the same labels in both.',
    },
  );
}

/** A label without a single row is mistyped, or means nothing in that column. */
function assertLabelOccurs(positiveLabel: string, values: BinaryValues, name: string): void {
  if (values.includes(1) || !values.includes(0)) return;
  throw new DataValidationError(`No row of ${name} holds the positive label '${positiveLabel}'.`, {
    context: { argument: name, positiveLabel },
    suggestion: 'Check its spelling against the labels in the data.',
  });
}

import type { FileValidation } from './measure-attributes.ts';

/** The header of {@link labelRows}. */
export const LABEL_HEADER: readonly string[] = ['Column', 'Label', 'Counts as', 'Rows'];

/** Returns what labels were read as, one line for each label of each column, for the tables of reports. */
export function labelRows(labels: FileValidation['labels'] = {}): string[][] {
  const columns = [
    ['predictions', labels.y_pred],
    ['true labels', labels.y_true],
  ] as const;
  return columns.flatMap(([column, read]) =>
    read === undefined
      ? []
      : (['positive', 'negative', 'missing'] as const).flatMap((value) =>
          Object.entries(read[value]).map(([label, rows]) => [column, label, value, rows.toLocaleString('en-US')]),
        ),
  );
}

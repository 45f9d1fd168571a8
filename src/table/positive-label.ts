import { DataValidationError } from '../exceptions/index.ts';
import type { BinaryValues } from './to-binary.ts';

/** The positive labels of predictions and true labels. */
export interface PositiveLabelOptions {
  readonly positiveLabel?: string | undefined;
  /** The label of the true labels, if it differs. */
  readonly yTruePositiveLabel?: string | undefined;
}

/** The labels found in a column. */
export interface SearchedColumn {
  readonly hasPositive: boolean;
  /** Whether another label occurs. */
  readonly hasNegative: boolean;
  /** Whether the column is read by the positive label; a column of true and false needs none. */
  readonly isRead: boolean;
}

/** Returns what values of 0, 1 and missing say about the labels of a column. */
export function searchedColumn(values: BinaryValues, isRead: boolean): SearchedColumn {
  return { hasPositive: values.includes(1), hasNegative: values.includes(0), isRead };
}

/** A positive label that a column does not have. */
export interface AbsentLabel {
  readonly column: 'yPred' | 'yTrue';
  readonly label: string;
  /** Whether the label is that of both columns. Predictions may then lack it if their labels are true labels too. */
  readonly isShared: boolean;
}

/**
 * Finds a positive label without rows: it is mistyped, or belongs to the other column.
 * @param yPred undefined if decisions do not come from labels
 */
export function findAbsentLabel(
  { positiveLabel, yTruePositiveLabel }: PositiveLabelOptions,
  yTrue: SearchedColumn | undefined,
  yPred: SearchedColumn | undefined,
): AbsentLabel | undefined {
  if (yTrue !== undefined && yTruePositiveLabel !== undefined && isAbsent(yTrue)) {
    return { column: 'yTrue', label: yTruePositiveLabel, isShared: false };
  }
  if (positiveLabel === undefined) return undefined;
  const isShared = yTrue !== undefined && yTruePositiveLabel === undefined;
  // A column of true and false needs no positive label if the other column has it.
  if (isShared && (yPred?.isRead !== true || yTrue.isRead) && isAbsent(yTrue)) {
    return { column: 'yTrue', label: positiveLabel, isShared };
  }
  const isOptional = isShared && yPred?.isRead === false;
  if (yPred === undefined || isOptional || !isAbsent(yPred)) return undefined;
  return { column: 'yPred', label: positiveLabel, isShared };
}

function isAbsent({ isRead, hasPositive, hasNegative }: SearchedColumn): boolean {
  return !isRead || (!hasPositive && hasNegative);
}

/**
 * Returns the error for an absent label.
 * @param where the data, and the column if they have several: `'rows.csv'`, `column 'hired'`
 * @param labels those of the column
 */
export function absentLabelError(
  { label, isShared }: AbsentLabel,
  where: { readonly data: string; readonly column?: string; readonly argument?: string; readonly more?: string },
  labels: readonly string[],
): DataValidationError {
  const { data, column, argument, more = '' } = where;
  const inColumn = column === undefined ? '' : ` in column '${column}'`;
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  const hint = isShared ? ' If the true labels use another positive label, name it (yTruePositiveLabel).' : '';
  return new DataValidationError(`No row of ${data} holds the positive label '${label}'${inColumn}${more}.`, {
    code: 'unknown-label',
    context: {
      ...(column === undefined ? { argument } : { column }),
      positiveLabel: label,
      labels: labels.slice(0, 50),
    },
    suggestion: `The labels of ${column === undefined ? data : `'${column}'`} are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.${hint}`,
  });
}

import { DataValidationError } from '../exceptions/index.ts';
import { suggestLabel } from '../internal/arguments.ts';
import type { BinaryValues } from './to-binary.ts';

/** Labels of favourable decisions and a yes, in English, German, French and Spanish. */
const FAVOURABLE = new Set(
  `yes y approved accepted admitted granted hired selected offered good pass passed positive
  ja bewilligt genehmigt angenommen gut positiv oui accepte accorde si aprobado aceptado positivo`.split(/\s+/),
);

/** Returns whether a label names a favourable decision or a yes, such as 'hired'. */
export function isFavourable(label: string): boolean {
  return FAVOURABLE.has(withoutAccents(label.trim()));
}

/** Returns a text in lower case without accents, which files often leave out. */
export function withoutAccents(text: string): string {
  return text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '');
}

/** The positive labels of predictions and true labels. */
export interface PositiveLabelOptions {
  readonly positiveLabel?: string | undefined;
  /** The positive label in the column of true labels, if the predictions use another positive label. */
  readonly yTruePositiveLabel?: string | undefined;
}

/** Describes which labels occur in a column. */
export interface SearchedColumn {
  readonly hasPositive: boolean;
  /** Whether a label other than the positive label occurs. */
  readonly hasNegative: boolean;
  /** Whether the positive label was used to interpret the column. A column of true and false does not use it. */
  readonly isRead: boolean;
}

/**
 * Returns whether the positive label and other labels occur in a column, given the column's values: 0, 1 or missing.
 */
export function searchedColumn(values: BinaryValues, isRead: boolean): SearchedColumn {
  return { hasPositive: values.includes(1), hasNegative: values.includes(0), isRead };
}

/** A positive label that does not occur in its column. */
export interface AbsentLabel {
  readonly column: 'yPred' | 'yTrue';
  readonly label: string;
  /**
   * Whether predictions and true labels use the same positive label. In that case, the label may be absent from the
   * predictions if all labels of the predictions occur among the true labels.
   */
  readonly isShared: boolean;
}

/**
 * Finds a positive label that does not occur in any row. Such a label is mistyped or belongs to the other column.
 * @param yPred the column of decisions; undefined if the decisions are not computed from labels
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
  // A column of true and false needs no positive label if the positive label occurs in the other column.
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
 * Returns the error for a positive label that does not occur.
 * @param where the name of the data, and the column if the data have several columns: `'rows.csv'`, `column 'hired'`
 * @param labels the labels of the column
 */
export function absentLabelError(
  { label, isShared }: AbsentLabel,
  where: { readonly data: string; readonly column?: string; readonly argument?: string; readonly more?: string },
  labels: readonly string[],
): DataValidationError {
  const { data, column, argument, more = '' } = where;
  const inColumn = column === undefined ? '' : ` in column '${column}'`;
  const shown = labels.slice(0, 8).map((known) => `'${known}'`);
  const near = suggestLabel(label, labels);
  const hint = isShared ? ' If the true labels use another positive label, name it (yTruePositiveLabel).' : '';
  return new DataValidationError(`No row of ${data} holds the positive label '${label}'${inColumn}${more}.`, {
    code: 'unknown-label',
    context: {
      ...(column === undefined ? { argument } : { column }),
      positiveLabel: label,
      labels: labels.slice(0, 50),
    },
    suggestion: `${near === '' ? '' : `${near} `}The labels of ${column === undefined ? data : `'${column}'`} are ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.${hint}`,
  });
}

import {
  absentLabelError,
  type BinaryValues,
  type ColumnSource,
  findAbsentLabel,
  type PositiveLabelOptions,
  readLabels,
  type SearchedColumn,
  searchedColumn,
} from '../../table/index.ts';

/** The labels and decisions as the caller gave them. */
interface LabelledRows extends PositiveLabelOptions {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Checks that the positive labels occur in the columns.
 * @throws {DataValidationError} if no label equals a positive label, or the predictions and the true labels use
 *   different labels
 */
export function assertLabelsOccur(rows: LabelledRows, yTrue: BinaryValues | undefined, yPred: BinaryValues): void {
  const { positiveLabel, yTruePositiveLabel, naValues } = rows;
  if (positiveLabel === undefined && yTruePositiveLabel === undefined) return;
  const search = (source: ColumnSource, values: BinaryValues, label: string | undefined): SearchedColumn =>
    searchedColumn(
      values,
      !mayHoldBooleans(source) || readLabels(source, 'labels', label, naValues).rule.positiveLabel !== undefined,
    );
  const ofTruth =
    rows.yTrue === undefined ? undefined : search(rows.yTrue, yTrue ?? yPred, yTruePositiveLabel ?? positiveLabel);
  const absent = findAbsentLabel(rows, ofTruth, search(rows.yPred, yPred, positiveLabel));
  if (absent === undefined) return;
  const { column } = absent;
  const labels = labelsOf(rows[column] ?? rows.yPred, naValues);
  if (column === 'yTrue' || !absent.isShared)
    throw absentLabelError(absent, { data: column, argument: column }, labels);
  const known = new Set(labelsOf(rows.yTrue ?? rows.yPred, naValues));
  if (labels.every((label) => known.has(label))) return;
  const more = ', and yTrue uses other labels';
  throw absentLabelError(absent, { data: column, argument: column, more }, labels);
}

/**
 * Returns whether a column may hold booleans. The check is cheap. Only columns that may hold booleans are read a second
 * time.
 */
function mayHoldBooleans(source: ColumnSource): boolean {
  if (ArrayBuffer.isView(source)) return false;
  if (!Array.isArray(source)) return !('kind' in source) || source.kind === 'categorical';
  return !source.some((value) => typeof value === 'number');
}

/** Returns the labels of a column, without texts that are missing values. */
function labelsOf(source: ColumnSource, naValues: readonly string[] | undefined): string[] {
  const { column, rule } = readLabels(source, 'labels', undefined, naValues);
  return column.labels.filter((label) => !rule.missing.has(label));
}

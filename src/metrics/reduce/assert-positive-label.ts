import { DataValidationError } from '../../exceptions/index.ts';
import { type BinaryValues, type ColumnSource, readLabels } from '../../table/index.ts';

/** Labels and decisions as given. */
interface LabelledRows {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  readonly positiveLabel?: string | undefined;
  readonly yTruePositiveLabel?: string | undefined;
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Checks that a positive label occurs in the data.
 * @throws {DataValidationError} if no label equals it, or the predictions and the true labels use different labels
 */
export function assertPositiveLabel(rows: LabelledRows, yTrue: BinaryValues | undefined, yPred: BinaryValues): void {
  const { positiveLabel, yTruePositiveLabel } = rows;
  if (rows.yTrue !== undefined && yTruePositiveLabel !== undefined) {
    assertLabelOccurs(rows.yTrue, yTrue ?? yPred, 'yTrue', yTruePositiveLabel, rows);
  }
  if (positiveLabel === undefined) return;
  const readsBooleans = (source: ColumnSource): boolean =>
    mayHoldBooleans(source) && ownRule(source, positiveLabel, rows) === undefined;
  const predictsBooleans = readsBooleans(rows.yPred);
  if (rows.yTrue === undefined || yTruePositiveLabel !== undefined) {
    assertLabelOccurs(rows.yPred, yPred, 'yPred', positiveLabel, rows);
    return;
  }
  // A column of true and false needs no positive label if the other column has it.
  if (predictsBooleans || !readsBooleans(rows.yTrue)) {
    assertLabelOccurs(rows.yTrue, yTrue ?? yPred, 'yTrue', positiveLabel, rows);
  }
  if (!predictsBooleans) assertSameLabels(rows, yPred, positiveLabel);
}

/** Returns whether a column may hold booleans. A cheap check, so that only such columns are read again. */
function mayHoldBooleans(source: ColumnSource): boolean {
  if (ArrayBuffer.isView(source)) return false;
  if (!Array.isArray(source)) return !('kind' in source) || source.kind === 'categorical';
  return !source.some((value) => typeof value === 'number');
}

/** Returns the positive label that applies to a column, or undefined if its labels need none. */
function ownRule(source: ColumnSource, positiveLabel: string, { naValues }: LabelledRows): string | undefined {
  return readLabels(source, 'labels', positiveLabel, naValues).rule.positiveLabel;
}

/**
 * Checks that predictions use the labels of the truth. A model may predict no positives, but then its labels must be
 * those of the truth.
 */
function assertSameLabels(rows: LabelledRows, yPred: BinaryValues, positiveLabel: string): void {
  if (rows.yTrue === undefined || yPred.includes(1)) return;
  const known = new Set(labelsOf(rows.yTrue, rows));
  if (labelsOf(rows.yPred, rows).every((label) => known.has(label))) return;
  throw new DataValidationError(
    `No row of yPred holds the positive label '${positiveLabel}', and its labels are not those of yTrue.`,
    {
      code: 'unknown-label',
      context: { argument: 'yPred', positiveLabel },
      suggestion: 'Use the same labels in both, or set the positive label of yTrue separately (yTruePositiveLabel).',
    },
  );
}

/** Checks that the positive label occurs. A label without rows is mistyped, or belongs to another column. */
function assertLabelOccurs(
  source: ColumnSource,
  values: BinaryValues,
  name: 'yPred' | 'yTrue',
  positiveLabel: string,
  rows: LabelledRows,
): void {
  const isRead = !mayHoldBooleans(source) || ownRule(source, positiveLabel, rows) !== undefined;
  if (isRead && (values.includes(1) || !values.includes(0))) return;
  const labels = labelsOf(source, rows);
  const shown = labels.slice(0, 8).map((label) => `'${label}'`);
  const ofTruth =
    name === 'yTrue' && rows.yTruePositiveLabel === undefined
      ? ' If yTrue uses different labels, set its own positive label (yTruePositiveLabel).'
      : '';
  throw new DataValidationError(`No row of ${name} holds the positive label '${positiveLabel}'.`, {
    code: 'unknown-label',
    context: { argument: name, positiveLabel, labels: labels.slice(0, 50) },
    suggestion: `Check its spelling against the labels in the data: ${shown.join(', ')}${labels.length > 8 ? ', …' : ''}.${ofTruth}`,
  });
}

/** Returns the labels of a column, without texts that are missing values. */
function labelsOf(source: ColumnSource, { naValues }: LabelledRows): string[] {
  const { column, rule } = readLabels(source, 'labels', undefined, naValues);
  return column.labels.filter((label) => !rule.missing.has(label));
}

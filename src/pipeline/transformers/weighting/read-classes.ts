import { DataValidationError } from '../../../exceptions/index.ts';
import { suggestNames } from '../../../internal/arguments.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { readGroups } from '../read-columns.ts';

/**
 * Reads the class of each row from its label. If a positive label is named, the classes are '0' and '1'.
 * @param isFit whether the positive label must occur in the rows
 * @throws {DataValidationError} if the column does not exist, or no row has the positive label
 */
export function readClasses(
  table: Table,
  label: string,
  positiveLabel: string | undefined,
  isFit = true,
): CategoricalColumn {
  const { codes, labels } = readGroups(table, label);
  if (isFit && labels.length === 0) throw withoutLabels(label);
  if (positiveLabel === undefined) return { kind: 'categorical', codes, labels };
  const positive = labels.indexOf(positiveLabel);
  if (isFit && positive < 0) throw noPositive(label, positiveLabel, labels);
  return {
    kind: 'categorical',
    codes: codes.map((code) => (code < 0 ? -1 : Number(code === positive))),
    labels: ['0', '1'],
  };
}

function withoutLabels(column: string): DataValidationError {
  return new DataValidationError(`No row has a value of the label column '${column}'.`, {
    code: 'empty-data',
    context: { argument: 'label', column },
    suggestion: 'Provide rows whose labels are known, or omit the label.',
  });
}

function noPositive(column: string, positiveLabel: string, labels: readonly string[]): DataValidationError {
  return new DataValidationError(`No row of column '${column}' has the positive label '${positiveLabel}'.`, {
    code: 'unknown-label',
    context: { argument: 'positiveLabel', column, value: positiveLabel },
    suggestion: suggestNames(positiveLabel, labels, 'labels'),
  });
}

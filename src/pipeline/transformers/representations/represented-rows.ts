import { DataValidationError } from '../../../exceptions/index.ts';
import type { CategoricalColumn, Table } from '../../../table/index.ts';
import { readFeature } from '../read-columns.ts';
import type { PrototypeRows } from './prototype-objective.ts';
import { type ColumnScale, scaleColumn } from './scale-column.ts';

/** A feature that is represented. */
export interface ScaledFeature extends ColumnScale {
  readonly feature: string;
}

/** The columns that vary, with their scales; the others by what they always are. */
export function scaleFeatures(table: Table, names: readonly string[]): ScaledFeature[] {
  return names.map((feature) => ({ feature, ...scaleColumn(readFeature(table, feature)) }));
}

/** Values in units of their columns' spreads, [rows, columns]; a missing one is its column's mean. */
export function scaledMatrix(table: Table, features: readonly ScaledFeature[]): Float64Array {
  const width = features.length;
  const matrix = new Float64Array(table.rowCount * width);
  features.forEach(({ feature, mean, scale }, place) => {
    readFeature(table, feature).forEach((value, row) => {
      matrix[row * width + place] = Number.isNaN(value) ? 0 : (value - mean) / scale;
    });
  });
  return matrix;
}

/**
 * The rows that have a group and a label, ready to be represented.
 * @throws {DataValidationError} where there are none, or more than two classes
 */
export function representedRows(
  table: Table,
  features: readonly ScaledFeature[],
  {
    groups,
    classes,
    weights,
  }: { groups: CategoricalColumn; classes: CategoricalColumn; weights: Float64Array | undefined },
): PrototypeRows {
  assertTwoClasses(classes);
  const rows = Int32Array.from(groups.codes.keys()).filter(
    (row) => (groups.codes[row] as number) >= 0 && (classes.codes[row] as number) >= 0,
  );
  if (rows.length === 0) throw noRows();
  const codes = denseCodes(rows, groups);
  return {
    x: scaledMatrix(table.take(rows), features),
    columns: features.length,
    // With one class only, it is the class 0 whatever its name: the loss has no preference.
    y: Float64Array.from(rows, (row) => classes.codes[row] as number),
    groups: codes.groups,
    groupCount: codes.count,
    weights: Float64Array.from(rows, (row) => weights?.[row] ?? 1),
  };
}

/** The groups of some rows, numbered without gaps. */
function denseCodes(rows: Int32Array, { codes, labels }: CategoricalColumn): { groups: Int32Array; count: number } {
  const occurring = new Set(Array.from(rows, (row) => codes[row] as number));
  const codeOf = new Map(
    labels.flatMap((_, code) => (occurring.has(code) ? [code] : [])).map((code, place) => [code, place] as const),
  );
  return { groups: rows.map((row) => codeOf.get(codes[row] as number) as number), count: codeOf.size };
}

function assertTwoClasses({ labels }: CategoricalColumn): void {
  if (labels.length <= 2) return;
  throw new DataValidationError(`The label column has ${String(labels.length)} values; two are needed.`, {
    context: { argument: 'label', labels: labels.slice(0, 12) },
    suggestion:
      'Name the positiveLabel, and every other one counts as negative; a target of numbers cannot be used, only a label of two classes.',
  });
}

function noRows(): DataValidationError {
  return new DataValidationError('No row has both a group and a label.', {
    context: { argument: 'data' },
    suggestion: 'Give rows whose sensitive values and labels are known.',
  });
}

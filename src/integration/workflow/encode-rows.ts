import { TrainingError } from '../../exceptions/index.ts';
import type { Table } from '../../table/index.ts';
import { encodedWidth, encodeFeatures, type FeatureSpec } from '../../training/data/feature-encoder.ts';
import type { EncodedRows } from './methods/training-method.ts';

/** Applies an encoding that was learned before. */
export function encodeRows(table: Table, specs: readonly FeatureSpec[]): EncodedRows {
  const own = table.select(specs.map(({ name }) => name));
  return {
    table: own,
    x: { rows: own.rowCount, columns: encodedWidth(specs), values: encodeFeatures(own, specs) },
  };
}

/**
 * The part of an encoding whose columns are still there after the pipeline.
 * @throws {TrainingError} where none is left
 */
export function remainingFeatures(specs: readonly FeatureSpec[], table: Table): readonly FeatureSpec[] {
  const remaining = specs.filter(({ name }) => table.has(name));
  if (remaining.length > 0) return remaining;
  throw new TrainingError('The pipeline dropped every feature, so that nothing is left to train on.', {
    context: { features: specs.map(({ name }) => name) },
    suggestion: 'Raise the threshold of ProxyDropper, or bound it by max_drop.',
  });
}

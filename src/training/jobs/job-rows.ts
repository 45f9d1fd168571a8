import { DataValidationError } from '../../exceptions/index.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { assertComparable, joinRows, smallGroups, type Split, splitRows, unseenGroups } from '../data/row-splits.ts';
import { readTrainingData, type TrainingData, type TrainingRows, type TrainingSource } from '../data/training-data.ts';
import { holdsOnlyModel } from '../models/model-card.ts';
import type { FilledJobOptions } from './job-options.ts';

/** The rows of a job, parted. */
export interface JobRows {
  readonly training: TrainingData;
  /** One, or one per fold. */
  readonly splits: readonly Split[];
  /** With folds, the rows that the model that is kept learns from: all. */
  readonly whole: TrainingRows | undefined;
  /** Groups that cannot be compared or constrained, in words. */
  readonly warnings: readonly string[];
}

/**
 * Reads a source and parts its rows into those trained on and those held out,
 * stratified by target and group. What can fail before the work fails here: the
 * place of the model too.
 * @throws {DataValidationError} for data that cannot be learned from or compared, or a place that cannot be written
 */
export async function prepareJob(source: TrainingSource, options: FilledJobOptions): Promise<JobRows> {
  options.signal?.throwIfAborted();
  const { modelPath, minGroupSize, trainSize, folds, seed } = options;
  if (modelPath !== undefined) {
    assertReplaceable(modelPath, holdsOnlyModel);
    await assertWritable(modelPath);
  }
  const training = readTrainingData(source);
  const splits = splitRows(training, { trainSize, folds, seed });
  if (splits.some(({ train }) => train.y.length === 0)) throw tooFew(training.rows.y.length);
  // Test rows of another file may lack a column, which is better known before the training.
  for (const { test } of splits) test.table.select(training.features);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, minGroupSize);
  const warnings = [
    ...training.warnings,
    ...unseenGroups(training, 'constraint'),
    ...smallGroups(joinRows(heldOut), minGroupSize),
  ];
  return { training, splits, whole: folds === undefined ? undefined : training.rows, warnings };
}

function tooFew(rows: number): DataValidationError {
  return new DataValidationError(`There are too few rows to train on: ${String(rows)}.`, {
    context: { rows },
    suggestion: 'Training and testing each need rows; give at least a few dozen.',
  });
}

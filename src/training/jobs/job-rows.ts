import { DataValidationError } from '../../exceptions/index.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { assertComparable, joinRows, smallGroups, type Split, splitRows, unseenGroups } from '../data/row-splits.ts';
import { readTrainingData, type TrainingData, type TrainingRows, type TrainingSource } from '../data/training-data.ts';
import { holdsOnlyModel } from '../models/model-card.ts';
import type { FilledJobOptions } from './job-options.ts';

/** The rows of a job, split for training and testing. */
export interface JobRows {
  readonly training: TrainingData;
  /** A single split, or one per fold. */
  readonly splits: readonly Split[];
  /** All rows, on which the returned model is trained; undefined without folds. */
  readonly complete: TrainingRows | undefined;
  /** Warnings about groups that cannot be compared or constrained. */
  readonly warnings: readonly string[];
}

/**
 * Reads a source and splits its rows into training and held-out rows, stratified by target and group. Checks
 * everything that can fail before training, including the model's path.
 * @throws {DataValidationError} if the data cannot be fitted or compared, or the path cannot be written
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
  // Test rows from another file may lack a column. This is reported before training.
  for (const { test } of splits) test.table.select(training.features);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, minGroupSize);
  const warnings = [
    ...training.warnings,
    ...unseenGroups(training, 'constraint'),
    ...smallGroups(joinRows(heldOut), minGroupSize),
  ];
  return { training, splits, complete: folds === undefined ? undefined : training.rows, warnings };
}

function tooFew(rows: number): DataValidationError {
  return new DataValidationError(`There are too few rows to train on: ${String(rows)}.`, {
    code: 'too-few-rows',
    context: { rows },
    suggestion: 'Training and testing each need rows; provide at least a few dozen.',
  });
}

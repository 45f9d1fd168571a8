import { DataValidationError, type ValueError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { onHost } from '../../table/index.ts';
import { assertComparable, joinRows, smallGroups, splitRows, unseenGroups } from '../data/row-splits.ts';
import { isStreamSource } from '../data/stream-training.ts';
import { readTrainingData, type TrainingRows, type TrainingSource } from '../data/training-data.ts';
import { type DecisionQuality, judgeDecisions } from '../decision-quality.ts';
import { holdsOnlyModel } from '../models/model-card.ts';
import type { FilledJobOptions } from './job-options.ts';
import type { JobRows, JudgedModels } from './job-result.ts';

/**
 * Reads a source and splits its rows into training and held-out rows, stratified by target and group. Performs all
 * checks that are possible before training, including a check of the model's path.
 * @throws {DataValidationError} if the data cannot be fitted or compared, or the path cannot be written
 */
export async function prepareJob(source: TrainingSource, options: FilledJobOptions): Promise<JobRows> {
  options.signal?.throwIfAborted();
  const { minGroupSize, trainSize, folds, seed } = options;
  if (isStreamSource(source)) throw needsTable(source.source);
  await assertModelPath(options);
  const training = readTrainingData(await onHost(source));
  const splits = splitRows(training, { trainSize, folds, seed });
  if (splits.some(({ train }) => train.y.length === 0)) throw tooFew(training.rows.y.length);
  // Test rows from another file may lack a column. A missing column is reported before training.
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

function needsTable(source: unknown): ValueError {
  return invalidParameter('source', 'be left out, because this trainer needs all rows in memory: give table', source);
}

/** Checks before training that the model can be saved, so that the result is not lost. */
export async function assertModelPath({ modelPath }: Pick<FilledJobOptions, 'modelPath'>): Promise<void> {
  if (modelPath === undefined) return;
  assertReplaceable(modelPath, holdsOnlyModel);
  await assertWritable(modelPath);
}

function tooFew(rows: number): DataValidationError {
  return new DataValidationError(`There are too few rows to train on: ${String(rows)}.`, {
    code: 'too-few-rows',
    context: { rows },
    suggestion: 'Training and testing each need rows. Provide at least a few dozen rows.',
  });
}

/** For both models, the probability that each row gets the decision 1. */
export interface JobDecisions {
  readonly baseline: ArrayLike<number>;
  readonly final: ArrayLike<number>;
}

/** The two models of a job, which are fitted on the same rows. */
interface JobFit {
  readonly warnings: readonly string[];
  decide(rows: TrainingRows): Promise<JobDecisions>;
}

/** A function that fits both models of a job. */
type FitModels<Fit extends JobFit> = (train: TrainingRows, onProgress: OnProgress | undefined) => Promise<Fit>;

/**
 * Fits and evaluates the models of a job on held-out rows. If there are folds, the models are fitted once per fold, and
 * all held-out rows are evaluated together. The returned models are then fitted on all rows.
 */
export async function fitJob<Fit extends JobFit>(
  { splits, complete }: JobRows,
  options: FilledJobOptions,
  fit: FitModels<Fit>,
): Promise<{ readonly kept: Fit; readonly judged: JudgedModels; readonly warnings: readonly string[] }> {
  const parts = splits.length + Number(complete !== undefined);
  const heldOut: JobDecisions[] = [];
  const warnings = new Set<string>();
  let kept: Fit | undefined;
  for (const [index, { train, test }] of splits.entries()) {
    kept = await fit(train, partOf(options.onProgress, index, parts));
    heldOut.push(await kept.decide(test));
    for (const warning of kept.warnings) warnings.add(warning);
  }
  if (complete !== undefined) {
    kept = await fit(complete, partOf(options.onProgress, parts - 1, parts));
    for (const warning of kept.warnings) warnings.add(warning);
  }
  const fitted = complete ?? splits[0]?.train;
  if (kept === undefined || fitted === undefined) throw new TypeError('a job has a split');
  const join = (model: keyof JobDecisions): Float64Array =>
    Float64Array.from(heldOut.flatMap((decisions) => Array.from(decisions[model])));
  const test = joinRows(splits.map((split) => split.test));
  const own = await kept.decide(fitted);
  const judge = (probabilities: ArrayLike<number>, rows: Pick<TrainingRows, 'y' | 'groups'>): DecisionQuality =>
    judgeDecisions(probabilities, rows.y, rows.groups, options);
  return {
    kept,
    judged: {
      baseline: judge(join('baseline'), test),
      final: judge(join('final'), test),
      train: Object.freeze({ baseline: judge(own.baseline, fitted), final: judge(own.final, fitted) }),
    },
    warnings: [...warnings],
  };
}

/**
 * Returns a callback that receives the progress of one part of a job and reports the progress of the whole job. All
 * parts count equally.
 */
export function partOf(
  onProgress: OnProgress | undefined,
  part: number,
  parts: number,
  stage?: string,
): OnProgress | undefined {
  if (onProgress === undefined) return undefined;
  return ({ stage: own, done, total }) => {
    onProgress({ stage: stage ?? own, done: part * total + done, total: parts * total });
  };
}

import type { Command } from 'commander';

import { DEFAULT_MIN_GROUP_SIZE } from '../schemas/min-group-size.ts';
import type { TrainingSource } from '../training/data/training-data.ts';
import type { DecisionQuality } from '../training/decision-quality.ts';
import type { TrainingJobResult } from '../training/jobs/job-result.ts';
import {
  NA_VALUES_HELP,
  parseCrossing,
  parseNames,
  parseNumber,
  parseTexts,
  requireOptions,
} from './option-parsers.ts';
import { assertDistinct, assertInputsKept } from './output-places.ts';
import { change, count, number, type OutputOptions, prepareLogs, print, range, remark, textTable } from './output.ts';

/** Options of every command that trains on a table. */
export interface TrainingJobCommandOptions extends OutputOptions {
  readonly csv: string;
  readonly testCsv?: string;
  readonly target: string;
  readonly positiveLabel?: string;
  readonly naValues?: readonly string[];
  readonly sensitive?: readonly string[];
  readonly features?: readonly string[];
  readonly outJson?: string;
  readonly saveModel?: string;
}

/** Adds the options for the rows to learn from to a command. */
export function withSourceOptions(command: Command): Command {
  return command
    .option('--csv <path>', 'file with the rows: CSV, TSV (also .gz) or Parquet')
    .option('--test-csv <path>', 'file with the rows to evaluate on, instead of a part of --csv')
    .option('--target <column>', 'column to predict: 0 and 1, or text with two values', 'y')
    .option('--positive-label <label>', 'label of --target that counts as 1 (default: the less frequent one)')
    .option('--na-values <texts>', NA_VALUES_HELP, parseTexts)
    .option(
      '--sensitive <columns>',
      'sensitive column, or a comma-separated list to intersect; not used as a feature (default: s)',
      parseCrossing,
    )
    .option('--features <columns>', 'comma-separated list of columns to learn from (default: all others)', parseNames);
}

/** Adds the options for the split of the rows and for the outputs to a command. */
export function withJobOptions(command: Command): Command {
  return command
    .option('--train-size <share>', 'share of rows to train on (default: 0.8)', parseNumber)
    .option(
      '--folds <n>',
      'cross-fit with this many folds instead: every row is held out once; for small data (the saved model is trained on all rows)',
      parseNumber,
    )
    .option(
      '--min-group-size <n>',
      `minimum held-out rows of a group; smaller groups are excluded from gaps (default: ${String(DEFAULT_MIN_GROUP_SIZE)})`,
      parseNumber,
    )
    .option('--backend <name>', 'tensor backend: auto, node-gpu, webgpu, node, wasm or cpu (default: auto)')
    .option('--seed <n>', 'seed of the split and all other random numbers (default: 42)', parseNumber)
    .option('--out-json <path>', 'write the result as JSON')
    .option(
      '--save-model <folder>',
      'folder in which to save the constrained model, for TensorFlow.js and evenhand predict, with a model card',
    );
}

/** The parts of a training command: parse the options, run the job, describe the result. */
export interface TrainingJobCommand<Options, Result extends TrainingJobResult> {
  /** Checks the options before any data are read. */
  parse(options: TrainingJobCommandOptions): Promise<Options>;
  run(source: TrainingSource, options: Options): Promise<Result>;
  toJson(result: Result): Promise<Record<string, unknown>>;
  /** Returns sentences about the constraint and the cost of the training. */
  describe(result: Result, seconds: number): readonly string[];
}

/** Runs a training job: reads the input files, trains, and writes the outputs that the options name. */
export async function runTrainingJob<Options, Result extends TrainingJobResult>(
  options: TrainingJobCommandOptions,
  job: TrainingJobCommand<Options, Result>,
): Promise<void> {
  requireOptions(options, ['csv']);
  await prepareLogs(options);
  const start = performance.now();
  const parsed = await job.parse(options);
  await assertOutputs(options);
  const result = await job.run(await loadSource(options), parsed);
  const seconds = (performance.now() - start) / 1000;
  const body = `${JSON.stringify({ ...(await job.toJson(result)), seconds }, undefined, 2)}\n`;
  if (options.outJson !== undefined) {
    const { writeFileAtomic } = await import('../io/atomic-write.ts');
    await writeFileAtomic(options.outJson, body);
  }
  if (options.json === true) process.stdout.write(body);
  else print(describeJob(result, job.describe(result, seconds)));
  for (const path of [options.outJson, options.saveModel]) {
    if (path !== undefined) remark(`Wrote ${path}`, options);
  }
}

/** Reads the rows from the files that the options name. */
export async function loadSource(options: TrainingJobCommandOptions): Promise<TrainingSource> {
  const { loadData } = await import('../io/load-data.ts');
  const { target, sensitive, features, positiveLabel, naValues, testCsv } = options;
  const labels = sensitive ?? ['s'];
  const table = await loadData(options.csv, { labels });
  // Reads only the columns of the training rows, so that an error about a missing column names the test file.
  const testTable = testCsv === undefined ? undefined : await loadData(testCsv, { columns: table.columnNames, labels });
  return { table, target, sensitive, features, positiveLabel, naValues, testTable };
}

/** Checks the output paths before the training starts, so that a bad path does not lose the result. */
async function assertOutputs({ csv, testCsv, outJson, saveModel }: TrainingJobCommandOptions): Promise<void> {
  const { assertFileWritable } = await import('../io/atomic-write.ts');
  const outputs = [outJson, saveModel].filter((path) => path !== undefined);
  assertDistinct(outputs);
  assertInputsKept(outputs, [csv, testCsv]);
  if (outJson !== undefined) await assertFileWritable(outJson);
}

/** The maximum number of groups in the table of groups; with more groups the table is omitted. */
const MAX_GROUPS = 16;

function describeJob(result: TrainingJobResult, sentences: readonly string[]): string {
  const { target, positiveLabel, sensitive, folds, nTrain, nTest, nDropped, warnings } = result;
  const outcome = positiveLabel === null ? `'${target}'` : `'${target}' = '${positiveLabel}' as positive`;
  const by = sensitive.map((name) => `'${name}'`).join(' x ');
  const how =
    folds === null
      ? `${count(nTrain)} rows trained on, ${count(nTest)} held out`
      : `${count(nTest)} rows, cross-fitted in ${String(folds)} folds`;
  return [
    `Predicting ${outcome}, by ${by}: ${how}.`,
    ...(nDropped > 0 ? [`${count(nDropped)} rows without a target or group were excluded.`] : []),
    '',
    textTable(
      ['', 'unconstrained', '95%', 'constrained', '95%', 'change'],
      [
        ...measures(result.baseline, result.final, ''),
        ...measures(result.train.baseline, result.train.final, ', training rows'),
      ],
    ),
    '',
    ...groupTable(result),
    ...sentences,
    ...warnings.map((warning) => `Note: ${warning}.`),
  ].join('\n');
}

function measures(before: DecisionQuality, after: DecisionQuality, where: string): string[][] {
  const row = (name: string, key: 'accuracy' | 'dpDiff' | 'eoDiff'): string[] => [
    `${name}${where}`,
    number(before[key]),
    range(before[`${key}Ci`]),
    number(after[key]),
    range(after[`${key}Ci`]),
    change(after[key] - before[key]),
  ];
  return [row('accuracy', 'accuracy'), row('DP diff', 'dpDiff'), row('EO diff', 'eoDiff')];
}

/** Returns a table of each group's rates on held-out rows, without and with the constraint. */
function groupTable({ baseline, final }: TrainingJobResult): string[] {
  if (final.groups.length > MAX_GROUPS) return [];
  const rows = final.groups.map((after, index) => {
    const before = baseline.groups[index] ?? after;
    const pair = (key: 'selectionRate' | 'truePositiveRate' | 'falsePositiveRate'): string[] => [
      number(before[key], 3),
      number(after[key], 3),
    ];
    return [
      after.group,
      count(after.n),
      ...pair('selectionRate'),
      ...pair('truePositiveRate'),
      ...pair('falsePositiveRate'),
    ];
  });
  return [
    textTable(['group', 'held out', 'selected', '→', 'true positives', '→', 'false positives', '→'], rows),
    '',
    'The columns → show the rate with the constraint.',
  ];
}

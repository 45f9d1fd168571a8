import { stat } from 'node:fs/promises';

import type { Command } from 'commander';

import { bracketText, capital, formatChange, formatCount, formatNumber } from '../internal/format.ts';
import type { OnProgress } from '../internal/progress.ts';
import {
  briefReport,
  noteBlocks,
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportTable,
  valueColumn,
} from '../document/report-document.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import type { StreamTrainingSource } from '../training/data/stream-training.ts';
import type { TrainingSource } from '../training/data/training-data.ts';
import type { DecisionQuality } from '../training/decision-quality.ts';
import type { TrainingJobResult } from '../training/jobs/job-result.ts';
import { type CommandParts, defineCommand, OPTION } from './define-command.ts';
import { parseCrossing } from './option-parsers.ts';
import { assertOutputs } from './output-places.ts';
import { type OutputOptions, printResult, remark, remarkWritten } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { assertOneSource, SQL_OPTIONS, type SqlOptions } from './sql-rows.ts';

/** The fields common to all training results. */
type TrainedResult = Pick<
  TrainingJobResult,
  'target' | 'positiveLabel' | 'sensitive' | 'folds' | 'nTrain' | 'nTest' | 'nDropped' | 'warnings'
>;

/** Options of every command that trains on a table. */
interface TrainingCommandOptions
  extends OutputOptions, SqlOptions, Omit<TrainingSource, 'table' | 'testTable' | 'sensitive'> {
  readonly csv?: FoundFiles;
  readonly testCsv?: FoundFiles;
  readonly sensitive?: readonly string[];
  readonly outJson?: string;
  readonly outPlot?: string;
  readonly saveModel?: string;
  readonly inBlocks?: boolean;
}

/** The options that select the training data. */
const SOURCE_OPTIONS = `${OPTION.csv}
--test-csv <data>  rows to evaluate on, instead of a part of --csv; the same forms as --csv
--target <column>  column to predict: 0 and 1, or text with two values (default: "y")
--positive-label <label>  label of --target that counts as 1 (default: the less frequent label)
${OPTION.naValues}
--sensitive <columns>  sensitive column, or a comma-separated list to intersect; not used as a feature (default: s)
--features <columns>  comma-separated list of columns to learn from (default: all other columns)`;

/** The options of rows that do not need to fit into memory. */
const STREAM_OPTIONS = `${SQL_OPTIONS}
--in-blocks  read the rows in blocks through a temporary file, so that they need not fit into memory (default: for --sql, and for files with more than 50 million values)`;

/** The options for the train/test split and the outputs. */
export const JOB_OPTIONS = `${OPTION.trainSize}
--folds <n>  cross-fit with this many folds instead of one split, so that every row is held out once; for small data (the saved model is trained on all rows)
${OPTION.minGroupSize}
${OPTION.backend}
--seed <n>  seed of the split and all other random numbers (default: 42)
--out-json <path>  write the result as JSON
--save-model <folder>  folder in which to save the constrained model, for TensorFlow.js and evenhand predict, with a model card`;

/** The parts of a training command. The `options` of the command follow the options that select the training data. */
interface TrainingCommandParts<Options, Result extends TrainedResult> extends Pick<
  CommandParts<TrainingCommandOptions, Options>,
  'name' | 'description' | 'options' | 'parsers' | 'schema' | 'help'
> {
  /** The title of the result. */
  readonly title: string;
  /** Whether the trainer can read rows in blocks, from files or a database. */
  readonly takesStreams?: boolean;
  /** Loads the functions of the trainer. */
  readonly load: () => Promise<Trainer<Options, Result>>;
  /** Returns the report blocks that describe the result and the cost of the training. */
  readonly describe: (result: Result, seconds: number) => readonly ReportBlock[];
}

/** The functions of a trainer: training, the result as JSON, and optionally a plot of the result. */
interface Trainer<Options, Result> {
  readonly train: (
    source: never,
    options: Options & {
      readonly modelPath: string | undefined;
      readonly onProgress: OnProgress;
      readonly signal: AbortSignal | undefined;
    },
  ) => Promise<Result>;
  readonly toJson: (result: Result) => Record<string, unknown>;
  readonly plot?: (result: Result, options: { readonly savePath: string }) => Promise<unknown>;
}

/** Returns a command that reads the input files, trains, and writes the outputs that the options name. */
export function trainingCommand<Options, Result extends TrainedResult>({
  title,
  load,
  describe,
  takesStreams = false,
  ...parts
}: TrainingCommandParts<Options, Result>): Command {
  return defineCommand<TrainingCommandOptions, Options>({
    ...parts,
    options: [SOURCE_OPTIONS, ...(takesStreams ? [STREAM_OPTIONS] : []), parts.options ?? ''].join('\n'),
    parsers: { ...parts.parsers, sensitive: parseCrossing },
    required: [takesStreams ? 'csv|sql' : 'csv'],
    async run(options, request) {
      const { csv, testCsv, outJson, outPlot, saveModel } = options;
      const start = performance.now();
      if (takesStreams) assertOneSource(options, ['csv', 'sql']);
      if (outPlot !== undefined) (await import('../charts/render-chart.ts')).chartFormat(outPlot);
      await assertOutputs([outJson, outPlot], [csv, testCsv], [saveModel]);
      const { train, toJson, plot } = await load();
      const result = await withSource(options, takesStreams, (source, signal) =>
        // The source has the type that the trainer takes.
        train(source as never, { ...request, modelPath: saveModel, onProgress: progressBar(options), signal }),
      );
      const { target, sensitive } = result;
      const notes =
        csv === undefined || testCsv !== undefined
          ? []
          : await (
              await import('../integration/file-jobs.ts')
            ).heldOutNotes(csv, [target, ...sensitive, ...(options.features ?? [])]);
      const warnings = [...result.warnings, ...notes];
      const seconds = (performance.now() - start) / 1000;
      const body = { ...toJson(result), warnings, seconds };
      if (outJson !== undefined) {
        const { writeFileAtomic } = await import('../io/atomic-write.ts');
        await writeFileAtomic(outJson, `${JSON.stringify(body, undefined, 2)}\n`);
      }
      if (outPlot !== undefined) await plot?.(result, { savePath: outPlot });
      const text = (): ReportDocument => trainingDocument(title, result, warnings, describe(result, seconds));
      await printResult(options, { json: () => body, text });
      remarkWritten([outJson, outPlot, saveModel], options);
    },
  });
}

/** Rows to train on. */
type Source = TrainingSource | StreamTrainingSource;

/** Opens the rows that the options name, and runs work on them. */
async function withSource<T>(
  options: TrainingCommandOptions,
  takesStreams: boolean,
  work: (source: Source, signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const { csv, testCsv, sql, inBlocks, target, sensitive, features, positiveLabel, naValues } = options;
  const roles = { target, sensitive, features, positiveLabel, naValues };
  if (sql !== undefined) {
    const { onDatabase, openSql } = await import('./sql-rows.ts');
    return onDatabase(await openSql(sql, options), (source, signal) =>
      work({ source, testSource: testCsv, ...roles }, signal),
    );
  }
  const files = csv as FoundFiles;
  if (takesStreams && (inBlocks === true || (await isLarge(files)))) {
    if (inBlocks !== true)
      remark('The rows are many, so that they are read in blocks through a temporary file.', options);
    return work({ source: files, testSource: testCsv, ...roles });
  }
  const { loadTrainingSource } = await import('../integration/file-jobs.ts');
  return work(await loadTrainingSource({ csv: files, testCsv, ...roles }));
}

/** The numbers of bytes and of values above which files are read in blocks. */
const LARGE_BYTES = 500_000_000;
const LARGE_VALUES = 50_000_000;

async function isLarge(files: FoundFiles): Promise<boolean> {
  const sizes = await Promise.all(files.files.map(async ({ path }) => (await stat(path).catch(() => undefined))?.size));
  if (sizes.reduce<number>((sum, size = 0) => sum + size, 0) > LARGE_BYTES) return true;
  if (!files.files.every(({ path }) => path.endsWith('.parquet'))) return false;
  // Parquet files may hold many times as many values as bytes.
  const { tableSize } = await import('../io/load-data.ts');
  const { rows, columns } = await tableSize(files);
  return rows * columns > LARGE_VALUES;
}

/** The maximum number of groups for which the table of groups is shown. */
const MAX_GROUPS = 16;

/** Returns the result of a training for the terminal: the prediction task, the rows, the given blocks and warnings. */
function trainingDocument(
  title: string,
  result: TrainedResult,
  warnings: readonly string[],
  blocks: readonly ReportBlock[],
): ReportDocument {
  const { target, positiveLabel, sensitive, folds, nTrain, nTest, nDropped } = result;
  const how =
    folds === null
      ? `${formatCount(nTrain)} rows trained on, ${formatCount(nTest)} held out`
      : `${formatCount(nTest)} rows, cross-fitted in ${String(folds)} folds`;
  const dropped = nDropped > 0 ? ` ${formatCount(nDropped)} rows without a target or group were excluded.` : '';
  const notes = noteBlocks(
    'Notes',
    warnings.map((warning) => `${capital(warning)}.`),
  );
  const subject = `Predicting ${outcomeText(target, positiveLabel)}, by ${quoted(sensitive, ' x ')}: ${how}.${dropped}`;
  return briefReport({ title, subject, blocks: [...blocks, ...notes] });
}

/** Describes the outcome that a model predicts: "'y' = '1' as positive". */
export function outcomeText(target: string, positiveLabel: string | null): string {
  return positiveLabel === null ? `'${target}'` : `'${target}' = '${positiveLabel}' as positive`;
}

/** Returns names in quotation marks. */
export function quoted(names: readonly string[], separator: string): string {
  return names.map((name) => `'${name}'`).join(separator);
}

/** Returns tables that compare the models with and without the constraint, for all rows and for each group. */
export function comparisonTables(result: TrainingJobResult): ReportTable[] {
  return [
    comparisonTable('On held-out rows', result.baseline, result.final),
    comparisonTable('On the training rows', result.train.baseline, result.train.final),
    ...groupTable(result),
  ];
}

function comparisonTable(caption: string, before: DecisionQuality, after: DecisionQuality): ReportTable {
  const interval = numberColumn('95% interval');
  return {
    kind: 'table',
    caption,
    columns: [
      { name: '', wraps: true },
      valueColumn('Unconstrained'),
      interval,
      valueColumn('Constrained'),
      interval,
      numberColumn('Change'),
    ],
    rows: measures(before, after),
  };
}

function measures(before: DecisionQuality, after: DecisionQuality): string[][] {
  const row = (name: string, key: 'accuracy' | 'dpDiff' | 'eoDiff'): string[] => [
    name,
    formatNumber(before[key]),
    bracketText(before[`${key}Ci`]),
    formatNumber(after[key]),
    bracketText(after[`${key}Ci`]),
    formatChange(after[key] - before[key]),
  ];
  return [
    row('Accuracy', 'accuracy'),
    row('Demographic parity difference', 'dpDiff'),
    row('Equalized odds difference', 'eoDiff'),
  ];
}

/** Formats a change of a value: `0.250 → 0.200`. */
export function beforeAfter(before: number, after: number, digits: number): string {
  return `${formatNumber(before, digits)} → ${formatNumber(after, digits)}`;
}

/** Returns a table of each group's rates on held-out rows, without and with the constraint. */
function groupTable({ baseline, final }: TrainingJobResult): ReportTable[] {
  if (final.groups.length > MAX_GROUPS) return [];
  const rows = final.groups.map((after, index) => {
    const before = baseline.groups[index] ?? after;
    const pair = (key: 'selectionRate' | 'truePositiveRate' | 'falsePositiveRate'): string =>
      beforeAfter(before[key], after[key], 3);
    return [
      after.group,
      formatCount(after.n),
      pair('selectionRate'),
      pair('truePositiveRate'),
      pair('falsePositiveRate'),
    ];
  });
  const columns = ['Held out', 'Selection rate', 'True positive rate', 'False positive rate'];
  return [
    {
      kind: 'table',
      caption: 'Groups on held-out rows, without → with the constraint',
      columns: [{ name: 'Group' }, ...columns.map(numberColumn)],
      rows,
    },
  ];
}

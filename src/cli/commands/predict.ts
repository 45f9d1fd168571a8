import type { Command } from 'commander';
import type { z } from 'zod';

import type { FilePredictions } from '../../integration/predict-file.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { predictSchema } from '../../schemas/training-job.ts';
import type { Table } from '../../table/index.ts';
import { briefReport, noteBlocks, type ReportDocument } from '../../document/report-document.ts';
import { capital, counted, formatCount, formatNumber } from '../../internal/format.ts';
import { defineCommand, OPTION } from '../define-command.ts';
import { type OutputOptions, printResult, remarkWritten } from '../output.ts';
import { assertOutputs, outputTableFormat } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';

interface PredictCommandOptions extends OutputOptions {
  readonly model: string;
  readonly csv: FoundFiles;
  readonly outCsv: string;
  readonly rawCsv?: boolean;
}

/** Returns the command `evenhand predict`. */
export function predictCommand(): Command {
  return defineCommand({
    name: 'predict',
    options: `
--model <folder>  folder written by --save-model, or the model folder of run-pipeline
${OPTION.csv}
--out-csv <path>  write the rows with the columns score and prediction added: .csv, .tsv or .parquet
${OPTION.rawCsv}
--na-values <texts>  comma-separated list of texts that mean a missing value, in all columns (default: the list of the model's training)
--eta <number>  eta of the network to use, if the folder holds a sweep
--threshold <number>  decision threshold: scores of at least this become 1 (default: the model card's threshold, else 0.5)
--seed <n>  seed of the draw of a randomised model (default: the seed of its training)
--randomization <name>  how a randomised model draws: draw (by row number) or row (equal rows get equal predictions)
${OPTION.backend}`,
    required: ['model', 'csv', 'outCsv'],
    schema: async () => (await import('../../schemas/training-job.ts')).predictSchema,
    help: `
Examples:
  $ evenhand predict --model models/adult --csv applicants.csv --out-csv decisions.csv

  $ evenhand predict --model models/sweep --eta 0.5 --csv applicants.csv --out-csv decisions.csv --threshold 0.4
  $ evenhand validate --csv decisions.csv --y-pred prediction --sensitive sex

Models of train-reductions are randomised: score is the probability of a positive decision, and
prediction is one draw from it. The draw is the same for the same seed and rows. If the rows already
have a column score or prediction, the new column is called score_2 or prediction_2.`,
    async run(options: PredictCommandOptions, request) {
      const [body, document] = summarise(await run(options, request));
      await printResult(options, { json: () => body, text: () => document });
      remarkWritten([options.outCsv], options);
    },
  });
}

async function run(options: PredictCommandOptions, how: z.output<typeof predictSchema>): Promise<FilePredictions> {
  const [{ writeTableAs }, { predictWithSavedModel }] = await Promise.all([
    import('../../io/write-table.ts'),
    import('../../integration/predict-file.ts'),
  ]);
  const format = await outputTableFormat('--out-csv', options.outCsv);
  await assertOutputs([options.outCsv], [options.csv]);
  const predictions = await predictWithSavedModel(options.model, options.csv, how);
  const { table } = predictions.predicted;
  const written = format === 'parquet' ? await withNumbers(table, options.csv) : table;
  await writeTableAs(options.outCsv, written, format, { raw: options.rawCsv, onProgress: progressBar(options) });
  return predictions;
}

/**
 * Converts numeric columns from text to numbers, for file formats that distinguish the two. All values are first read
 * as text, so that other formats contain them unchanged. A column stays text if a conversion would change its values,
 * such as identifiers with leading zeros.
 */
async function withNumbers(table: Table, csv: FoundFiles): Promise<Table> {
  const [{ loadData }, { Table: tables }] = await Promise.all([
    import('../../io/load-data.ts'),
    import('../../table/index.ts'),
  ]);
  const typed = await loadData(csv);
  return tables.ofColumns(
    table.columnNames.map((name) => {
      const column = table.column(name);
      const losesDigits = column.kind === 'categorical' && column.labels.some(isIdentifier);
      return [name, typed.columnNames.includes(name) && !losesDigits ? typed.column(name) : column];
    }),
  );
}

/** Returns whether a text is an integer with leading zeros, or an integer that a float64 cannot represent exactly. */
function isIdentifier(text: string): boolean {
  return /^[-+]?0\d/.test(text) || (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(Number(text)));
}

/** Returns the JSON output and the text output. */
function summarise({
  model: { card, isRandomized },
  predicted,
}: FilePredictions): [Record<string, unknown>, ReportDocument] {
  const { table, scoreColumn, predictionColumn, warnings } = predicted;
  const n = table.rowCount;
  const total = (name: string): number => table.numeric(name).values.reduce((sum, value) => sum + value, 0);
  const positive = card.task === 'binary' ? total(predictionColumn) : null;
  const mean = total(scoreColumn) / n;
  const body = {
    n,
    n_positive: positive,
    mean_score: mean,
    score_column: scoreColumn,
    prediction_column: predictionColumn,
    method: card.method,
    task: card.task,
    output: card.output,
    warnings,
  };
  const label = card.data?.positive_label;
  const outcome = `${card.data === null ? 'the outcome' : `'${card.data.target}'`}${label === null || label === undefined ? '' : ` = '${label}'`}`;
  const prediction =
    positive === null
      ? 'the predicted value'
      : `1 for ${formatCount(positive)} rows (${formatNumber((100 * positive) / n, 1)}%), 0 for the others${isRandomized ? ', drawn at random' : ''}`;
  const facts = [
    { name: scoreColumn, value: `${card.output}, ${formatNumber(mean)} on average` },
    { name: predictionColumn, value: prediction },
  ];
  const notes = noteBlocks(
    'Notes',
    warnings.map((warning) => `${capital(warning)}.`),
  );
  const document = briefReport({
    subject: `${counted(n, 'row')} scored for ${outcome} by a model of ${card.method.replaceAll('_', ' ')}.`,
    blocks: [{ kind: 'facts', facts }, ...notes],
  });
  return [body, document];
}

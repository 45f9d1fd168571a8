import { Command } from 'commander';

import type { FilePredictions } from '../../integration/predict-file.ts';
import type { PredictedTable } from '../../training/jobs/predict-table.ts';
import type { Table } from '../../table/index.ts';
import type { SavedModel } from '../../training/models/saved-model.ts';
import { flagName, parseNumber, requireOptions } from '../option-parsers.ts';
import { type OutputOptions, asOneLine, jsonText, prepareLogs, print, remark, withOutputOptions } from '../output.ts';
import { assertInputsKept, outputTableFormat } from '../output-places.ts';

interface PredictCommandOptions extends OutputOptions {
  readonly model: string;
  readonly csv: string;
  readonly outCsv: string;
  readonly rawCsv?: boolean;
}

/** `evenhand predict` */
export function predictCommand(): Command {
  return withOutputOptions(
    new Command('predict')
      .description("Add a saved model's score and prediction to every row of a file.")
      .option('--model <folder>', 'a folder that --save-model wrote, or the model folder of run-pipeline')
      .option('--csv <path>', 'the rows: CSV, TSV (also .gz) or Parquet, with the columns of the training')
      .option('--out-csv <path>', 'write the rows with two more columns, score and prediction: .csv, .tsv or .parquet')
      .option('--raw-csv', 'write texts as they are, also those that a spreadsheet would compute')
      .option('--eta <number>', 'which network, where the folder holds a sweep', parseNumber)
      .option(
        '--threshold <number>',
        "scores of at least this become 1 (default: the model card's threshold, else 0.5)",
        parseNumber,
      )
      .option('--seed <n>', "seed of a randomised model's draw (default: that of its training)", parseNumber)
      .option(
        '--randomization <name>',
        "for a randomised model: draw by the row's place, or row: equal rows get equal answers",
      )
      .option('--backend <name>', 'auto, node-gpu, webgpu, node, wasm or cpu (default: auto)')
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand predict --model models/adult --csv applicants.csv --out-csv decisions.csv

  $ evenhand predict --model models/sweep --eta 0.5 --csv applicants.csv --out-csv decisions.csv --threshold 0.4
  $ evenhand validate --csv decisions.csv --y-pred prediction --sensitive sex

Models of train-reductions decide by chance: score is the probability of a positive decision, and
prediction one draw of it, the same for the same seed and rows. A column of the rows that is called
score or prediction stays, and the new one becomes score_2 or prediction_2.`,
      ),
  ).action(async (options: PredictCommandOptions) => {
    requireOptions(options, ['model', 'csv', 'outCsv']);
    await prepareLogs(options);
    const { model, predicted } = await run(options);
    const summary = summarise(model, predicted);
    if (options.json === true) process.stdout.write(jsonText(summary));
    else print(describe(model, predicted, summary));
    remark(`Wrote ${options.outCsv}`, options);
  });
}

async function run(options: PredictCommandOptions): Promise<FilePredictions> {
  const [{ parseBy }, { predictSchema }, { assertFileWritable }, { writeTableAs }, { predictWithSavedModel }] =
    await Promise.all([
      import('../../schemas/parse.ts'),
      import('../../schemas/training-job.ts'),
      import('../../io/atomic-write.ts'),
      import('../../io/write-table.ts'),
      import('../../integration/predict-file.ts'),
    ]);
  const how = parseBy(predictSchema, options, 'predict', flagName);
  const format = await outputTableFormat('--out-csv', options.outCsv);
  assertInputsKept([options.outCsv], [options.csv]);
  await assertFileWritable(options.outCsv);
  const predictions = await predictWithSavedModel(options.model, options.csv, how);
  const { table } = predictions.predicted;
  const written = format === 'parquet' ? await withNumbers(table, options.csv) : table;
  await writeTableAs(options.outCsv, written, format, { raw: options.rawCsv });
  return predictions;
}

/**
 * The rows are kept as texts, so that they are written as they came. A form
 * that has numbers gets them as such, except where a number would lose digits
 * of an identifier.
 */
async function withNumbers(table: Table, csv: string): Promise<Table> {
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

/** A whole number with zeros before it, or beyond what a number holds exactly. */
function isIdentifier(text: string): boolean {
  return /^[-+]?0\d/.test(text) || (/^[-+]?\d+$/.test(text) && !Number.isSafeInteger(Number(text)));
}

/** The body of --json. */
interface PredictSummary {
  readonly n: number;
  readonly n_positive: number | null;
  readonly mean_score: number;
  readonly score_column: string;
  readonly prediction_column: string;
  readonly method: string;
  readonly task: string;
  readonly output: string;
  readonly warnings: readonly string[];
}

function summarise(
  { card }: SavedModel,
  { table, scoreColumn, predictionColumn, warnings }: PredictedTable,
): PredictSummary {
  const total = (name: string): number => table.numeric(name).values.reduce((sum, value) => sum + value, 0);
  return {
    n: table.rowCount,
    n_positive: card.task === 'binary' ? total(predictionColumn) : null,
    mean_score: total(scoreColumn) / table.rowCount,
    score_column: scoreColumn,
    prediction_column: predictionColumn,
    method: card.method,
    task: card.task,
    output: card.output,
    warnings,
  };
}

function describe(
  { card, isRandomized }: SavedModel,
  { scoreColumn, predictionColumn }: PredictedTable,
  summary: PredictSummary,
): string {
  const { n, n_positive: positive, mean_score: mean, warnings } = summary;
  const label = card.data?.positive_label;
  const outcome = `${card.data === null ? 'the outcome' : `'${card.data.target}'`}${label === null || label === undefined ? '' : ` = '${label}'`}`;
  const rows = n === 1 ? '1 row' : `${n.toLocaleString('en-US')} rows`;
  return [
    `${rows} scored for ${outcome} by a model of ${card.method.replaceAll('_', ' ')}.`,
    `${scoreColumn}: ${card.output}, ${mean.toFixed(4)} on average.`,
    positive === null
      ? `${predictionColumn}: the value.`
      : `${predictionColumn}: 1 for ${positive.toLocaleString('en-US')} rows (${((100 * positive) / n).toFixed(1)}%), 0 for the others${isRandomized ? ', drawn by chance' : ''}.`,
    ...warnings.map((warning) => `Note: ${warning}.`),
  ]
    .map(asOneLine)
    .join('\n');
}

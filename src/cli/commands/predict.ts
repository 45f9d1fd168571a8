import type { Command } from 'commander';
import type { z } from 'zod';

import type { FilePredictions } from '../../integration/predict-file.ts';
import type { FoundFiles } from '../../schemas/data-source.ts';
import type { predictSchema } from '../../schemas/training-job.ts';
import type { ReportDocument } from '../../document/report-document.ts';
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
      const { predictionsDocument, predictionsToJson } = await import('../../integration/predict-file.ts');
      const predictions = await run(options, request);
      const text = (): ReportDocument => predictionsDocument(predictions);
      await printResult(options, { json: () => predictionsToJson(predictions), text });
      remarkWritten([options.outCsv], options);
    },
  });
}

async function run(options: PredictCommandOptions, how: z.output<typeof predictSchema>): Promise<FilePredictions> {
  const [{ writeTableAs }, { predictWithSavedModel, withNumbers }] = await Promise.all([
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

import { Command } from 'commander';

import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { ParetoSweep } from '../../training/index.ts';
import {
  flagName,
  parseNumber,
  parseNumberOrAuto,
  parseNumbers,
  parseNumbersOrAuto,
  requireOptions,
} from '../option-parsers.ts';
import { prepareLogs, print, remark, textTable, withOutputOptions } from '../output.ts';
import { assertDistinct, assertInputsKept } from '../output-places.ts';
import { progressBar } from '../progress-bar.ts';
import { loadSource, type TrainingJobCommandOptions, withSourceOptions } from '../training-job.ts';

interface TrainRegularizedOptions extends TrainingJobCommandOptions {
  readonly outPlot?: string;
}

/** Returns the command `evenhand train-regularized`. */
export function trainRegularizedCommand(): Command {
  return withOutputOptions(
    withSourceOptions(
      new Command('train-regularized').description(
        'Train one neural network per eta (weight of a fairness penalty), and show the trade-off between accuracy and the gap between groups.',
      ),
    )
      .option(
        '--etas <numbers>',
        'penalty weights, comma-separated, or auto: from no effect to the last weight before a constant model (default: 0,0.2,0.5,1)',
        parseNumbersOrAuto,
      )
      .option(
        '--penalty <name>',
        'penalty: covariance, mean_gap, equalized_odds, mmd, correlation or adversarial (default: covariance)',
      )
      .option('--epochs <n>', 'passes over the rows (default: 20)', parseNumber)
      .option('--lr <rate>', 'learning rate of Adam (default: 0.001)', parseNumber)
      .option(
        '--batch-size <n>',
        'rows per step, or auto to fit the data and the backend (default: 128)',
        parseNumberOrAuto,
      )
      .option('--hidden <units>', 'units of each hidden layer, comma-separated (default: 32)', parseNumbers)
      .option('--patience <n>', 'stop after this many epochs without improvement (default: 5)', parseNumber)
      .option('--weight-decay <rate>', 'decoupled weight decay (default: 0)', parseNumber)
      .option('--schedule <name>', 'learning rate schedule: constant, linear or cosine (default: constant)')
      .option(
        '--threads <n>',
        'maximum number of training threads; does not change the result (default: from the amount of work and the cores)',
        parseNumber,
      )
      .option('--train-size <share>', 'share of rows to train on (default: 0.8)', parseNumber)
      .option(
        '--folds <n>',
        'cross-fit with this many folds instead: every row is held out once; for small data',
        parseNumber,
      )
      .option(
        '--min-group-size <n>',
        `minimum held-out rows of a group; smaller groups are excluded from gaps (default: ${String(DEFAULT_MIN_GROUP_SIZE)})`,
        parseNumber,
      )
      .option('--backend <name>', 'tensor backend: auto, node-gpu, webgpu, node, wasm or cpu (default: auto)')
      .option('--seed <n>', 'seed of splits, weights and row order (default: 42)', parseNumber)
      .option('--out-json <path>', 'write the results of all etas as JSON')
      .option('--out-plot <path>', 'draw the Pareto front: .svg, .png or .html')
      .option(
        '--save-model <folder>',
        'folder in which to save every network as a TensorFlow.js model with a model card',
      )
      .addHelpText(
        'after',
        `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand train-regularized --csv wages.csv --target wage_above_median --sensitive gender \\
      --features education,experience,union,age --etas 0,0.5,1,2,4 --folds 5 --out-plot pareto.svg

  $ evenhand train-regularized --csv adult.csv --target income --sensitive sex,race \\
      --penalty mean_gap --etas 0,1,2,4 --save-model models/adult --out-json pareto.json

The useful range of eta depends on the penalty and the data. A large eta gives a constant model, which makes
the same decision for all rows. The last eta before that, on three data sets (wages, German credit, COMPAS):
covariance 6 to 64, mean_gap 16 to 8200, equalized_odds 3 to 2040, mmd 0.7 to 64, correlation 1.4 to 16,
adversarial 0.4 to 45. --etas auto finds it.

The penalty constrains mean scores on the training rows. The table shows the result on rows that the
networks have not seen: accuracy, and the demographic parity (DP) and equalized odds (EO) differences.`,
      ),
  ).action(async (options: TrainRegularizedOptions) => {
    requireOptions(options, ['csv']);
    await prepareLogs(options);
    const start = performance.now();
    const sweep = await run(options);
    const seconds = (performance.now() - start) / 1000;
    const { paretoToJson } = await import('../../training/index.ts');
    const body = `${JSON.stringify({ ...paretoToJson(sweep), seconds }, undefined, 2)}\n`;
    await writeOutputs(sweep, body, options);
    if (options.json === true) process.stdout.write(body);
    else print(describe(sweep, seconds));
    for (const path of [options.outJson, options.outPlot, options.saveModel]) {
      if (path !== undefined) remark(`Wrote ${path}`, options);
    }
  });
}

async function run(options: TrainRegularizedOptions): Promise<ParetoSweep> {
  const [{ sweepPareto }, { parseBy }, { sweepSchema }] = await Promise.all([
    import('../../training/index.ts'),
    import('../../schemas/parse.ts'),
    import('../../schemas/training-job.ts'),
  ]);
  const sweepOptions = parseBy(sweepSchema, options, 'train-regularized', flagName);
  await assertOutputs(options);
  return sweepPareto(await loadSource(options), {
    ...sweepOptions,
    modelPath: options.saveModel,
    onProgress: progressBar(options),
  });
}

/** Checks the output paths before the training starts, so that a bad path does not lose the result. */
async function assertOutputs({ csv, testCsv, outJson, outPlot, saveModel }: TrainRegularizedOptions): Promise<void> {
  const [{ assertFileWritable, assertReplaceable, assertWritable }, { chartFormat }, { holdsOnlyNetworks }] =
    await Promise.all([
      import('../../io/atomic-write.ts'),
      import('../../charts/render-chart.ts'),
      import('../../training/index.ts'),
    ]);
  if (outPlot !== undefined) chartFormat(outPlot);
  const outputs = [outJson, outPlot, saveModel].filter((path) => path !== undefined);
  assertDistinct(outputs);
  assertInputsKept(outputs, [csv, testCsv]);
  for (const path of [outJson, outPlot]) if (path !== undefined) await assertFileWritable(path);
  if (saveModel === undefined) return;
  assertReplaceable(saveModel, holdsOnlyNetworks);
  await assertWritable(saveModel);
}

async function writeOutputs(
  sweep: ParetoSweep,
  body: string,
  { outJson, outPlot }: TrainRegularizedOptions,
): Promise<void> {
  const [{ writeFileAtomic }, { plotPareto }] = await Promise.all([
    import('../../io/atomic-write.ts'),
    import('../../training/index.ts'),
  ]);
  if (outJson !== undefined) await writeFileAtomic(outJson, body);
  if (outPlot !== undefined) await plotPareto(sweep, { savePath: outPlot });
}

/** Returns the result of the search for etas, as lines; none if there was no search. */
function describeRange({ etaRange }: ParetoSweep): string[] {
  if (etaRange === null) return [];
  const { from, to, endsAt, tried } = etaRange;
  const end =
    endsAt === 'constant' ? 'the last before a constant model' : 'the largest one tried; no model was constant';
  return [
    `Etas found on the training rows: from ${String(from)} (no effect on the gap) to ${String(to)} (${end}); ${String(tried.length)} tried.`,
  ];
}

function describe(sweep: ParetoSweep, seconds: number): string {
  const percent = (value: number): string => (Number.isNaN(value) ? 'undefined' : value.toFixed(4));
  const range = (interval: readonly [number, number] | null): string =>
    interval === null ? '' : `[${interval[0].toFixed(3)}, ${interval[1].toFixed(3)}]`;
  const rows = sweep.map((point) => [
    String(point.eta),
    percent(point.accuracy),
    range(point.accuracyCi),
    percent(point.dpDiff),
    range(point.dpDiffCi),
    percent(point.eoDiff),
    point.loss.toFixed(4),
    point.dominated ? 'dominated' : '',
  ]);
  const outcome =
    sweep.positiveLabel === null ? `'${sweep.target}'` : `'${sweep.target}' = '${sweep.positiveLabel}' as positive`;
  const how =
    sweep.folds === null
      ? `${sweep.nTrain.toLocaleString('en-US')} rows trained on, ${sweep.nTest.toLocaleString('en-US')} held out`
      : `${sweep.nTest.toLocaleString('en-US')} rows, cross-fitted in ${String(sweep.folds)} folds`;
  return [
    `Predicting ${outcome}, by ${sweep.sensitive.map((name) => `'${name}'`).join(' x ')}: ${how}.`,
    ...(sweep.nDropped > 0 ? [`${String(sweep.nDropped)} rows without a target or group were excluded.`] : []),
    '',
    textTable(['eta', 'accuracy', '95%', 'DP diff', '95%', 'EO diff', 'loss', ''], rows),
    '',
    `Hypervolume ${sweep.hypervolume.toFixed(4)} (area of accuracy above always predicting the larger class, times 1 - DP difference).`,
    ...describeRange(sweep),
    `${sweep.penalty} penalty, backend ${sweep.backend}, batches of ${String(sweep.batchSize)}, seed ${String(sweep.seed)}, ${seconds.toFixed(1)} s.`,
    ...sweep.warnings.map((warning) => `Note: ${warning}.`),
  ].join('\n');
}

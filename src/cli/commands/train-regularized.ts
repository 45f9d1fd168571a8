import type { Command } from 'commander';

import { numberColumn, type ReportBlock, valueColumn } from '../../document/report-document.ts';
import { bracketText, formatNumber } from '../../internal/format.ts';
import type { SweepRequest } from '../../schemas/training-job.ts';
import type { ParetoSweep, SweepOptions, TrainingSource } from '../../training/index.ts';
import { OPTION } from '../define-command.ts';
import { parseNumberOrAuto, parseNumbersOrAuto } from '../option-parsers.ts';
import { onQueue, REDIS_URL } from '../redis-url.ts';
import { trainingCommand } from '../training-job.ts';

/** Returns the command `evenhand train-regularized`. */
export function trainRegularizedCommand(): Command {
  return trainingCommand({
    name: 'train-regularized',
    title: 'Training sweep',
    takesStreams: true,
    options: `--etas <numbers>  penalty weights, comma-separated, or auto: from no effect to the last weight before a constant model (default: 0,0.2,0.5,1)
--penalty <name>  penalty: covariance, mean_gap, equalized_odds, mmd, correlation or adversarial (default: covariance)
--epochs <n>  passes over the rows (default: 20)
--lr <rate>  learning rate of Adam (default: 0.001)
${OPTION.batchSize}
${OPTION.hidden}
--patience <n>  stop after this many epochs without improvement (default: 5)
--weight-decay <rate>  decoupled weight decay (default: 0)
--schedule <name>  learning rate schedule: constant, linear or cosine (default: constant)
--queue <url>  train on the workers of a queue (see evenhand worker) instead of in this process: ${REDIS_URL}
--threads <n>  maximum number of training threads; does not change the result (default: from the amount of work and the cores)
${OPTION.trainSize}
--folds <n>  cross-fit with this many folds instead of one split, so that every row is held out once; for small data
${OPTION.minGroupSize}
${OPTION.backend}
--seed <n>  seed of splits, weights and row order (default: 42)
--out-json <path>  write the results of all etas as JSON
--out-plot <path>  draw the Pareto front: .svg, .png or .html
--save-model <folder>  folder in which to save every network as a TensorFlow.js model with a model card`,
    parsers: { etas: parseNumbersOrAuto, 'batch-size': parseNumberOrAuto },
    schema: async () => (await import('../../schemas/training-job.ts')).sweepSchema,
    help: `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand train-regularized --csv wages.csv --target wage_above_median --sensitive gender \\
      --features education,experience,union,age --etas 0,0.5,1,2,4 --folds 5 --out-plot pareto.svg

  $ evenhand train-regularized --csv adult.csv --target income --sensitive sex,race \\
      --penalty mean_gap --etas 0,1,2,4 --save-model models/adult --out-json pareto.json

  Rows in a database, or in files that do not fit into memory:
  $ EVENHAND_SQL_PASSWORD=… evenhand train-regularized --sql postgres://ana@db.example/shop --table loans \\
      --target repaid --sensitive sex --batch-size 4096
  $ evenhand train-regularized --csv loans.parquet --target repaid --sensitive sex --in-blocks

The useful range of eta depends on the penalty and the data. A large eta gives a constant model, which makes
the same decision for all rows. The last eta before that, on three data sets (wages, German credit, COMPAS):
covariance 6 to 64, mean_gap 16 to 8200, equalized_odds 3 to 2040, mmd 0.7 to 64, correlation 1.4 to 16,
adversarial 0.4 to 45. --etas auto finds it.

The penalty constrains mean scores on the training rows. The table shows the result on rows that the
networks have not seen: accuracy, and the demographic parity (DP) and equalized odds (EO) differences.`,
    async load() {
      const { paretoToJson, plotPareto, sweepPareto } = await import('../../training/index.ts');
      const train = (
        source: TrainingSource,
        { queue: url, ...options }: Omit<SweepOptions, 'queue'> & Pick<SweepRequest, 'queue'>,
      ): Promise<ParetoSweep> =>
        url === undefined
          ? sweepPareto(source, options)
          : onQueue(url, (queue, signal) => sweepPareto(source, { ...options, queue, signal }));
      return { train, toJson: paretoToJson, plot: plotPareto };
    },
    describe,
  });
}

function describe(sweep: ParetoSweep, seconds: number): ReportBlock[] {
  const interval = numberColumn('95% interval');
  return [
    {
      kind: 'table',
      caption: '',
      columns: [
        numberColumn('Eta'),
        ...[valueColumn('Accuracy'), interval, valueColumn('Demographic parity difference'), interval],
        ...['Equalized odds difference', 'Loss'].map(numberColumn),
        { name: '', isEssential: true },
      ],
      rows: sweep.map((point) => [
        String(point.eta),
        formatNumber(point.accuracy),
        bracketText(point.accuracyCi),
        formatNumber(point.dpDiff),
        bracketText(point.dpDiffCi),
        formatNumber(point.eoDiff),
        formatNumber(point.loss),
        point.dominated ? 'dominated' : '',
      ]),
    },
    {
      kind: 'list',
      items: [
        `Hypervolume ${formatNumber(sweep.hypervolume)} (area of accuracy above always predicting the larger class, times 1 - DP difference).`,
        ...describeRange(sweep),
        `${sweep.penalty} penalty, backend ${sweep.backend}, batches of ${String(sweep.batchSize)}, seed ${String(sweep.seed)}, ${formatNumber(seconds, 1)} s.`,
      ],
    },
  ];
}

/** Returns lines that describe the search for values of eta; an empty list if there was no search. */
function describeRange({ etaRange }: ParetoSweep): string[] {
  if (etaRange === null) return [];
  const { from, to, endsAt, tried } = etaRange;
  const end =
    endsAt === 'constant' ? 'the last before a constant model' : 'the largest one tried; no model was constant';
  return [
    `Etas found on the training rows: from ${String(from)} (no effect on the gap) to ${String(to)} (${end}); ${String(tried.length)} tried.`,
  ];
}

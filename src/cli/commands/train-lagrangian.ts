import type { Command } from 'commander';

import type { ReportBlock } from '../../document/report-document.ts';
import { formatNumber } from '../../internal/format.ts';
import type { LagrangianJobResult } from '../../training/jobs/train-lagrangian.ts';
import { OPTION } from '../define-command.ts';
import { parseNumberOrAuto } from '../option-parsers.ts';
import { comparisonTables, JOB_OPTIONS, trainingCommand } from '../training-job.ts';

/** Returns the command `evenhand train-lagrangian`. */
export function trainLagrangianCommand(): Command {
  return trainingCommand({
    name: 'train-lagrangian',
    title: 'Training with a fairness constraint',
    options: `--fairness <name>  constraint: demographic_parity, equal_opportunity or equalized_odds (default: demographic_parity)
--dp-tol <number>  largest allowed gap between selection rates (default: 0.02)
--eo-tol <number>  largest allowed gap between true (and false) positive rates (default: 0.02)
--model-lr <rate>  learning rate of Adam for the network (default: 0.001)
--lambda-lr <rate>  learning rate of the multipliers (default: 0.01)
--epochs <n>  passes over the rows (default: 50)
${OPTION.batchSize}
${OPTION.hidden}
--patience <n>  stop after this many epochs without improvement (default: 10)
${JOB_OPTIONS}`,
    parsers: { 'batch-size': parseNumberOrAuto },
    schema: async () => (await import('../../schemas/training-job.ts')).trainLagrangianSchema,
    help: `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand train-lagrangian --csv wages.csv --target wage_above_median --sensitive gender \\
      --features education,experience,union --dp-tol 0.05 --model-lr 0.01 --save-model model
  $ evenhand predict --model model --csv wages.csv --out-csv decisions.csv

  $ evenhand train-lagrangian --csv adult.csv --target income --sensitive sex \\
      --fairness equalized_odds --eo-tol 0.03 --epochs 30 --out-json result.json

The tolerance applies to the training rows, and is reached if the epochs and learning rates allow it. The
table shows the result on rows that the network has not seen, next to the same network without the constraint.`,
    async load() {
      const trainer = await import('../../training/jobs/train-lagrangian.ts');
      return { train: trainer.trainLagrangian, toJson: trainer.lagrangianJobToJson };
    },
    describe,
  });
}

function describe(result: LagrangianJobResult, seconds: number): ReportBlock[] {
  const { constraint, history, bestEpoch } = result;
  const fairness = String(constraint['fairness']);
  const tolerance = Number(fairness === 'demographic_parity' ? constraint['dp_tol'] : constraint['eo_tol']);
  const best = history[bestEpoch - 1];
  const gap = best?.violationHard ?? NaN;
  const lambdas = (best?.lambdas ?? []).map((lambda) => formatNumber(lambda, 2)).join(' and ');
  return [
    ...comparisonTables(result),
    {
      kind: 'list',
      items: [
        `Constrained on the training rows: the gap between groups in ${BOUNDED[fairness] ?? ''}, to at most ${String(tolerance)}.`,
        `Kept epoch ${String(bestEpoch)} of ${String(history.length)}: gap ${formatNumber(gap)} on the rows that the network was fitted to (nine tenths of the training rows), multiplier${lambdas.includes(' ') ? 's' : ''} ${lambdas}.`,
        ...heldOutGap(result, fairness, tolerance),
        `Backend ${result.backend}, seed ${String(result.seed)}, ${formatNumber(seconds, 1)} s.`,
      ],
    },
  ];
}

/** Returns a sentence if the gap that is constrained exceeds the tolerance on held-out rows. */
function heldOutGap({ final }: LagrangianJobResult, fairness: string, tolerance: number): string[] {
  const { dpDiff, dpDiffCi, eoDiff, eoDiffCi } = final;
  const gaps = new Map([
    ['demographic_parity', [dpDiff, dpDiffCi] as const],
    ['equalized_odds', [eoDiff, eoDiffCi] as const],
  ]);
  const [gap, ci] = gaps.get(fairness) ?? [NaN, null];
  if (!(gap > tolerance)) return [];
  const limit = String(tolerance);
  const isOpen = ci !== null && ci[0] <= tolerance;
  const chance = isOpen ? ` Its 95% interval contains ${limit}, so that other rows may give another result.` : '';
  return [
    `On the held-out rows, the gap is ${formatNumber(gap)}, which is more than ${limit}: the constraint applies to the training rows only.${chance}`,
  ];
}

/** The rates that each constraint bounds. */
const BOUNDED: Readonly<Record<string, string>> = {
  demographic_parity: 'rates of positive decisions',
  equal_opportunity: 'true positive rates',
  equalized_odds: 'true and false positive rates',
};

import type { Command } from 'commander';

import type { ReportBlock } from '../../document/report-document.ts';
import { formatNumber } from '../../internal/format.ts';
import type { ReductionsJobResult } from '../../training/jobs/train-reductions.ts';
import { comparisonTables, JOB_OPTIONS, trainingCommand } from '../training-job.ts';

/** Returns the command `evenhand train-reductions`. */
export function trainReductionsCommand(): Command {
  return trainingCommand({
    name: 'train-reductions',
    title: 'Training with a fairness constraint',
    takesStreams: true,
    options: `--constraint <name>  constraint: demographic_parity, equalized_odds, true_positive_rate_parity, false_positive_rate_parity, error_rate_parity or bounded_group_loss (default: demographic_parity)
--eps <number>  bound on the constraint; the sum of the multipliers is at most 1 / eps (default: 0.01)
--difference-bound <number>  bound on the difference between a group's rate and the overall rate (default: eps)
--ratio-bound <number>  bound on ratios of rates, in (0, 1], instead of differences
--upper-bound <number>  bound on each group's error rate, for bounded_group_loss (default: eps)
--bound <name>  rates to compare: overall (each group with all rows) or pairwise (each two groups) (default: overall)
--T <n>  maximum number of iterations (default: 50)
--nu <number>  duality gap below which training stops (default: from the sampling noise of the error)
${JOB_OPTIONS}`,
    schema: async () => (await import('../../schemas/training-job.ts')).trainReductionsSchema,
    help: `
Examples:
  $ evenhand sample-data cps-wages --out wages.csv
  $ evenhand train-reductions --csv wages.csv --target wage_above_median --sensitive gender \\
      --features education,experience,union --eps 0.05 --save-model model
  $ evenhand predict --model model --csv wages.csv --out-csv decisions.csv

  $ evenhand train-reductions --csv adult.csv --test-csv adult.test.csv --target income --sensitive sex \\
      --constraint equalized_odds --eps 0.01 --out-json result.json

  Rows in a database, or in files that do not fit into memory:
  $ EVENHAND_SQL_PASSWORD=… evenhand train-reductions --sql postgres://ana@db.example/shop --table loans \\
      --target repaid --sensitive sex
  $ evenhand train-reductions --csv loans.parquet --target repaid --sensitive sex --in-blocks

The constraint holds on the training rows, in expectation over the model's random draws. The table shows
the result on rows that the model has not seen, next to the same estimator without the constraint. A bound
of 0.01 from the overall rate allows two groups to differ by 0.02; --bound pairwise does not.`,
    async load() {
      const trainer = await import('../../training/jobs/train-reductions.ts');
      return { train: trainer.trainReductions, toJson: trainer.reductionsJobToJson };
    },
    describe,
  });
}

function describe(result: ReductionsJobResult, seconds: number): ReportBlock[] {
  return [
    ...comparisonTables(result),
    {
      kind: 'list',
      items: [
        `Constrained on the training rows, in expectation over the model's random draws: ${BOUNDED[String(result.constraint['constraint'])] ?? ''}.`,
        `${describeBound(result)} ${result.predictors === 1 ? 'One predictor' : `A mixture of ${String(result.predictors)} predictors`} after ${String(result.iterations)} iterations and ${String(result.oracleCalls)} oracle calls, duality gap ${result.bestGap.toPrecision(2)}.`,
        `Backend ${result.backend}, seed ${String(result.seed)}, ${formatNumber(seconds, 1)} s.`,
      ],
    },
  ];
}

/** The rates that each constraint bounds. */
const BOUNDED: Readonly<Record<string, string>> = {
  demographic_parity: "each group's rate of positive decisions against that of all rows",
  equalized_odds: "each group's true and false positive rates against those of all rows",
  true_positive_rate_parity: "each group's true positive rate against that of all rows",
  false_positive_rate_parity: "each group's false positive rate against that of all rows",
  error_rate_parity: "each group's error rate against that of all rows",
  bounded_group_loss: "each group's error rate against a common bound",
};

function describeBound({ constraint, violation }: ReductionsJobResult): string {
  const { eps, difference_bound: difference, upper_bound: upper, ratio_bound: ratio, bound } = constraint;
  if (typeof ratio === 'number') return `Bound: ratios of at least ${String(ratio)}.`;
  const isLoss = constraint['constraint'] === 'bounded_group_loss';
  const limit = Number(isLoss ? (upper ?? eps) : (difference ?? eps));
  const found = isLoss ? 'largest error rate' : 'largest difference from the overall rate';
  const kind = bound === 'pairwise' ? `${String(limit)} between any two groups` : String(limit);
  // The violation may exceed the limit by the remaining duality gap, which is at most eps.
  const unmet = violation > limit + Number(eps) ? ' This estimator cannot meet the bound. Use a larger bound.' : '';
  return `Bound ${kind}, ${found} ${formatNumber(violation)}.${unmet}`;
}

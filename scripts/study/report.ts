import { type Cell, GROUPS } from './design.ts';
import { LEVEL, SAMPLES, type Tally } from './simulate.ts';
import {
  type CellResult,
  coverageOf,
  finalCoverage,
  mean,
  METRIC_NAMES,
  METRICS,
  relativeWidth,
  RUN_AGAIN_BELOW,
  type Verdict,
  verdicts,
} from './verdicts.ts';

/** The origin of the figures. */
export interface Provenance {
  readonly command: string;
  readonly version: string;
  readonly seed: number;
  readonly repetitions: number;
  readonly repetitionsAgain: number;
}

const HEADINGS: Record<Cell['metric'], readonly string[]> = {
  dpd: ['rate', 'gap'],
  eod: ['rate', 'gap'],
  mae: ['errors', 'base', 'gap'],
};

export function markdown(results: readonly CellResult[], made: Provenance): string {
  const sections = (['equal', 'unequal'] as const).flatMap((table) =>
    METRICS.map((metric) =>
      section(
        table,
        metric,
        results.filter(({ cell }) => cell.table === table && cell.metric === metric),
      ),
    ),
  );
  return [
    '# Coverage of the default interval',
    `\`${made.command}\` generated this page with evenhand ${made.version}, seed ${made.seed}. Edit \`scripts/study/report.ts\` to change it. The [verdicts](#verdicts) say whether the interval keeps its promise. The tables are for readers who want to see each setting. The figures for every simulated setting (cell) are in the repository, in \`docs/coverage.csv\`. The same seed gives the same figures on every machine and with any number of workers.`,
    design(made),
    '## Verdicts',
    verdicts(results).map(verdictLine).join('\n'),
    percentileLine(results),
    lawsLine(results),
    READING,
    ...sections,
    'Terms are explained in the [glossary](glossary.md).',
  ].join('\n\n');
}

const design = ({ repetitions, repetitionsAgain }: Provenance): string => `## Design

How often does the default ${LEVEL * 100}% interval of a gap contain the true gap? The gap is the largest minus the smallest rate (or mean absolute error) of the groups. The study simulates many settings, called cells. For each cell, ${thousands(repetitions)} data sets are drawn. A cell with coverage below ${RUN_AGAIN_BELOW.equal} (${RUN_AGAIN_BELOW.unequal} with unequal groups) is repeated ${thousands(repetitionsAgain)} times with another seed. For this cell, only the coverage in the second run counts. The study uses the same intervals as the metrics: \`gapIntervals\` with ${thousands(SAMPLES)} replicates. These intervals cover the differences of all pairs of groups simultaneously. The intervals are based on the largest studentised difference in a parametric bootstrap. In the bootstrap, counts are binomial, and errors follow a gamma distribution with each group's mean, variance and skewness.

- **Groups**: 2, 3, 5 or 8, each with 40, 200 or 2,000 rows. The true rate (or mean absolute error) of the last group is the base plus the gap. In all other groups, the true rate equals the base.
- **Demographic parity difference**: the base rates are 0.05, 0.3 and 0.5, and the gaps are 0, 0.05 and 0.2. Counts are binomial.
- **Equalized odds difference**: labels are drawn first and are positive with probability 0.5. The denominators of the rates therefore vary (about 20 in groups of 40). The base is the same for true and false positive rates. The gap occurs in both rates, or in the true positive rate only. In either case, the metric is the larger of the gaps in the two rates. If one of the rates is defined for fewer than two groups, the metric is undefined for this data set. Data sets with an undefined metric are counted separately.
- **MAE parity difference**: absolute errors are half-normal, exponential or log-normal (sigma 1, skewness 6.2) with mean 1. The gaps are 0, 0.05 and 0.2, with a base mean absolute error of 1. The errors of the last group are scaled to the mean of this group, so that their spread grows with the gap. There is also a harder case with base 0.25 and gap 0.2, in which the last group's errors are 1.8 times as large.
- **Unequal groups**: one group has 40 rows, and all other groups have 2,000. The small group is either the last group (with the gap) or the first group (without the gap).
- **Compared methods**: the Bonferroni bound over the same pairs and families. It uses the Agresti-Caffo interval for rates and the Welch interval for means, mapped to the gap in the same way. If the true gap is 0 (at equality), the percentile method is also compared, on the first 500 data sets. The ends of the percentile interval are the 2.5% and 97.5% quantiles of max - min over ${thousands(SAMPLES)} parametric bootstrap replicates.`;

const READING = `## How to read the tables

Each row is a combination of a base and a gap. The columns show the results for different numbers of groups (K). **cover** is the coverage. A star marks the coverage in the second run. **width** is the mean width divided by the mean width of the Bonferroni interval. **perc.** is the coverage of the percentile method, which is computed only at equality. The percentile interval contains 0 only if two small groups often have equal rates. With more groups, the lower end of the percentile interval is farther from 0. With more than two groups and a true gap, the coverage is above the nominal level by construction. All pairs are covered simultaneously, but only errors for the extreme pairs affect the interval of the gap.`;

function verdictLine({ text, isMet }: Verdict): string {
  return `- ${isMet ? 'The requirement is met' : '**The requirement is not met**'}: ${text}`;
}

function percentileLine(results: readonly CellResult[]): string {
  const averages = METRICS.map((metric) => {
    const equal = results.filter(({ cell }) => cell.metric === metric && cell.table === 'equal' && cell.gap === 0);
    return `${mean(equal.map(percentileCoverage)).toFixed(3)} for the ${METRIC_NAMES[metric]}`;
  });
  return `Average coverage of the percentile method at equality: ${averages.join(', ')}.`;
}

function lawsLine(results: readonly CellResult[]): string {
  const laws = ['half-normal', 'exponential', 'log-normal'].map((law) => {
    const equal = results.filter(({ cell }) => cell.law === law && cell.table === 'equal');
    const atEquality = equal.filter(({ cell }) => cell.gap === 0).map(({ first }) => coverageOf(first));
    return `${law} ${mean(atEquality).toFixed(4)} (${mean(equal.map(relativeWidth)).toFixed(3)})`;
  });
  const what =
    'Coverage of the interval of the MAE parity difference if the groups are equal, by the distribution of errors';
  return `${what} (in parentheses: the width relative to Bonferroni): ${laws.join(', ')}.`;
}

function section(table: Cell['table'], metric: Cell['metric'], results: readonly CellResult[]): string {
  const title = METRIC_NAMES[metric];
  const undefinedDraws = results.reduce((sum, { first }) => sum + first.undefinedDraws, 0);
  const draws = results.reduce((sum, { first }) => sum + first.repetitions, 0);
  const rivals = results.map(({ first }) => first.bonferroniHeld / (first.repetitions - first.undefinedDraws));
  return [
    `## ${title.charAt(0).toUpperCase()}${title.slice(1)}, ${table === 'equal' ? 'equal groups' : 'one group of 40, others of 2,000'}`,
    `Data sets with an undefined metric: ${undefinedDraws} of ${thousands(draws)}. The average coverage is ${mean(results.map(({ first }) => coverageOf(first))).toFixed(4)}. The Bonferroni intervals have an average coverage of ${mean(rivals).toFixed(4)} and a minimum coverage of ${Math.min(...rivals).toFixed(4)}.`,
    tableOf(table, metric, results),
  ].join('\n\n');
}

function tableOf(table: Cell['table'], metric: Cell['metric'], results: readonly CellResult[]): string {
  const rows = groupByRow(results);
  const columns = [
    table === 'equal' ? 'n' : 'small group',
    ...HEADINGS[metric],
    ...GROUPS.map((groups) => `K = ${groups} cover`),
    ...GROUPS.map((groups) => `K = ${groups} width`),
    ...GROUPS.map((groups) => `K = ${groups} perc.`),
  ];
  const lines = [...rows.values()].map((ofRow) => [
    ...(ofRow[0] as CellResult).cell.row,
    ...ofRow.map((result) => `${finalCoverage(result).toFixed(3)}${result.again === null ? '' : '\\*'}`),
    ...ofRow.map((result) => relativeWidth(result).toFixed(2)),
    ...ofRow.map((result) => (result.cell.gap === 0 ? percentileCoverage(result).toFixed(3) : '')),
  ]);
  return [columns, columns.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** Groups cells that differ only in the number of groups. */
function groupByRow(results: readonly CellResult[]): Map<string, CellResult[]> {
  const rows = new Map<string, CellResult[]>();
  for (const result of results) {
    const key = result.cell.row.join('/');
    rows.set(key, [...(rows.get(key) ?? []), result]);
  }
  return rows;
}

/** Returns all figures as CSV, one line per cell and run. */
export function csv(results: readonly CellResult[]): string {
  const header =
    'cell,run,repetitions,undefined,coverage,truth_below,truth_above,mean_width,bonferroni_coverage,bonferroni_mean_width,percentile_coverage';
  const lines = results.flatMap(({ cell, first, again }) => [
    csvLine(cell, 'first', first),
    ...(again === null ? [] : [csvLine(cell, 'again', again)]),
  ]);
  return `${[header, ...lines].join('\n')}\n`;
}

function csvLine(cell: Cell, run: 'first' | 'again', tally: Tally): string {
  const n = tally.repetitions - tally.undefinedDraws;
  const rivals =
    run === 'first'
      ? [
          (tally.bonferroniHeld / n).toFixed(4),
          (tally.bonferroniWidth / n).toFixed(5),
          cell.gap === 0 ? (tally.percentileHeld / tally.percentileTried).toFixed(4) : '',
        ]
      : ['', '', ''];
  return [
    cell.id,
    run,
    tally.repetitions,
    tally.undefinedDraws,
    (tally.held / n).toFixed(4),
    (tally.tooHigh / n).toFixed(4),
    (tally.tooLow / n).toFixed(4),
    (tally.width / n).toFixed(5),
    ...rivals,
  ].join(',');
}

function percentileCoverage({ first }: CellResult): number {
  return first.percentileHeld / first.percentileTried;
}

function thousands(count: number): string {
  return count.toLocaleString('en-US');
}

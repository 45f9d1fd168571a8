/**
 * Measures the false alarms and the detection delays of gaps within strata:
 *
 *     npm run study:strata             # 400 fair streams and 200 streams with a gap for each cell
 *     npm run study:strata -- --quick  # a tenth of the streams
 *
 * Options: --seed (2026), --only (ids of cells, separated by commas). Exits 1 if an acceptance criterion is missed.
 */
import { parseArgs } from 'node:util';

import { simulateStream, STRATA_CELLS, type StrataOutcome } from './strata/simulate.ts';

const FAIR_RUNS = 400;
const GAP_RUNS = 200;
/** The largest accepted share of fair streams with an alarm within strata. */
const MAX_FALSE = 0.05;
/** The largest accepted ratio of the median delays, within strata to the complete stream. */
const MAX_RATIO = 2.5;

const { values: args } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '2026' },
    only: { type: 'string' },
  },
});
const only = args.only?.split(',');

function median(runs: readonly StrataOutcome[], rule: keyof StrataOutcome): number {
  const delays = runs.map((run) => run[rule] ?? Infinity).sort((a, b) => a - b);
  return delays[Math.floor(delays.length / 2)] ?? NaN;
}

const rows = { fair: [] as string[], gap: [] as string[] };
let isMissed = false;
for (const cell of STRATA_CELLS) {
  if (only?.includes(cell.id) === false) continue;
  const count = (cell.isFair ? FAIR_RUNS : GAP_RUNS) / (args.quick ? 10 : 1);
  const started = performance.now();
  const runs = Array.from({ length: count }, (_, run) => simulateStream(cell, run, Number(args.seed)));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const alarms = (rule: keyof StrataOutcome): number => runs.filter((run) => run[rule] !== null).length;
  const [plain, within] = [median(runs, 'plain'), median(runs, 'within')];
  const isMet = cell.isFair ? alarms('within') <= MAX_FALSE * count : within <= MAX_RATIO * plain;
  isMissed ||= !isMet;
  if (cell.isFair) rows.fair.push(`| ${cell.text} | ${count} | ${alarms('plain')} | ${alarms('within')} |`);
  else rows.gap.push(`| ${cell.text} | ${count} | ${plain} | ${within} | ${(within / plain).toFixed(2)} |`);
  process.stderr.write(`${isMet ? 'met' : 'MISSED'}: ${cell.id}, ${seconds} s\n`);
}
process.stdout.write(`| stream | runs | false alarms, complete stream | false alarms within strata |
| --- | --- | --- | --- |
${rows.fair.join('\n')}

| stream | runs | median delay, complete stream | median delay within strata | ratio |
| --- | --- | --- | --- | --- |
${rows.gap.join('\n')}
`);
process.exitCode = isMissed ? 1 : 0;

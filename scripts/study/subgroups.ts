/**
 * Measures the false findings and the power of the subgroup search on simulated data of 20,000 rows and 8 columns:
 *
 *     node --import tsx scripts/study/subgroups.ts            # 400 data sets per setting
 *     node --import tsx scripts/study/subgroups.ts --runs 40
 *
 * Options: --seed (2026), --only (ids of settings, separated by commas). Exits with 1 if a target is missed.
 */
import { parseArgs } from 'node:util';

import { simulateSubgroups, SUBGROUP_SETTINGS, type SubgroupOutcome } from './subgroups/simulate.ts';

const { values: args } = parseArgs({
  options: {
    runs: { type: 'string', default: '400' },
    seed: { type: 'string', default: '2026' },
    only: { type: 'string' },
  },
});
const runs = Number(args.runs);
const only = args.only?.split(',');
const share = (outcomes: readonly SubgroupOutcome[], holds: (one: SubgroupOutcome) => boolean): number =>
  outcomes.filter(holds).length / outcomes.length;
const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;

let missed = 0;
process.stdout.write('| Setting | Data sets | Any report | Found (overlap 0.8) | Intervals hold | Target |\n');
process.stdout.write('| --- | --- | --- | --- | --- | --- |\n');
for (const setting of SUBGROUP_SETTINGS.filter(({ id }) => only === undefined || only.includes(id))) {
  const outcomes: SubgroupOutcome[] = [];
  for (let run = 0; run < runs; run++)
    outcomes.push(await simulateSubgroups(setting, Number(args.seed) * 10_000 + run));
  const reported = share(outcomes, (one) => one.reported > 0);
  const found = share(outcomes, ({ overlap }) => overlap >= 0.8);
  const isMet = setting.effect === 0 ? reported <= 0.07 : found >= 0.9;
  missed += isMet ? 0 : 1;
  const cells = [
    setting.title,
    String(runs),
    percent(reported),
    setting.effect === 0 ? '' : percent(found),
    percent(share(outcomes, ({ covers }) => covers)),
    `${setting.effect === 0 ? 'report ≤ 7%' : 'found ≥ 90%'}: ${isMet ? 'met' : 'missed'}`,
  ];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
process.exitCode = missed > 0 ? 1 : 0;

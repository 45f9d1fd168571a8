// `npm start`: runs a sweep on real data and writes a plot.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const cli = path.join(root, 'dist/cli/main.js');
if (!existsSync(cli)) await import('./prepare.mjs');

function evenhand(...options) {
  console.log(`$ evenhand ${options.join(' ')}`);
  const { status } = spawnSync(process.execPath, [cli, ...options], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 3);
}

evenhand('sample-data', 'cps-wages', '--out', 'out/cps-wages.csv', '--quiet');
evenhand(
  'train-regularized',
  ...['--csv', 'out/cps-wages.csv', '--target', 'wage_above_median', '--sensitive', 'gender'],
  ...['--features', 'education,experience,union,occupation,sector,south,married'],
  ...['--penalty', 'mean_gap', '--etas', '0,0.5,1,2,4,8', '--folds', '5', '--epochs', '60', '--lr', '0.003'],
  ...['--out-json', 'out/pareto.json', '--out-plot', 'out/pareto.svg'],
);
console.log('\nOpen out/pareto.svg in a browser.');

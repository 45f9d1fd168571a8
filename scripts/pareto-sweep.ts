/**
 * Runs a sweep from a script, like a training job: reads any table, and writes points, a plot and models.
 *
 *     npx tsx scripts/pareto-sweep.ts rows.csv --target y --sensitive s --out out/sweep
 */
import path from 'node:path';
import { parseArgs } from 'node:util';

import { loadData, sweepPareto } from 'evenhand';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', default: 'y' },
    sensitive: { type: 'string', default: 's' },
    etas: { type: 'string', default: '0,0.5,1,2,4' },
    epochs: { type: 'string', default: '20' },
    out: { type: 'string', default: 'out/sweep' },
  },
});
const [file] = positionals;
if (file === undefined)
  throw new Error('Name the file: npx tsx scripts/pareto-sweep.ts rows.csv --target y --sensitive s');

const sweep = await sweepPareto(
  { table: await loadData(file), target: values.target, sensitive: values.sensitive.split(',') },
  {
    etas: values.etas.split(',').map(Number),
    epochs: Number(values.epochs),
    savePath: path.join(values.out, 'pareto.svg'),
    modelPath: path.join(values.out, 'models'),
    onProgress: ({ stage, done, total }) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${stage} ${String(done)}/${String(total)}`);
    },
  },
);

// A job would select its model here: the most accurate one whose gap is small enough.
const limit = 0.05;
const chosen = sweep.filter(({ dpDiff }) => dpDiff <= limit).sort((a, b) => b.accuracy - a.accuracy)[0];
console.log(
  JSON.stringify({
    points: sweep.map(({ eta, accuracy, dpDiff, dominated }) => ({ eta, accuracy, dpDiff, dominated })),
    hypervolume: sweep.hypervolume,
    chosenEta: chosen?.eta ?? null,
  }),
);

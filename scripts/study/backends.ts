/**
 * Compares the seconds of Pareto sweeps on Adult on several tensor backends, one after the other, and the decisions of
 * their networks: node --import tsx scripts/study/backends.ts --data FOLDER
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { loadData } from '../../src/io/index.ts';
import type { Table } from '../../src/table/index.ts';
import type { TensorBackend } from '../../src/tensor/index.ts';
import { loadModel, sweepPareto } from '../../src/training/index.ts';
import { ADULT_FEATURES, ADULT_TASK } from '../adult-task.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    backends: { type: 'string', default: 'wasm,node' },
    etas: { type: 'string', default: '4,16,64' },
    hidden: { type: 'string', default: '32,256' },
    epochs: { type: 'string', default: '20' },
    batch: { type: 'string', default: '512' },
  },
});
if (values.data === undefined) throw new Error('Use --data to name a folder with adult.train.csv and adult.test.csv.');
const [train, test] = await Promise.all(
  ['adult.train.csv', 'adult.test.csv'].map((name) => loadData(path.join(values.data ?? '', name))),
);
if (train === undefined || test === undefined) throw new Error('No data.');
const backends = values.backends.split(',') as TensorBackend[];
const numbers = (text: string): number[] => text.split(',').map(Number);

/** Trains a sweep, and returns its seconds and the decisions of its networks for the test rows. */
async function sweep(backend: TensorBackend, etas: readonly number[], units: number, epochs: number) {
  const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-study-'));
  const modelPath = path.join(folder, 'networks');
  try {
    const start = performance.now();
    await sweepPareto(
      { table: train as never, testTable: test, ...ADULT_TASK, features: ADULT_FEATURES },
      {
        etas,
        penalty: 'mean_gap',
        epochs,
        patience: epochs,
        batchSize: Number(values.batch),
        hidden: [units],
        lr: 3e-3,
        backend,
        modelPath,
      },
    );
    const seconds = (performance.now() - start) / 1000;
    const decisions: (Uint8Array | Float64Array)[] = [];
    for (const eta of etas)
      decisions.push(await (await loadModel(modelPath, { eta, backend: 'wasm' })).predict(test as Table));
    return { seconds, decisions };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The first sweep on a backend also loads the backend and its kernels.
for (const backend of backends) await sweep(backend, [0, 1], 8, 1);
console.log(`| etas | hidden units | ${backends.map((name) => `${name}, s`).join(' | ')} | equal decisions, least |`);
console.log(`|${' --- |'.repeat(backends.length + 3)}`);
for (const units of numbers(values.hidden)) {
  for (const count of numbers(values.etas)) {
    const etas = Array.from({ length: count }, (_, index) => Number(((3 * index) / Math.max(1, count - 1)).toFixed(4)));
    const runs: Awaited<ReturnType<typeof sweep>>[] = [];
    for (const backend of backends) runs.push(await sweep(backend, etas, units, Number(values.epochs)));
    const shares = runs.slice(1).flatMap(({ decisions }) =>
      decisions.map((own, eta) => {
        const first: ArrayLike<number> = runs[0]?.decisions[eta] ?? [];
        return Array.from(own).filter((decision, row) => decision === first[row]).length / own.length;
      }),
    );
    const cells = [count, units, ...runs.map(({ seconds }) => seconds.toFixed(1)), Math.min(...shares).toFixed(5)];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

import { existsSync } from 'node:fs';
import path from 'node:path';

import { loadData } from '../../src/io/index.ts';
import { Table } from '../../src/table/index.ts';
import { encodeFeatures, encodedWidth, fitFeatures } from '../../src/training/data/feature-encoder.ts';
import { ReductionsWrapper, sweepPareto } from '../../src/training/index.ts';
import { ADULT_FEATURES, ADULT_TASK } from '../adult-task.ts';
import { median } from './measure.ts';
import { assertResult, type Note } from './report.ts';

const { target: TARGET, positiveLabel: POSITIVE, sensitive: SENSITIVE } = ADULT_TASK;

/** The result of the reduction with scikit-learn's regression and fairlearn 0.15 on the same rows. */
const FAIRLEARN = { accuracy: 0.8335, dp: 0.0156 };

/** The mean hypervolume of the PyTorch loop over its seeds 1 to 5, on the same rows (PyTorch 2.3.1). */
const PYTORCH_HYPERVOLUME = 0.08976;

/** Reads the Adult data as train and test; undefined if the folder does not contain them. */
async function readAdult(folder: string | undefined): Promise<{ train: Table; test: Table } | undefined> {
  const [train, test] = ['adult.train.csv', 'adult.test.csv'].map((name) => path.join(folder ?? '', name));
  if (folder === undefined || train === undefined || test === undefined || !existsSync(train)) return undefined;
  return { train: await loadData(train), test: await loadData(test) };
}

/** B4 and B5: measure training on Adult. */
export async function benchTraining(folder: string | undefined, note: Note): Promise<void> {
  const adult = await readAdult(folder);
  if (adult === undefined) {
    console.log('B4, B5  skipped: use --data to name a folder with adult.train.csv and adult.test.csv');
    return;
  }
  await benchReduction(adult.train, adult.test, note);
  await benchSweep(adult.train, adult.test, note);
}

async function benchReduction(train: Table, test: Table, note: Note): Promise<void> {
  const { specs } = fitFeatures(train, ADULT_FEATURES);
  const columns = encodedWidth(specs);
  assertResult(columns === 42, 'the 42 columns of the peer');
  const encode = (table: Table) => ({ rows: table.rowCount, columns, values: encodeFeatures(table, specs) });
  const labels = (table: Table): Float64Array => {
    const { codes, labels: texts } = table.categorical(TARGET);
    return Float64Array.from(codes, (code) => Number(texts[code]?.startsWith(POSITIVE)));
  };
  const [x, held] = [encode(train), encode(test)];
  const y = labels(train);
  const fit = async (): Promise<{ seconds: number; model: ReductionsWrapper }> => {
    const start = performance.now();
    const model = await new ReductionsWrapper({ constraint: 'demographic_parity', eps: 0.01 }).fit(x, y, {
      sensitive: train.column(SENSITIVE),
    });
    return { seconds: (performance.now() - start) / 1000, model };
  };
  await fit();
  const { seconds, model } = await median(3, fit, (one) => one.seconds);
  const found = expected(await model.predictProba(held), labels(test), test);
  assertResult(Math.abs(found.accuracy - FAIRLEARN.accuracy) < 0.003, `accuracy ${String(found.accuracy)}`);
  assertResult(Math.abs(found.dp - FAIRLEARN.dp) < 0.005, `gap ${String(found.dp)}`);
  const work = 'exponentiated gradient on Adult, demographic parity, eps 0.01';
  note({ id: 'B4', work, seconds, bar: 'a quarter of fairlearn in the same run', holds: seconds < 1.75 });
}

/** Returns the expected accuracy and gap of selection rates of randomised decisions. */
function expected(p: Float64Array, y: Float64Array, test: Table): { accuracy: number; dp: number } {
  const { codes, labels } = test.categorical(SENSITIVE);
  const sums = labels.map(() => ({ chosen: 0, n: 0 }));
  let right = 0;
  codes.forEach((code, row) => {
    const group = sums[code];
    const chosen = p[row] ?? NaN;
    right += y[row] === 1 ? chosen : 1 - chosen;
    if (group === undefined) return;
    group.chosen += chosen;
    group.n++;
  });
  const rates = sums.map(({ chosen, n }) => chosen / n);
  return { accuracy: right / y.length, dp: Math.max(...rates) - Math.min(...rates) };
}

async function benchSweep(train: Table, test: Table, note: Note): Promise<void> {
  const etas = Array.from({ length: 16 }, (_, index) => Number(((3 * index) / 15).toFixed(4)));
  const figures: { seconds: number; hypervolume: number }[] = [];
  for (const seed of [1, 2, 3, 4, 5]) {
    const start = performance.now();
    const { hypervolume } = await sweepPareto(
      {
        table: train,
        testTable: test,
        ...ADULT_TASK,
        features: ADULT_FEATURES,
      },
      {
        etas,
        penalty: 'mean_gap',
        epochs: 20,
        patience: 20,
        batchSize: 512,
        hidden: [64],
        lr: 3e-3,
        backend: 'wasm',
        seed,
      },
    );
    figures.push({ seconds: (performance.now() - start) / 1000, hypervolume });
  }
  const mean = figures.reduce((sum, figure) => sum + figure.hypervolume, 0) / figures.length;
  assertResult(mean > 0.99 * PYTORCH_HYPERVOLUME, `mean hypervolume ${String(mean)}`);
  const seconds = figures.map((figure) => figure.seconds).sort((a, b) => a - b)[2] ?? NaN;
  const work = 'Pareto sweep on Adult, 16 etas, 20 epochs, batch 512, hidden 64';
  note({ id: 'B5', work, seconds, bar: '0.8 of PyTorch in the same run', holds: seconds < 0.8 * 14.3 });
}

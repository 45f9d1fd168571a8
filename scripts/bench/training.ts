import { existsSync } from 'node:fs';
import path from 'node:path';

import { loadData } from '../../src/io/index.ts';
import { Table } from '../../src/table/index.ts';
import { encodeFeatures, encodedWidth, fitFeatures } from '../../src/training/data/feature-encoder.ts';
import { createRandom } from '../../src/internal/random.ts';
import { loadTensorflow, probeBackends } from '../../src/tensor/index.ts';
import { type Matrix, ReductionsWrapper, sweepPareto } from '../../src/training/index.ts';
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

/** B4: measures reductions of a million rows, and on Adult. */
export async function benchReductions(folder: string | undefined, note: Note): Promise<void> {
  await benchLargeReduction(note);
  const adult = await readAdult(folder);
  if (adult === undefined) console.log('B4 on Adult skipped: use --data to name a folder with adult.train.csv');
  else await benchReduction(adult.train, adult.test, note);
}

/** B5: measures a Pareto sweep on Adult. */
export async function benchSweeps(folder: string | undefined, note: Note): Promise<void> {
  const adult = await readAdult(folder);
  if (adult === undefined) console.log('B5 skipped: use --data to name a folder with adult.train.csv');
  else await benchSweep(adult.train, adult.test, note);
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

const [LARGE_ROWS, LARGE_COLUMNS] = [1_000_000, 40];

/**
 * Measures exponentiated gradient on a million rows by 40 features with many values: host arrays in float64, tensors of
 * each backend, and arrays with the default choice.
 */
async function benchLargeReduction(note: Note): Promise<void> {
  const { x, y, groups } = makeLargeRows();
  const options = { constraint: 'demographic_parity', eps: 0.01 } as const;
  const figures: { route: string; seconds: number; error: number }[] = [];
  const measure = async (route: string, fit: () => Promise<ReductionsWrapper>): Promise<void> => {
    const [start, before] = [performance.now(), process.cpuUsage()];
    const { history, bestIteration, result } = await fit();
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - start) / 1000;
    figures.push({ route, seconds, error: history[bestIteration]?.error ?? NaN });
    const processor = ((user + system) / 1e6).toFixed(1);
    console.log(`B4  ${route}: ${seconds.toFixed(1)} s, ${processor} s of processor time, ${String(result.fits)} fits`);
  };
  await measure('host arrays', () =>
    new ReductionsWrapper({ ...options, precision: 'float64' }).fit(x, y, { sensitive: groups }),
  );
  const available = new Set((await probeBackends()).flatMap(({ name, available: works }) => (works ? [name] : [])));
  for (const backend of ['wasm', 'node'] as const) {
    if (!available.has(backend)) {
      console.log(`B4  ${backend} tensors: skipped, the backend is not available`);
      continue;
    }
    const { tf } = await loadTensorflow({ backend });
    const tensors = [tf.tensor2d(x.values, [x.rows, x.columns]), tf.tensor1d(y), tf.tensor1d(groups)] as const;
    await measure(`${backend} tensors`, () =>
      new ReductionsWrapper(options).fit(tensors[0], tensors[1], { sensitive: tensors[2] }),
    );
    tf.dispose([...tensors]);
  }
  const fastest = Math.min(...figures.map(({ seconds }) => seconds));
  await measure('arrays, default', () => new ReductionsWrapper(options).fit(x, y, { sensitive: groups }));
  const [host, byDefault] = [figures[0], figures.at(-1)];
  const spread = Math.max(...figures.map(({ error }) => Math.abs(error - (host?.error ?? NaN))));
  assertResult(spread < 1e-5, `errors differ by ${String(spread)}`);
  const seconds = byDefault?.seconds ?? NaN;
  const work = 'exponentiated gradient on 1,000,000 rows by 40 features, demographic parity, eps 0.01';
  note({
    id: 'B4',
    work,
    seconds,
    bar: 'the default is the fastest route, within 20%',
    holds: seconds < 1.2 * fastest,
  });
}

/** Creates rows whose features have many values, in two groups with different rates. */
function makeLargeRows(): { x: Matrix & { values: Float32Array }; y: Float32Array; groups: Int32Array } {
  const random = createRandom(1);
  const values = new Float32Array(LARGE_ROWS * LARGE_COLUMNS);
  const [y, groups] = [new Float32Array(LARGE_ROWS), new Int32Array(LARGE_ROWS)];
  for (let row = 0; row < LARGE_ROWS; row++) {
    groups[row] = Number(random.next() < 0.4);
    let score = 0.8 * (groups[row] ?? 0) - 0.4 + 2 * random.next() - 1;
    for (let column = 0; column < LARGE_COLUMNS; column++) {
      const value = 2 * random.next() - 1;
      values[row * LARGE_COLUMNS + column] = value;
      if (column < 10) score += 0.6 * value;
    }
    y[row] = Number(score > 0);
  }
  return { x: { rows: LARGE_ROWS, columns: LARGE_COLUMNS, values }, y, groups };
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

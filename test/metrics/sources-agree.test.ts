import { writeFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { loadData } from '../../src/io/index.ts';
import { FairnessAnalyzer, type MetricResult } from '../../src/metrics/index.ts';
import { Table } from '../../src/table/index.ts';
import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

/** 2,000 rows with unequal groups, missing values in every column and a seed. */
function makeColumns() {
  const random = createRandom(7);
  const rows = Array.from({ length: 2000 }, () => {
    const sex = random.next() < 0.02 ? null : random.next() < 0.3 ? 'female' : 'male';
    const race = ['black', 'white', 'asian'][random.integer(3)] ?? '';
    const y = random.next() < 0.03 ? null : Number(random.next() < 0.4);
    const p = random.next() < 0.03 ? null : Number(random.next() < (sex === 'male' ? 0.5 : 0.35));
    return { sex, race, y, p, w: 1 + random.integer(4), amount: 10 * random.next(), guess: 10 * random.next() };
  });
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  return {
    sex: column('sex'),
    race: column('race'),
    y: column('y'),
    p: column('p'),
    w: column('w'),
    amount: column('amount'),
    guess: column('guess'),
  };
}

type Measured = Record<'dp' | 'eo' | 'mae', MetricResult>;

const options = { minGroupSize: 5 };

describe('arrays, tables, danfojs, files and tensors give the same numbers', () => {
  const folder = useTemporaryFolder();
  const columns = makeColumns();
  const table = Table.from(columns);

  async function fromArrays(): Promise<Measured> {
    const analyzer = new FairnessAnalyzer(options);
    const sensitive = { sex: columns.sex, race: columns.race };
    const sampleWeight = columns.w;
    return {
      dp: await analyzer.demographicParityDifference(columns.p, sensitive, { sampleWeight, ciSamples: 100 }),
      eo: await analyzer.equalizedOddsDifference(columns.y, columns.p, sensitive, { sampleWeight, ciSamples: 100 }),
      mae: await analyzer.maeParityDifference(columns.amount, columns.guess, sensitive, {
        sampleWeight,
        ciSamples: 100,
      }),
    };
  }

  const bound = { sensitiveCol: ['sex', 'race'], sampleWeightCol: 'w', minGroupSize: 5 };
  const decisions = { ...bound, yPredCol: 'p', yTrueCol: 'y' };
  const amounts = { ...bound, yPredCol: 'guess', yTrueCol: 'amount' };
  const ci = { ciSamples: 100 };

  async function fromFrame(frame: Parameters<typeof FairnessAnalyzer.fromDataFrame>[0]): Promise<Measured> {
    return {
      dp: await FairnessAnalyzer.fromDataFrame(frame, decisions).demographicParityDifference(ci),
      eo: await FairnessAnalyzer.fromDataFrame(frame, decisions).equalizedOddsDifference(ci),
      mae: await FairnessAnalyzer.fromDataFrame(frame, amounts).maeParityDifference(ci),
    };
  }

  async function fromFile(file: string): Promise<Measured> {
    return {
      dp: await FairnessAnalyzer.fromFile(file, decisions).demographicParityDifference(ci),
      eo: await FairnessAnalyzer.fromFile(file, decisions).equalizedOddsDifference(ci),
      mae: await FairnessAnalyzer.fromFile(file, amounts).maeParityDifference(ci),
    };
  }

  function writeCsvFile(): string {
    const file = path.join(folder(), 'rows.csv');
    const names = table.columnNames;
    const records = table.toRecords().map((record) => names.map((name) => record[name] ?? '').join(','));
    writeFileSync(file, [names.join(','), ...records].join('\n'));
    return file;
  }

  function assertSame(actual: Measured, expected: Measured, tolerance: number): void {
    for (const name of ['dp', 'eo', 'mae'] as const) {
      const [a, b] = [actual[name].toJSON(), expected[name].toJSON()];
      expect(a.n_per_group).to.deep.equal(b.n_per_group);
      expect(a.excluded).to.deep.equal(b.excluded);
      expect(a.n_dropped).to.equal(b.n_dropped);
      expect(a.value).to.be.closeTo(b.value ?? NaN, tolerance);
      expect(a.ci?.[0]).to.be.closeTo(b.ci?.[0] ?? NaN, tolerance);
      expect(a.ci?.[1]).to.be.closeTo(b.ci?.[1] ?? NaN, tolerance);
    }
  }

  it('has dropped rows and crossed groups, so that agreement is meaningful', async () => {
    const { dp, eo } = await fromArrays();
    expect(dp.nDropped).to.be.greaterThan(50);
    expect(eo.nDropped).to.be.greaterThan(dp.nDropped);
    expect(Object.keys(dp.nPerGroup)).to.have.length(6);
  });

  it('a table', async () => {
    assertSame(await fromFrame(table), await fromArrays(), 1e-12);
  });

  it('records', async () => {
    assertSame(await fromFrame(table.toRecords()), await fromArrays(), 1e-12);
  });

  it('a danfojs DataFrame', async () => {
    assertSame(await fromFrame(await table.toDanfo()), await fromArrays(), 1e-12);
  });

  it('a CSV file, counted by SQL', async () => {
    assertSame(await fromFile(writeCsvFile()), await fromArrays(), 1e-12);
  });

  it('a CSV file, loaded', async () => {
    assertSame(await fromFrame(await loadData(writeCsvFile())), await fromArrays(), 1e-12);
  });

  it('a Parquet file, counted by SQL', async () => {
    const parquet = path.join(folder(), 'rows.parquet');
    await runDuckDb(`COPY (SELECT * FROM read_csv('${writeCsvFile()}')) TO '${parquet}'`);
    assertSame(await fromFile(parquet), await fromArrays(), 1e-12);
  });

  for (const backend of ['cpu', 'wasm'] satisfies TensorBackend[]) {
    it(`tensors on ${backend}, decisions exactly and errors to float32 precision`, async () => {
      await loadTensorflow({ backend });
      const toNumbers = (values: readonly (number | null)[]) => values.map((value) => value ?? NaN);
      const [p, y, w, amount, guess] = [columns.p, columns.y, columns.w, columns.amount, columns.guess].map((values) =>
        tf.tensor1d(toNumbers(values)),
      );
      const before = tf.memory().numTensors;
      const analyzer = new FairnessAnalyzer(options);
      const sensitive = { sex: columns.sex, race: columns.race };
      const weighted = { sampleWeight: w, ciSamples: 100 };
      const measured = {
        dp: await analyzer.demographicParityDifference(p ?? [], sensitive, weighted),
        eo: await analyzer.equalizedOddsDifference(y ?? [], p ?? [], sensitive, weighted),
        mae: await analyzer.maeParityDifference(amount ?? [], guess ?? [], sensitive, weighted),
      };
      expect(tf.memory().numTensors).to.equal(before);
      const expected = await fromArrays();
      assertSame({ ...measured, mae: expected.mae }, expected, 1e-12);
      expect(measured.mae.value).to.be.closeTo(expected.mae.value, 1e-5);
      tf.dispose([p, y, w, amount, guess].filter((tensor) => tensor !== undefined));
    });
  }

  it('tensors with missing weights and groups, and boolean labels, agree with arrays', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const analyzer = new FairnessAnalyzer({ minGroupSize: 1 });
    const [yTrue, yPred, groups] = [
      [true, false, true, true, false, true],
      [1, 0, 0, 1, 1, 1],
      [0, 0, NaN, 7, 7, 7],
    ];
    const sampleWeight = [1, 2, 1, NaN, 3, 0.5];
    const host = await analyzer.equalizedOddsDifference(yTrue, yPred, groups, { sampleWeight });
    const before = tf.memory().numTensors;
    const device = { p: tf.tensor1d(yPred), g: tf.tensor1d(groups), w: tf.tensor1d(sampleWeight) };
    const result = await analyzer.equalizedOddsDifference(yTrue, device.p, device.g, { sampleWeight: device.w });
    expect(result.toJSON()).to.deep.equal(host.toJSON());
    tf.dispose(device);
    expect(tf.memory().numTensors).to.equal(before);
  });

  it('a tensor of group codes, and a decision tensor that holds a score', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const analyzer = new FairnessAnalyzer({ minGroupSize: 1 });
    const groups = tf.tensor1d([0, 0, 1, 1], 'int32');
    const result = await analyzer.demographicParityDifference(tf.tensor1d([1, 0, 1, 1]), groups);
    expect(result.perGroup).to.deep.equal({ '0': { selection_rate: 0.5 }, '1': { selection_rate: 1 } });
    let caught: unknown;
    await analyzer
      .demographicParityDifference(tf.tensor1d([1, 0, 0.25, 1]), groups)
      .catch((error: unknown) => (caught = error));
    expect(String(caught)).to.match(/yPred must be 0 or 1, but holds 0.25 at index 2/);
  });
});

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { loadData, openDuckDb, type SqlEngine } from '../../../src/io/index.ts';
import { encodeFeatures, fitFeatures } from '../../../src/training/data/feature-encoder.ts';
import { createRowFile, readRows } from '../../../src/training/data/row-file.ts';
import { loadBlock, type RowBlocks } from '../../../src/training/data/row-blocks.ts';
import {
  readStreamTraining,
  type StreamTraining,
  type StreamTrainingSource,
} from '../../../src/training/data/stream-training.ts';
import { readTrainingData } from '../../../src/training/data/training-data.ts';
import { loadModel, sweepPareto } from '../../../src/training/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

const folder = useTemporaryFolder();

function write(name: string, text: string): string {
  const file = path.join(folder(), name);
  writeFileSync(file, text);
  return file;
}

/** Rows with numbers, texts, missing values in each column, labels that need quotes, and a column of identifiers. */
function csvOf(rows: number, seed = 5): string {
  const random = createRandom(seed);
  const orMissing = (text: string): string => (random.next() < 0.04 ? '' : text);
  const colours = ['red', '"blue, dark"', "it's", 'NA', '(missing)'];
  const lines = Array.from({ length: rows }, (_, row) =>
    [
      orMissing(String(Math.round(1e6 * random.normal()) / 1e4)),
      orMissing(colours[random.integer(colours.length)] as string),
      orMissing(random.next() < 0.3 ? 'NA' : String(random.integer(50))),
      `id-${String(row)}`,
      '7',
      orMissing(random.next() < 0.3 ? 'good' : 'bad'),
      orMissing(random.next() < 0.5 ? 'f' : 'm'),
      orMissing(random.next() < 0.5 ? '1' : '1.0'),
    ].join(','),
  );
  return `amount,colour,count,id,seven,y,sex,site\n${lines.join('\n')}\n`;
}

const ROLES = { target: 'y', sensitive: ['sex', 'site'], positiveLabel: 'good' };

/** Every encoded row as one text, sorted: the order of rows in a file of blocks is random. */
function encodedRows(parts: readonly RowBlocks[]): string[] {
  const lines: string[] = [];
  for (const rows of parts) {
    for (const block of rows.blocks) {
      const { x, y, groups, inputs } = loadBlock(rows, block);
      expect(y.length).to.equal(block.rows);
      for (const [row, label] of y.entries())
        lines.push(rowText(x.subarray(row * inputs, (row + 1) * inputs), label, groups[row] as number));
    }
  }
  return lines.sort();
}

function rowText(x: Float32Array, label: number, group: number): string {
  return `${Array.from(x, (value) => value.toFixed(4).replace('-0.0000', '0.0000')).join(' ')} ${String(label)} ${String(group)}`;
}

async function withTraining<T>(
  source: StreamTrainingSource,
  work: (training: StreamTraining) => T,
  seed = 1,
): Promise<T> {
  const training = await readStreamTraining(source, { caller: 'test', stopsEarly: true, trainSize: 0.8, seed });
  try {
    return work(training);
  } finally {
    training.remove();
  }
}

describe('rows in a file', () => {
  it('are those that were written, in each part', () => {
    const random = createRandom(3);
    const file = createRowFile(3, { numbers: 2, codes: 1 }, folder());
    const expected = [0, 1, 2].map(() => [] as number[][]);
    const columns = {
      rows: 50_000,
      numbers: [0, 1].map(() => Float64Array.from({ length: 50_000 }, () => random.normal())),
      codes: [Int32Array.from({ length: 50_000 }, () => random.integer(9) - 1)],
    };
    for (let row = 0; row < columns.rows; row++) {
      const part = row % 7 === 0 ? 2 : 0;
      expected[part]?.push([...columns.numbers, ...columns.codes].map((values) => values[row] as number));
      file.add(part, columns, row);
    }
    const written = file.finish();
    expect(written.parts.map(({ rows }) => rows)).to.deep.equal(expected.map(({ length }) => length));
    for (const [part, rows] of expected.entries()) {
      const { numbers, codes } = readRows(written, part);
      const found = rows.map((_, row) => [...numbers, ...codes].map((values) => values[row] as number));
      expect(found).to.deep.equal(rows);
    }
    expect(existsSync(written.path)).to.equal(true);
    file.remove();
    expect(existsSync(written.path)).to.equal(false);
  });

  it('need a folder that can be written', () => {
    const missing = path.join(folder(), 'missing');
    expect(() => createRowFile(1, { numbers: 1, codes: 1 }, missing)).to.throw(
      `Rows cannot be written to a temporary file in '${missing}': the folder does not exist.`,
    );
  });
});

describe('training rows that are read as a stream', () => {
  it('have the encoding and the warnings of a table, and each row once', async () => {
    const file = write('rows.csv', csvOf(4000));
    const table = await loadData(file, { labels: ROLES.sensitive });
    const { rows, features, warnings, positiveLabel } = readTrainingData({ table, ...ROLES });
    const fitted = fitFeatures(rows.table, features);
    const x = encodeFeatures(rows.table, fitted.specs);
    const width = x.length / rows.y.length;
    const expected = Array.from(rows.y, (label, row) =>
      rowText(x.subarray(row * width, (row + 1) * width), label, rows.groups.codes[row] as number),
    ).sort();
    // All rows of the source are training rows if there are test rows.
    await withTraining({ source: file, testSource: file, ...ROLES }, (training) => {
      expect(encodedRows([training.train, training.validation])).to.deep.equal(expected);
      expect(encodedRows([training.heldOut])).to.deep.equal(expected);
      expect(training.specs.map(({ name }) => name)).to.deep.equal(fitted.specs.map(({ name }) => name));
      expect(training.warnings.slice(0, -1)).to.deep.equal([...warnings, ...fitted.warnings]);
      expect(training.warnings.at(-1)).to.match(/^the test rows are the training rows, /);
      expect(training.groupLabels).to.deep.equal(rows.groups.labels);
      expect([training.nDropped, training.positiveLabel]).to.deep.equal([rows.nDropped, positiveLabel]);
    });
  });

  it('are split at random by the seed, and each row is in one part', async () => {
    const file = write('split.csv', csvOf(20_000));
    const parts = (training: StreamTraining): string[][] =>
      [training.train, training.validation, training.heldOut].map((part) => encodedRows([part]));
    const counts = await withTraining({ source: file, ...ROLES }, (training) => {
      const sizes = parts(training).map(({ length }) => length);
      const [train = 0, validation = 0, heldOut = 0] = sizes;
      const kept = train + validation + heldOut;
      expect(kept).to.equal(20_000 - training.nDropped);
      // Within five standard deviations of 80%, and of 10% of these.
      expect(Math.abs(heldOut - 0.2 * kept)).to.be.below(5 * Math.sqrt(kept * 0.16));
      expect(Math.abs(validation - 0.1 * (train + validation))).to.be.below(5 * Math.sqrt(train * 0.09));
      return parts(training);
    });
    expect(await withTraining({ source: file, ...ROLES }, parts)).to.deep.equal(counts);
    expect(await withTraining({ source: file, ...ROLES }, parts, 2)).to.not.deep.equal(counts);
  });

  it('are the same from files, from DuckDB, and from an engine that returns rows in parts', async () => {
    const file = write('engine.csv', csvOf(3000));
    const features = ['amount', 'colour', 'seven'];
    const given = { ...ROLES, features, sensitive: 'sex' };
    const query = `SELECT * FROM read_csv('${file}', header = true, types = {'site': 'VARCHAR', 'count': 'VARCHAR'})`;
    const duckdb = openDuckDb();
    const { rows, columns } = await duckdb.query(`SELECT "amount", "colour", "seven", "y", "sex" FROM (${query})`);
    const asked: string[] = [];
    const engine: SqlEngine = {
      name: 'my engine',
      dialect: 'postgres',
      query(sql) {
        asked.push(sql);
        if (sql.includes('LIMIT 1')) return Promise.resolve({ columns, rows: rows.slice(0, 1) });
        return Promise.resolve({ columns: ['n'], rows: [[String(rows.length)]] });
      },
      async *stream(sql) {
        asked.push(sql);
        for (let start = 0; start < rows.length; start += 700)
          yield await Promise.resolve(rows.slice(start, start + 700));
      },
      close: () => Promise.resolve(),
    };
    const found: string[][] = [];
    for (const source of [file, { engine: duckdb, query }, { engine, table: 'loans' }]) {
      found.push(
        await withTraining({ source, testSource: source, ...given }, (training) => encodedRows([training.heldOut])),
      );
    }
    expect(found[0]).to.have.length.above(2500);
    expect(found[1]).to.deep.equal(found[0]);
    expect(found[2]).to.deep.equal(found[0]);
    expect(asked[2]).to.match(
      /^SELECT CAST\("amount" AS DOUBLE PRECISION\) AS eh_c0, CAST\("colour" AS TEXT\) COLLATE "C" AS eh_c1,/,
    );
    await duckdb.close();
  });

  it('groups that occur only in the test rows are last', async () => {
    const source = write('seen.csv', 'x,y,s\n1,0,m\n2,1,k\n3,1,m\n4,0,k\n');
    const testSource = write('unseen.csv', 'x,y,s\n1,0,m\n2,1,a\n3,1,k\n4,0,z\n,1,\n');
    await withTraining({ source, testSource }, (training) => {
      expect(training.groupLabels).to.deep.equal(['k', 'm', 'a', 'z']);
      expect([training.train.groupCount, training.heldOut.groupCount, training.nDropped]).to.deep.equal([2, 4, 0]);
      expect([...training.counts.train]).to.deep.equal([1, 1, 1, 1, 0, 0, 0, 0]);
      expect([...training.counts.heldOut]).to.deep.equal([0, 1, 1, 0, 0, 1, 1, 0]);
    });
  });

  it('an engine whose rows end early is an error', async () => {
    const engine: SqlEngine = {
      name: 'my engine',
      dialect: 'postgres',
      query: (sql) =>
        Promise.resolve(
          sql.includes('COUNT')
            ? { columns: ['n'], rows: [['3']] }
            : { columns: ['x', 'y', 's'], rows: [[1, '0', 'a']] },
        ),
      async *stream() {
        yield await Promise.resolve([[1, '0', 'a'] as const, [2, '1', 'b'] as const]);
      },
      close: () => Promise.resolve(),
    };
    const source = { engine, table: 'loans' };
    expect(await messageOf(withTraining({ source }, () => undefined))).to.equal(
      "The rows of 'loans' in my engine changed while they were read: 3 rows were counted, but 2 were read.",
    );
    const without = { ...engine, stream: undefined } as unknown as SqlEngine;
    expect(await messageOf(withTraining({ source: { engine: without, table: 'l' } }, () => undefined))).to.equal(
      'my engine cannot return rows in parts.',
    );
  });

  const WRONG: readonly (readonly [what: string, csv: string, given: object, message: RegExp])[] = [
    ['an unknown column', 'x,y,s\n1,0,a\n2,1,b\n', { features: ['z'] }, /no column 'z'/],
    ['a target that is a feature', 'x,y,s\n1,0,a\n2,1,b\n', { features: ['y'] }, /'y' is the target/],
    ['one group', 'x,y,s\n1,0,a\n2,1,a\n', {}, /has one group only \('a'\)/],
    ['one class', 'x,y,s\n1,1,a\n2,1,b\n', {}, /has one value only/],
    ['three labels', 'x,y,s\n1,p,a\n2,q,b\n3,r,a\n', {}, /has 3 values \('p', 'q', 'r'\), but training needs two/],
    ['an unknown label', 'x,y,s\n1,p,a\n2,q,b\n', { positiveLabel: 'z' }, /never has the value 'z'/],
    ['no group', 'x,y,s\n1,0,\n2,1,\n', {}, /has no group/],
    ['an infinite number', 'x,y,s\n1,0,a\n1e999,1,b\n', {}, /Column 'x' must be finite, but row 2 holds Infinity/],
    ['features that never vary', 'x,y,s\n1,0,a\n1,1,b\n', {}, /no feature to train on/],
    ['no rows', 'x,y,s\n', {}, /no rows|has no group/],
  ];
  for (const [what, csv, given, message] of WRONG) {
    it(`${what} is one clear error, and leaves no file`, async () => {
      const temporaryFolder = path.join(folder(), what);
      mkdirSync(temporaryFolder);
      const file = write('wrong.csv', csv);
      const error = await messageOf(
        withTraining({ source: file, testSource: file, temporaryFolder, ...given }, () => undefined),
      );
      expect(error).to.match(message);
      expect(readdirSync(temporaryFolder)).to.deep.equal([]);
    });
  }

  it('rejects a column of numbers with one text, in any row of a small or large file', async () => {
    for (const [count, at] of [
      [200, 7],
      [100_500, 7],
      [100_500, 100_400],
    ] as const) {
      // prettier-ignore
      const lines = Array.from({ length: count }, (_, row) => `${String(row % 5)},${row === at ? '30k' : String(row)},${String(row % 2)},${row % 3 === 0 ? 'a' : 'b'}`); // prettier-ignore
      const file = write('numbers.csv', `x,income,y,s\n${lines.join('\n')}\n`);
      expect(await messageOf(withTraining({ source: file }, () => undefined))).to.match(
        /^Feature 'income' should hold numbers, but (?:1 of [\d,]+ values is not, for example '30k'|some of its values are not)\./,
      );
    }
  });

  it('more than 100,000 different groups are an error, and as many texts of a feature are left out', async () => {
    const lines = Array.from(
      { length: 100_500 },
      (_, row) => `${String(row % 5)},t${String(row)},${String(row % 2)},${row % 3 === 0 ? 'a' : 'b'}`,
    );
    const file = write('many.csv', `x,id,y,s\n${lines.join('\n')}\n`);
    await withTraining({ source: file }, ({ specs, warnings }) => {
      expect(specs.map(({ name }) => name)).to.deep.equal(['x']);
      expect(warnings).to.deep.equal([
        "feature 'id' is excluded: it has more than 100,000 distinct texts, which look like identifiers",
      ]);
    });
    expect(await messageOf(withTraining({ source: file, sensitive: 'id' }, () => undefined))).to.equal(
      "Column 'id' has more than 100,000 different values.",
    );
  });
});

describe('a sweep of rows that are read as a stream', () => {
  const options = { etas: [0, 4], epochs: 6, hidden: [8], lr: 0.01, batchSize: 64, minGroupSize: 2 } as const;
  /** The probability of y rises with x, and x is larger in group b. */
  const linear = (rows: number): string => {
    const random = createRandom(9);
    const lines = Array.from({ length: rows }, () => {
      const isB = random.next() < 0.5;
      const x = random.normal() + (isB ? 1 : 0);
      return `${x.toFixed(6)},${Number(random.next() < 1 / (1 + Math.exp(-2 * x)))},${isB ? 'b' : 'a'}`;
    });
    return `x,y,s\n${lines.join('\n')}\n`;
  };

  it('learns as well as from a table, and constrains the gap', async () => {
    const source = write('linear.csv', linear(12_000));
    const testSource = write('linear-test.csv', linear(6000));
    const [ofTable, ofStream] = await Promise.all([
      sweepPareto({ table: await loadData(source), testTable: await loadData(testSource) }, options),
      sweepPareto({ source, testSource }, options),
    ]);
    for (const [index, point] of ofStream.entries()) {
      const expected = ofTable[index] as (typeof ofTable)[number];
      expect(point.accuracy).to.be.closeTo(expected.accuracy, 0.01);
      expect(point.dpDiff).to.be.closeTo(expected.dpDiff, 0.04);
    }
    expect((ofStream[1]?.dpDiff ?? 1) + 0.1).to.be.below(ofStream[0]?.dpDiff ?? 0);
    const facts = ({ nTrain, nTest, nDropped, target, sensitive }: typeof ofTable): object => ({ nTrain, nTest, nDropped, target, sensitive }); // prettier-ignore
    expect(facts(ofStream)).to.deep.equal(facts(ofTable));
  });

  it('does not depend on the number of threads, and reads several blocks @slow', async () => {
    const wide = Array.from({ length: 300 }, (_, column) => `c${String(column)}`);
    const random = createRandom(2);
    const lines = Array.from({ length: 30_000 }, (_, row) =>
      [...wide.map(() => String(random.integer(3))), String(random.integer(2)), row % 2 === 0 ? 'a' : 'b'].join(','),
    );
    const source = write('wide.csv', `${wide.join(',')},y,s\n${lines.join('\n')}\n`);
    const seen: string[] = [];
    const run = (threads: number): ReturnType<typeof sweepPareto> =>
      sweepPareto(
        { source },
        {
          ...{ etas: Array.from({ length: 9 }, (_, eta) => eta), epochs: 1, hidden: [4], batchSize: 512, threads },
          onProgress: ({ stage, done, total }) => seen.push(`${stage} ${String(done)} of ${String(total)}`),
        },
      );
    const one = await run(1);
    // 24,000 rows of 600 columns are two blocks; nine networks are two shards.
    expect(seen).to.include.members(['reading rows 30000 of 30000', 'training 1 of 4', 'training 4 of 4', 'evaluating 1 of 1']); // prettier-ignore
    expect(await run(2)).to.deep.equal(one);
  });

  it('saves its networks, which predict the rows of a file', async () => {
    const source = write('saved.csv', linear(4000));
    const modelPath = path.join(folder(), 'networks');
    const points = await sweepPareto({ source }, { ...options, modelPath });
    const model = await loadModel(modelPath, { eta: 0 });
    const table = await loadData(source);
    const predicted = await model.predict(table);
    const right = Array.from(table.numeric('y').values).filter((label, row) => label === predicted[row]).length;
    expect(right / table.rowCount).to.be.closeTo(points[0]?.accuracy ?? 0, 0.03);
  });

  it('stops at a signal, and leaves no file', async () => {
    const temporaryFolder = path.join(folder(), 'stopped');
    mkdirSync(temporaryFolder);
    const source = write('stopped.csv', linear(20_000));
    for (const stage of ['reading rows', 'training', 'evaluating']) {
      const controller = new AbortController();
      const pending = sweepPareto(
        { source, temporaryFolder },
        {
          ...{ ...options, epochs: 2, signal: controller.signal },
          onProgress: (event) => {
            if (event.stage === stage) controller.abort(new Error(`stopped while ${stage}`));
          },
        },
      );
      // The last report may come after the last check of the signal.
      expect(await messageOf(pending)).to.equal(`stopped while ${stage}`);
      expect(readdirSync(temporaryFolder)).to.deep.equal([]);
    }
  });

  it('rejects options that need all rows at once', async () => {
    const source = write('options.csv', linear(100));
    for (const given of [{ folds: 3 }, { etas: 'auto' as const }, { network: () => undefined as never }]) {
      const [name = ''] = Object.keys(given);
      expect(await messageOf(sweepPareto({ source }, given))).to.match(new RegExp(`^The ${name} parameter must be .* if rows are read as a stream`)); // prettier-ignore
    }
    expect(await messageOf(sweepPareto({ source, sorted: true } as never))).to.match(/sorted/);
  });
});

async function messageOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('There was no error.');
}

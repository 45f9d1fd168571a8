import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { loadData, openDuckDb, writeCsv } from '../../../src/io/index.ts';
import { Table } from '../../../src/table/index.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import {
  reductionsJobToJson,
  trainReductions,
  type TrainReductionsOptions,
} from '../../../src/training/jobs/train-reductions.ts';
import { trainLagrangian } from '../../../src/training/jobs/train-lagrangian.ts';
import { loadModel } from '../../../src/training/models/load-model.ts';
import { anchorRun, loadAnchorData, readAnchors } from '../../helpers/anchor-data.ts';
import { describeWithReference } from '../../helpers/reference.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { errorOf } from './made-source.ts';

const folder = useTemporaryFolder();
const estimator = new LogisticRegression({ precision: 'float64' });
const quick = { estimator, backend: 'cpu', eps: 0.05 } as const;

function write(name: string, text: string): string {
  const file = path.join(folder(), name);
  writeFileSync(file, text);
  return file;
}

/** Three groups that differ in numbers and texts that determine the target, with missing values everywhere. */
function csvOf(rows: number, seed = 5): string {
  const random = createRandom(seed);
  const orMissing = (text: string): string => (random.next() < 0.03 ? '' : text);
  const lines = Array.from({ length: rows }, () => {
    const group = random.next() < 0.2 ? 'few' : random.next() < 0.5 ? 'many' : 'more';
    const shift = { few: -0.9, many: 0.5, more: 0.1 }[group];
    const [amount, years] = [random.normal() + shift, random.integer(40)];
    const job = ['clerk', 'nurse', 'cook'][random.integer(3)] as string;
    const isGood = amount + (job === 'nurse' ? 0.6 : 0) + years / 40 - 0.5 + 0.8 * random.normal() > 0;
    return [
      ...[orMissing(amount.toFixed(5)), orMissing(String(years)), orMissing(job)],
      ...[orMissing(isGood ? 'good' : 'bad'), orMissing(group)],
    ].join(',');
  });
  return `amount,years,job,y,s\n${lines.join('\n')}\n`;
}

const ROLES = { positiveLabel: 'good' };

/** Trains on the same rows from a table and from a file. All rows are both training rows and held-out rows. */
async function both(
  file: string,
  options: TrainReductionsOptions,
): Promise<readonly Awaited<ReturnType<typeof trainReductions>>[]> {
  const table = await loadData(file, { labels: ['s'] });
  return [
    await trainReductions({ table, testTable: table, ...ROLES }, options),
    await trainReductions({ source: file, testSource: file, ...ROLES }, options),
  ];
}

describe('trainReductions on rows that are read as a stream', () => {
  const constraints: readonly TrainReductionsOptions[] = [
    { constraint: 'demographic_parity', eps: 0.03 },
    { constraint: 'equalized_odds', eps: 0.05 },
    { constraint: 'equalized_odds', ratioBound: 0.8, eps: 0.05, bound: 'pairwise' },
    { constraint: 'error_rate_parity', eps: 0.02 },
    { constraint: 'true_positive_rate_parity', eps: 0.02 },
    { constraint: 'bounded_group_loss', upperBound: 0.23 },
    {
      constraint: 'demographic_parity',
      estimator: new LogisticRegression({ precision: 'float64', classWeight: 'balanced', l2: 3 }),
    },
  ];
  for (const given of constraints) {
    const weight = given.estimator === undefined ? '' : ' with class weights';
    const title = `${given.constraint ?? ''}${given.ratioBound === undefined ? '' : ' of ratios'}${weight}`;
    it(`has the mixture, the violation and the quality of the same rows in a table: ${title}`, async () => {
      const [table, stream] = await both(write('same.csv', csvOf(3000)), { ...quick, ...given });
      if (table === undefined || stream === undefined) throw new TypeError('There are two results.');
      const [expected, found] = [table, stream].map(({ model }) => model.result);
      if (expected === undefined || found === undefined) throw new TypeError('There are two fits.');
      expect(found.predictors).to.have.length(expected.predictors.length);
      expect(found.history).to.have.length(expected.history.length);
      for (const [index, predictor] of expected.predictors.entries()) {
        expect(found.weights[index]).to.be.closeTo(expected.weights[index] ?? NaN, 1e-8);
        const own = found.predictors[index];
        if (!(predictor instanceof LogisticRegression)) {
          expect(own?.toJSON()).to.deep.equal(predictor.toJSON());
          continue;
        }
        expect(own).to.be.instanceOf(LogisticRegression);
        const [theirs, ours] = [predictor, own as LogisticRegression].map((model) => [...model.coefficients, model.intercept]); // prettier-ignore
        ours?.forEach((value, column) => expect(value).to.be.closeTo(theirs?.[column] ?? NaN, 1e-8));
      }
      expect(stream.violation).to.be.closeTo(table.violation, 1e-9);
      expect([stream.oracleCalls, found.fits, found.constantAnswers]).to.deep.equal([table.oracleCalls, expected.fits, expected.constantAnswers]); // prettier-ignore
      expect(found.nu).to.be.closeTo(expected.nu, 1e-12);
      expectSame(reductionsJobToJson(stream), reductionsJobToJson(table));
      expect(stream.model.toJSON().params).to.deep.equal(table.model.toJSON().params);
      expectSame(stream.model.toJSON().state, table.model.toJSON().state);
    });
  }

  it('has the mixture and the quality of the same rows in a table, in several blocks @study', async () => {
    const source = write('large.csv', csvOf(1_400_000));
    const testSource = write('large-test.csv', csvOf(2000, 6));
    const labels = ['s'];
    const options = { ...quick, nu: 1e-3 };
    const seen = new Set<string>();
    const stream = await trainReductions(
      { source, testSource, ...ROLES },
      { ...options, onProgress: ({ stage, total }) => seen.add(`${stage} ${String(total)}`) },
    );
    // 1.4 million rows in blocks of at most 2^18 rows are six, each of which is prepared in two steps.
    expect([...seen], [...seen].join()).to.include('preparing rows 12');
    const table = await trainReductions(
      { table: await loadData(source, { labels }), testTable: await loadData(testSource, { labels }), ...ROLES },
      options,
    );
    expectSame(reductionsJobToJson(stream), reductionsJobToJson(table), '', 1e-5);
    expect(stream.model.weights).to.have.length(table.model.weights.length);
    table.model.weights.forEach((weight, index) => expect(stream.model.weights[index]).to.be.closeTo(weight, 1e-5));
  });

  it('gives the same result for the same seed, holds rows out by the seed, and has no rows for early stopping', async () => {
    const source = write('split.csv', csvOf(6000));
    const run = async (seed: number): Promise<Record<string, unknown>> =>
      reductionsJobToJson(await trainReductions({ source, ...ROLES }, { ...quick, seed }));
    const first = await run(1);
    expect(await run(1)).to.deep.equal(first);
    expect(await run(2)).to.not.deep.equal(first);
    const [train, test, dropped] = ['n_train', 'n_test', 'n_dropped'].map((name) => first[name] as number);
    expect((train ?? 0) + (test ?? 0) + (dropped ?? 0)).to.equal(6000);
    // Within five standard deviations of 80%.
    const kept = 6000 - (dropped ?? 0);
    expect(Math.abs((train ?? 0) - 0.8 * kept)).to.be.below(5 * Math.sqrt(kept * 0.16));
    const groups = first['groups'] as Record<string, number>;
    expect(Object.values(groups).reduce((sum, size) => sum + size, 0)).to.equal(train);
  });

  it('is the same from a file and from an engine', async () => {
    const file = write('engine.csv', csvOf(2000));
    const engine = openDuckDb();
    const source = { engine, query: `SELECT * FROM read_csv('${file}', header = true)` };
    const run = async (own: typeof source | string): Promise<object> =>
      reductionsJobToJson(await trainReductions({ source: own, testSource: own, ...ROLES }, quick));
    expectSame(await run(source), await run(file));
    await engine.close();
  });

  it('saves a model that predicts the rows of a table', async () => {
    const source = write('saved.csv', csvOf(2000));
    const modelPath = path.join(folder(), 'saved');
    const result = await trainReductions({ source, testSource: source, ...ROLES }, { ...quick, modelPath });
    const table = await loadData(source, { labels: ['s'] });
    const scores = await (await loadModel(modelPath)).predictProba(table);
    const { labels, codes } = table.categorical('y');
    const groups = table.categorical('s').codes;
    let [right, kept] = [0, 0];
    scores.forEach((score, row) => {
      const code = codes[row] as number;
      if (code < 0 || (groups[row] as number) < 0) return;
      kept++;
      right += labels[code] === 'good' ? score : 1 - score;
    });
    expect(kept).to.equal(result.nTest);
    expect(right / kept).to.be.closeTo(result.final.accuracy, 1e-6);
  });

  it('names groups that training has not seen, and small groups', async () => {
    const source = write('seen.csv', csvOf(2000));
    const rows = csvOf(1000, 6).split('\n');
    const lines = rows.map((line, row) => (row > 0 && row < 20 ? line.replace(/(few|many|more|)$/, 'new') : line));
    const testSource = write('unseen.csv', lines.join('\n'));
    const { warnings, final, train } = await trainReductions({ source, testSource, ...ROLES }, quick);
    expect(warnings).to.include("group 'new' occurs only in the test rows, so the constraint does not cover it");
    expect(warnings.join()).to.match(/group 'new' has \d+ held-out rows and is excluded from the gaps/);
    expect(final.groups.map(({ group }) => group)).to.include('new');
    expect(train.final.groups.map(({ group }) => group)).to.not.include('new');
  });

  it('stops at a signal at every stage, and leaves no file', async () => {
    const temporaryFolder = path.join(folder(), 'stopped');
    mkdirSync(temporaryFolder);
    const modelPath = path.join(folder(), 'stopped-model');
    const source = write('stopped.csv', csvOf(4000));
    const seen = new Set<string>();
    for (const stage of ['reading rows', 'preparing rows', 'exponentiated gradient', 'evaluating']) {
      const controller = new AbortController();
      const pending = trainReductions(
        { source, temporaryFolder, ...ROLES },
        {
          ...{ ...quick, modelPath, signal: controller.signal },
          onProgress: (event) => {
            seen.add(event.stage);
            if (event.stage === stage) controller.abort(new Error(`stopped while ${stage}`));
          },
        },
      );
      expect(((await errorOf(pending)) as Error).message).to.equal(`stopped while ${stage}`);
      expect(readdirSync(temporaryFolder)).to.deep.equal([]);
    }
    expect([...seen]).to.deep.equal(['reading rows', 'preparing rows', 'exponentiated gradient', 'evaluating']);
    expect(readdirSync(folder())).to.not.include('stopped-model');
  });

  class OwnRegression extends LogisticRegression {}

  const refusals: readonly (readonly [string, string, object, object, RegExp])[] = [
    ['folds', csvOf(200), {}, { folds: 3 }, /^The folds parameter must be left out if rows are read as a stream/],
    ['another estimator', csvOf(200), {}, { estimator: new ConstantClassifier(1) }, /^The estimator parameter must be a LogisticRegression if rows are read as a stream, because it is fitted block by block. Got ConstantClassifier instead/], // prettier-ignore
    ['a subclass', csvOf(200), {}, { estimator: new OwnRegression() }, /Got OwnRegression instead/],
    ['an unknown option of the source', csvOf(200), { sorted: true }, {}, /trainReductions.*sorted/],
    ['an unknown column', csvOf(200), { features: ['z'] }, {}, /no column 'z'/],
    ['an unknown constraint', csvOf(200), {}, { constraint: 'parity' }, /constraint parameter must be one of/],
    ['one group', 'x,y,s\n1,0,a\n2,1,a\n', {}, {}, /one group only \('a'\)/],
    ['one class', 'x,y,s\n1,1,a\n2,1,b\n', {}, {}, /one value only/],
    ['groups that are too small to compare', 'x,y,s\n1,0,a\n2,1,b\n3,1,a\n4,0,b\n', {}, {}, /fewer than two groups of at least 30 rows/], // prettier-ignore
  ];
  for (const [what, csv, given, options, message] of refusals) {
    it(`rejects ${what} with one clear error, and leaves no file`, async () => {
      const temporaryFolder = path.join(folder(), `wrong ${what}`);
      mkdirSync(temporaryFolder);
      const source = write('wrong.csv', csv);
      const error = await errorOf(
        trainReductions({ source, testSource: source, temporaryFolder, ...given }, { backend: 'cpu', ...options }),
      );
      expect((error as Error).message).to.match(message);
      expect(readdirSync(temporaryFolder)).to.deep.equal([]);
    });
  }

  it('is not available in trainLagrangian', async () => {
    const error = await errorOf(trainLagrangian({ source: 'rows.csv' } as never));
    expect((error as Error).message).to.match(/^The source parameter must be left out, .*: give table/);
  });

  it('rejects folds as an invalid parameter', async () => {
    const error = await errorOf(trainReductions({ source: write('folds.csv', csvOf(200)) }, { folds: 3 }));
    expect(error).to.be.instanceOf(ValueError);
  });
});

describeWithReference('trainReductions on rows that are read as a stream, against the runs of fairlearn', () => {
  const { compas: anchor } = readAnchors();
  for (const [run, constraint] of [
    ['expgrad_DP_eps0.05', 'demographic_parity'],
    ['expgrad_EO_eps0.05', 'equalized_odds'],
  ] as const) {
    it(`COMPAS ${run}: no less accurate by 0.005, the gap constrained no larger by 0.01`, async () => {
      const { train, test } = await loadAnchorData('compas', anchor);
      const fileOf = async (name: string, { x, y, sensitive }: typeof train): Promise<string> => {
        const features = anchor.columns.map((column, index) => [column, Array.from({ length: x.rows }, (_, row) => x.values[row * x.columns + index] as number)]); // prettier-ignore
        const file = path.join(folder(), name);
        await writeCsv(file, Table.from({ ...Object.fromEntries(features), y: [...y], s: sensitive } as Record<string, number[] | string[]>)); // prettier-ignore
        return file;
      };
      const source = await fileOf('compas-train.csv', train);
      const testSource = await fileOf('compas-test.csv', test);
      const result = await trainReductions({ source, testSource }, { constraint, eps: 0.05, backend: 'cpu' });
      const theirs = anchorRun(anchor, run);
      for (const [ours, figures] of [
        [result.final, theirs.test],
        [result.train.final, theirs.train],
      ] as const) {
        expect(ours.accuracy).to.be.at.least(figures.accuracy - 0.005);
        if (constraint === 'demographic_parity') expect(ours.dpDiff).to.be.at.most(figures.dpd + 0.01);
        else expect(ours.eoDiff).to.be.at.most(figures.eod + 0.01);
      }
      const free = anchorRun(anchor, 'unconstrained_lr').test;
      expect(result.baseline.accuracy).to.be.closeTo(free.accuracy, 0.005);
      expect(result.baseline.dpDiff).to.be.closeTo(free.dpd, 0.01);
    });
  }
});

/** Compares JSON, with numbers up to rounding. */
function expectSame(found: unknown, expected: unknown, at = '', rounding = 1e-8): void {
  if (typeof expected === 'number') expect(found, at).to.be.closeTo(expected, rounding);
  else if (typeof expected !== 'object' || expected === null) expect(found, at).to.equal(expected);
  else {
    expect(Object.keys(found as object).sort(), at).to.deep.equal(Object.keys(expected).sort());
    for (const [name, value] of Object.entries(expected)) {
      expectSame((found as Record<string, unknown>)[name], value, `${at}.${name}`, rounding);
    }
  }
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { openDuckDb } from '../../../src/io/index.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { predictFile, predictTable } from '../../../src/training/jobs/predict-table.ts';
import { trainReductions } from '../../../src/training/jobs/train-reductions.ts';
import { Table } from '../../../src/table/index.ts';
import { describeUnlikelyNumbers } from '../../../src/training/models/describe-gaps.ts';
import { loadModel } from '../../../src/training/models/load-model.ts';
import { saveModel } from '../../../src/training/models/save-model.ts';
import { plainFeatures } from '../../../src/training/models/model-card.ts';
import { type Predictor, SavedModel } from '../../../src/training/models/saved-model.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { encodeByHand, predictWithPlainTfjs, readCard } from '../models/plain-tfjs.ts';
import { errorOf, makeSource } from './made-source.ts';

const folder = useTemporaryFolder();
const index = (): string => path.join(folder(), 'model');
let model: SavedModel;

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder(), name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('predictions for tables and files', () => {
  before(async () => {
    await trainReductions(makeSource(600), { backend: 'cpu', eps: 0.05, modelPath: index() });
    model = await loadModel(index());
  });

  it('are added as two columns to those of the rows', async () => {
    const { table, warnings } = await predictTable(model, makeSource(90, 4).table);
    expect(table.columnNames).to.deep.equal(['x', 'noise', 'job', 's', 'y', 'score', 'prediction']);
    expect(new Set(table.numeric('prediction').values)).to.deep.equal(new Set([0, 1]));
    expect(warnings).to.deep.equal([]);
  });

  it('need one pass over the rows if decisions are not random', async () => {
    let passes = 0;
    const predictor: Predictor = {
      specs: plainFeatures(['x']),
      restored: undefined,
      scores: (table) => {
        passes++;
        return Promise.resolve(table.numeric('x').values);
      },
      tensorScores: () => Promise.reject(new Error('the rows are not tensors')),
    };
    const counted = new SavedModel({ ...model.card, decision_threshold: 0.3 }, predictor);
    const { table } = await predictTable(counted, { x: [0.2, 0.3, 0.9] });
    expect(passes).to.equal(1);
    expect([...table.numeric('score').values]).to.deep.equal([0.2, 0.3, 0.9]);
    expect([...table.numeric('prediction').values]).to.deep.equal([0, 1, 1]);
  });

  it('keep columns of the same name, whatever their case, and report the names of the new ones', async () => {
    const rows = { ...makeSource(90, 4).table, Score: [...Array(90).keys()], prediction: Array<string>(90).fill('p') };
    const found = await predictTable(model, rows);
    expect([found.scoreColumn, found.predictionColumn]).to.deep.equal(['score_2', 'prediction_2']);
    expect([...found.table.numeric('Score').values].slice(0, 3)).to.deep.equal([0, 1, 2]);
    expect(found.warnings).to.include("the rows have a column 'score' already, so the new one is 'score_2'");
  });

  it('treat missing values as in training, and report values that training has not seen', async () => {
    const rows = { x: [0.5, null, 0.5], noise: [null, 0, 0], job: ['nurse', 'clerk', 'pilot'] };
    const { table, warnings } = await predictTable(model, rows, { threshold: 0.5 });
    const card = readCard(index());
    const inputs = [0, 1, 2].map((row) => encodeByHand(card, { x: rows.x[row] ?? null, noise: rows.noise[row] ?? null, job: rows.job[row] ?? null })); // prettier-ignore
    const plain = await predictWithPlainTfjs(index(), inputs);
    table.numeric('score').values.forEach((score, row) => expect(score).to.be.closeTo(plain[row] as number, 1e-6));
    expect(warnings).to.deep.equal([
      "feature 'x': 1 row has no value, though all training rows had one; the mean is used",
      "feature 'job': 1 row has a text without a column in the encoding: 'pilot'",
      'the constraint was met by randomised decisions; with a threshold it may not hold',
    ]);
  });

  it('name the most frequent texts that training has not seen', async () => {
    const job = ['pilot', 'judge', 'cook', 'pilot', 'baker', 'judge', 'pilot', 'nurse', 'actor'];
    const zeros = job.map(() => 0);
    const { warnings } = await predictTable(model, { x: zeros, noise: zeros, job });
    expect(warnings).to.include("feature 'job': 8 rows have a text without a column in the encoding: 'pilot', 'judge', 'actor' and 2 others"); // prettier-ignore
    const long = await predictTable(model, { x: [0], noise: [0], job: ['p'.repeat(41)] });
    expect(long.warnings.join()).to.include(`'${'p'.repeat(39)}…'`);
  });

  it('report numbers in another unit than in training, and nothing for few or similar rows', async () => {
    const { x: numbers = [], noise = [], job = [] } = makeSource(90, 4).table;
    const x = numbers.map(Number);
    const warningsOf = async (values: readonly number[]): Promise<string> =>
      (await predictTable(model, { x: values, noise: noise.slice(0, values.length), job: job.slice(0, values.length) })).warnings.join(); // prettier-ignore
    expect(await warningsOf(x.map((value) => 60 * value + 3000))).to.match(/feature 'x': the mean is \d.*, and in training it was .*; check that the unit is the same/); // prettier-ignore
    // The mean is near that of training, but the values differ by less.
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    expect(await warningsOf(x.map((value) => mean + (value - mean) / 100))).to.match(/check that the unit/);
    expect(await warningsOf(x)).to.equal('');
    expect(await warningsOf([3000, 3001, 3002])).not.to.match(/unit/);
    // 30 of 90 rows have the same value far from all in training.
    expect(await warningsOf(x.map((value, row) => (row % 3 === 0 ? -99 : value)))).to.match(
      /feature 'x': 30 rows have the value -99, far from those in training \(mean .*\); if it stands for a missing value, leave it empty/,
    );
    expect(await warningsOf(x.map((value, row) => (row < 4 ? -99 : value)))).not.to.match(/leave it empty/);
    // A property that 8 of 100 rows have is 3.4 standard deviations from the mean, in training as well.
    const rare = { kind: 'numeric' as const, name: 'rare', marksMissing: false, mean: 0.08, scale: Math.sqrt(0.08 * 0.92) }; // prettier-ignore
    const gapsOf = (ones: number): string[] => describeUnlikelyNumbers(Table.from({ rare: Array.from({ length: 600 }, (_, row) => Number(row < ones)) }), [rare]); // prettier-ignore
    expect([...gapsOf(48), ...gapsOf(70)]).to.deep.equal([]);
    expect(gapsOf(150)[0]).to.match(/150 rows have the value 1, far from those in training/);
  });

  it('report that all of them are the same', async () => {
    const x = Array.from({ length: 60 }, (_, row) => row);
    const plain = await new LogisticRegression().fit(
      x.map((value) => [value]),
      x.map((value) => Number(value >= 30)),
    );
    await saveModel(plain, path.join(folder(), 'plain'), { features: ['x'] });
    const loaded = await loadModel(path.join(folder(), 'plain'));
    const warnings = async (values: number[]): Promise<string> =>
      (await predictTable(loaded, { x: values })).warnings.join();
    expect(await warnings(x.slice(0, 29))).to.not.include('predictions are');
    expect(await warnings(x.slice(0, 60))).to.not.include('predictions are');
    expect(await warnings(x.map((value) => value / 3))).to.include('all 60 predictions are 0, so that no group can have another rate'); // prettier-ignore
  });

  it('return the texts of files unchanged: long identifiers, leading zeros and commas', async () => {
    const file = write('ids.csv', ['id,zip,x,noise,job,note', '12345678901234567890,00501,1.50,0.1,nurse,"a, ""b"""', '2,7,-1,,clerk,']); // prettier-ignore
    const { table } = await predictFile(model, file);
    expect(table.toRecords().map(({ score: _, prediction: __, ...row }) => row)).to.deep.equal([
      { id: '12345678901234567890', zip: '00501', x: '1.50', noise: '0.1', job: 'nurse', note: 'a, "b"' },
      { id: '2', zip: '7', x: '-1', noise: null, job: 'clerk', note: null },
    ]);
    const inMemory = await predictTable(model, { x: [1.5, -1], noise: [0.1, null], job: ['nurse', 'clerk'] });
    for (const name of ['score', 'prediction']) {
      expect(table.numeric(name)).to.deep.equal(inMemory.table.numeric(name));
    }
  });

  it('read Parquet, whose types are known, and return its values as text', async () => {
    const file = path.join(folder(), 'rows.parquet');
    const engine = openDuckDb();
    await engine.run((session) =>
      session.rows(`COPY (SELECT * FROM (VALUES (9223372036854775807, 1.5, NULL, 'nurse', true), (2, -1, 0.25, 'clerk', NULL))
        AS t(id, x, noise, job, seen)) TO '${file}' (FORMAT parquet)`),
    );
    await engine.close();
    const { table } = await predictFile(model, file);
    expect(table.toRecords().map(({ score: _, prediction: __, ...row }) => row)).to.deep.equal([
      { id: '9223372036854775807', x: '1.5', noise: null, job: 'nurse', seen: 'true' },
      { id: '2', x: '-1.0', noise: '0.25', job: 'clerk', seen: null },
    ]);
    const inMemory = await predictTable(model, { x: [1.5, -1], noise: [null, 0.25], job: ['nurse', 'clerk'] });
    expect(table.numeric('score')).to.deep.equal(inMemory.table.numeric('score'));
  });

  it('read categories that look like numbers as the texts they are', async () => {
    const source = makeSource(600);
    const code = (source.table['job'] as string[]).map((job) => (job === 'nurse' ? '01' : 'x'));
    const modelPath = path.join(folder(), 'codes');
    await trainReductions({ table: { ...source.table, job: code } }, { backend: 'cpu', modelPath });
    const found = await predictFile(await loadModel(modelPath), write('codes.csv', ['x,noise,job', '1,0,01', '1,0,1']));
    expect(found.warnings).to.deep.equal(["feature 'job': 1 row has a text without a column in the encoding: '1'"]);
  });

  it("contain a regression's values in both columns", async () => {
    const values = path.join(folder(), 'values');
    await saveModel(await new LinearRegression().fit([[0], [1]], [10, 12]), values, { features: ['x'] });
    const { table } = await predictTable(await loadModel(values), { x: [3] });
    expect([table.numeric('score').values[0], table.numeric('prediction').values[0]]).to.deep.equal([16, 16]);
  });

  const refusals: [string, () => string, RegExp][] = [
    ['missing columns, naming each with the nearest', () => write('few.csv', ['X,nois', '1,2']), /lack 3 columns .*'x' \(did you mean 'X'\?\), 'noise' \(did you mean 'nois'\?\), 'job'/], // prettier-ignore
    ['text where a number belongs', () => write('text.csv', ['x,noise,job', '1,0,nurse', 'many,0,nurse']), /Column 'x' should hold numbers, but row 2 holds 'many'/], // prettier-ignore
    ['an infinite number', () => write('inf.csv', ['x,noise,job', '1,0,nurse', 'inf,0,nurse']), /Column 'x' must be finite, but row 2/], // prettier-ignore
    ['no rows', () => write('header.csv', ['x,noise,job']), /has a header and no rows/],
    ['a column twice', () => write('twice.csv', ['x,X,noise,job', '1,2,0,nurse']), /more than one column/],
    ['no file', () => path.join(folder(), 'nowhere.csv'), /there is no such file/],
  ];
  for (const [title, file, message] of refusals) {
    it(`reject ${title}`, async () => {
      const error = await errorOf(predictFile(model, file()));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(message);
    });
  }
});

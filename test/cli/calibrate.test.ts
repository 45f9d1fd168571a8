import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { loadData } from '../../src/io/index.ts';
import { GroupFairnessCalibrator } from '../../src/training/postprocessing/calibrator/group-fairness-calibrator.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { joinLines, runCli, runWithPeak, useTemporaryFolder } from '../helpers/run-cli.ts';

interface Quality {
  readonly mean_score: number;
  readonly ece: number;
  readonly brier_score: number;
  readonly log_loss: number;
}
interface CalibrationJson {
  readonly measured_on: string;
  readonly n: number;
  readonly n_measured: number;
  readonly n_dropped: number;
  readonly overall: { readonly before: Quality; readonly after: Quality };
  readonly groups: readonly {
    readonly group: string;
    readonly n: number;
    readonly positive_rate: number;
    readonly before: Quality;
    readonly after: Quality;
  }[];
  readonly fallbacks: Readonly<Record<string, { readonly n: number; readonly reason: string }>>;
  readonly warnings: readonly string[];
}

const folder = useTemporaryFolder();

function write(name: string, lines: readonly string[]): string {
  const file = path.join(folder(), name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** Asserts that two values of JSON are equal, up to rounding of their numbers. */
function expectNear(found: unknown, expected: unknown, tolerance: number, where = ''): void {
  if (typeof expected === 'number') expect(found, where).to.be.closeTo(expected, tolerance);
  else if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found as object), where).to.deep.equal(Object.keys(expected));
    for (const [name, value] of Object.entries(expected))
      expectNear((found as Record<string, unknown>)[name], value, tolerance, `${where}.${name}`);
  } else expect(found, where).to.equal(expected);
}

/** Writes scores for which the true rate is the score squared, in two groups and a third of 5 rows. */
function scored(): string {
  const random = createRandom(5);
  const rows = Array.from({ length: 605 }, (_, row) => {
    const score = random.next();
    const group = row < 5 ? 'few' : 'ab'[row % 2];
    return `${score.toFixed(4)},${Number(random.next() < score ** 2)},${group}`;
  });
  return write('scored.csv', ['score,y,g', ...rows]);
}

describe('evenhand calibrate', () => {
  it('prints the quality before and after for each group, and the rows it was measured on', async () => {
    const { code, stdout, stderr } = await runCli(['calibrate', '--csv', scored()]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^Calibrating 'score' to 'y', by 'g': platt, 605 rows, cross-fitted in 5 folds\.$/m);
    expect(stdout).to.match(/^a +300 /m);
    expect(stdout).to.match(/^\(all rows\) +605 /m);
    expect(joinLines(stdout)).to.include('each calibrated by a calibrator that has not seen it');
    expect(joinLines(stdout)).to.include(
      "- Group 'few' (5 rows) has no calibrator of its own: fewer than --min-samples = 20 rows.",
    );
  });

  it('notes a column of ages, of which each is a group', async () => {
    const rows = Array.from({ length: 300 }, (_, row) => `${String((row % 10) / 10)},${String(row % 2)},${String(20 + (row % 30))}`); // prettier-ignore
    const { stdout } = await runCli([
      'calibrate',
      '--csv',
      write('ages.csv', ['score,y,age', ...rows]),
      '--group',
      'age',
    ]);
    expect(joinLines(stdout)).to.include("Column 'age' has 30 different numbers, and each is a group.");
  });

  it('writes rows, plot, JSON and the calibrator', async () => {
    const out = (name: string): string => path.join(folder(), 'run', name);
    const { code, stdout } = await runCli([
      ...['calibrate', '--csv', scored(), '--method', 'isotonic', '--json', '--quiet'],
      ...['--out-csv', out('rows.csv'), '--out-plot', out('plot.svg'), '--out-json', out('body.json')],
      ...['--save-model', out('model.json')],
    ]);
    expect(code).to.equal(0);
    expect(readdirSync(path.join(folder(), 'run')).sort()).to.deep.equal(['body.json', 'model.json', 'plot.svg', 'rows.csv']); // prettier-ignore
    expect(readFileSync(out('body.json'), 'utf8')).to.equal(stdout);
    expect(readFileSync(out('plot.svg'), 'utf8')).to.include('cross-fitted in 5 folds');

    const given = await loadData(scored());
    const rows = await loadData(out('rows.csv'));
    expect(rows.columnNames).to.deep.equal(['score_raw', 'score_cal', 'y', 'g']);
    expect(rows.numeric('score_raw').values).to.deep.equal(given.numeric('score').values);
    expect(rows.numeric('y').values).to.deep.equal(given.numeric('y').values);
    expect(rows.categorical('g')).to.deep.equal(given.categorical('g'));
    expect(rows.numeric('score_cal').values.every((value) => value >= 0 && value <= 1)).to.equal(true);

    const [scores, y, groups] = [given.column('score'), given.column('y'), given.column('g')];
    const saved = GroupFairnessCalibrator.fromJSON(JSON.parse(readFileSync(out('model.json'), 'utf8')));
    const fitted = await new GroupFairnessCalibrator({ method: 'isotonic' }).fit(scores, y, { groups });
    expect(await saved.transform(scores, { groups })).to.deep.equal(await fitted.transform(scores, { groups }));
  });

  it('lowers the calibration error, the Brier score and the log loss of miscalibrated groups', async () => {
    const { stdout } = await runCli(['calibrate', '--csv', scored(), '--json']);
    const body = JSON.parse(stdout) as CalibrationJson;
    expect([body.measured_on, body.n, body.n_measured, body.n_dropped]).to.deep.equal([
      'cross_fitted_rows',
      605,
      605,
      0,
    ]);
    for (const { before, after } of body.groups.filter(({ group }) => group !== 'few')) {
      expect(after.ece).to.be.below(0.6 * before.ece);
      expect(after.brier_score).to.be.below(before.brier_score);
      expect(after.log_loss).to.be.below(before.log_loss);
    }
  });

  it('measures and writes the rows that were not fitted, with --train-size', async () => {
    const rows = path.join(folder(), 'held.csv');
    const args = ['calibrate', '--csv', scored(), '--train-size', '0.6', '--out-csv', rows, '--quiet'];
    const { stdout } = await runCli(args);
    expect(stdout).to.include('242 rows held out, fitted on 0.6 of all');
    expect((await loadData(rows)).rowCount).to.equal(242);
  });

  it('says that it measured the rows that it was fitted on, with one fold', async () => {
    const { stdout } = await runCli(['calibrate', '--csv', scored(), '--folds', '1']);
    expect(joinLines(stdout)).to.include('measured on the same rows that the calibrator was fitted on');
    expect(joinLines(stdout)).to.include('which makes it look better than it is');
  });

  it('excludes rows with missing values and counts them', async () => {
    const lines = readFileSync(scored(), 'utf8').trimEnd().split('\n');
    const file = write('gaps.csv', [...lines, ',1,a', '0.5,,a', '0.5,1,']);
    const { stdout } = await runCli(['calibrate', '--csv', file]);
    expect(joinLines(stdout)).to.include('3 rows without a score, a label or a group were excluded.');
    expect(stdout).to.include('605 rows, cross-fitted');
  });

  it('reads labels as text with --positive-label, and intersects groups', async () => {
    const lines = Array.from({ length: 200 }, (_, row) => {
      const score = ((row * 37) % 100) / 100;
      return `${score},${score > 0.3 ? 'paid' : 'default'},${'ab'[row % 2]},${'xy'[Math.floor(row / 2) % 2]}`;
    });
    const file = write('text.csv', ['p,outcome,r,s', ...lines]);
    const named = ['--score', 'p', '--target', 'outcome', '--positive-label', 'paid', '--group', 'r,s'];
    const { code, stdout } = await runCli(['calibrate', '--csv', file, ...named]);
    expect(code).to.equal(0);
    expect(stdout).to.include("Calibrating 'p' to 'outcome' = 'paid', by 'r' x 's'");
    expect(stdout).to.match(/^a\|\|x +50 /m);
  });

  it('gives the same numbers for the same seed', async () => {
    const run = async (): Promise<string> =>
      (await runCli(['calibrate', '--csv', scored(), '--seed', '9', '--json'])).stdout;
    expect(await run()).to.equal(await run());
  });

  const cases: [string, () => string[], RegExp][] = [
    ['a call without a file', () => [], /Missing: --csv/],
    ['a missing file', () => ['--csv', 'none.csv'], /none\.csv': there is no such file/],
    [
      'an unknown column',
      () => ['--csv', scored(), '--score', 'scores'],
      /has no column 'scores'\. Did you mean 'score'\?/,
    ],
    [
      'a score above 1',
      () => ['--csv', write('high.csv', ['score,y,g', '0.5,1,a', '7,0,a'])],
      /Column 'score' must lie in \[0, 1\], but holds 7 in row 2\. Divide by/,
    ],
    [
      'text for scores',
      () => ['--csv', write('low.csv', ['score,y,g', 'low,1,a', 'high,0,a'])],
      /Column 'score' should hold numbers, but row 1 holds 'low'/,
    ],
    [
      'labels of text',
      () => ['--csv', write('yes.csv', ['score,y,g', '0.5,yes,a', '0.4,no,a'])],
      /Column 'y' must be 0 or 1, but holds 'yes'.*--positive-label/,
    ],
    [
      'a positive label that never occurs',
      () => ['--csv', write('yes.csv', ['score,y,g', '0.5,yes,a', '0.4,no,a']), '--positive-label', 'yess'],
      /never has the value 'yess'\. Did you mean 'yes'\?/,
    ],
    ['a single label', () => ['--csv', write('one.csv', ['score,y,g', '0.5,1,a', '0.4,1,a'])], /y is 1 in every row/],
    [
      'a file without a complete row',
      () => ['--csv', write('none-left.csv', ['score,y,g', '0.5,,a', ',1,a'])],
      /All 2 rows lack a score, a label or a group/,
    ],
    [
      'more folds than rows',
      () => ['--csv', write('two.csv', ['score,y,g', '0.5,1,a', '0.4,0,a'])],
      /5 folds need at least 5 rows/,
    ],
    [
      'an unknown method',
      () => ['--csv', scored(), '--method', 'beta'],
      /--method must be one of platt, isotonic, temperature; got 'beta'/,
    ],
    [
      'an input for a method without inputs',
      () => ['--csv', scored(), '--method', 'isotonic', '--input', 'score'],
      /--input must be left out if --method is isotonic/,
    ],
    [
      'folds and a train size',
      () => ['--csv', scored(), '--folds', '5', '--train-size', '0.5'],
      /--folds must be left out if --train-size is given/,
    ],
    [
      'a minimum of 0 rows for a group',
      () => ['--csv', scored(), '--min-samples', '0'],
      /--min-samples must be at least 1; got 0/,
    ],
    ['a plot in an unknown format', () => ['--csv', scored(), '--out-plot', 'plot.jpg'], /extension is '\.?jpg'/],
    [
      'two outputs with the same path',
      () => ['--csv', scored(), '--out-csv', 'same', '--out-json', 'same'],
      /overlap\. Give each output its own path/,
    ],
    [
      'a column twice in the group',
      () => ['--csv', scored(), '--group', 'g,g'],
      /Column 'g' is named twice among the groups/,
    ],
    [
      'a train size that leaves no rows to calibrate',
      () => ['--csv', write('three.csv', ['score,y,g', '0.5,1,a', '0.4,0,a', '0.3,0,a']), '--train-size', '0.99'],
      /A train size of 0\.99 leaves no rows to calibrate: there are 3 rows, but 51 are needed/,
    ],
    ['the group named twice', () => ['--csv', scored(), '--group', 'g', '--group', 'y'], /Give it once/],
    [
      'a column used as target and group',
      () => ['--csv', scored(), '--group', 'y'],
      /Column 'y' cannot be both the target and the group/,
    ],
  ];
  for (const [title, args, pattern] of cases) {
    it(`rejects ${title} on one line with exit code 2, and writes nothing`, async () => {
      const given = args();
      const before = readdirSync(folder()).sort();
      const outputs = given.some((arg) => arg.startsWith('--out')) || given.length === 0 ? [] : ['--out-csv', 'x.csv', '--save-model', 'x.json']; // prettier-ignore
      const { code, stdout, stderr } = await runCli(['calibrate', ...given, ...outputs], { cwd: folder() });
      expect(stderr).to.match(pattern);
      expect(stderr.trimEnd().split('\n').length).to.equal(1);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(readdirSync(folder()).sort()).to.deep.equal(before);
    });
  }

  it('stops before the work starts if an output cannot be written', async () => {
    const file = write('file', ['x']);
    const args = ['--out-csv', path.join(folder(), 'first.csv'), '--save-model', path.join(file, 'model.json')];
    const { code, stderr } = await runCli(['calibrate', '--csv', scored(), ...args]);
    expect(code).to.equal(2);
    expect(stderr).to.match(/Cannot write .*model\.json': a part of the path is a file/);
    expect(existsSync(path.join(folder(), 'first.csv'))).to.equal(false);
  });
});

describe('evenhand calibrate on many rows', () => {
  it('needs less than 2 GiB for 10 million rows with as many scores, and finds the score squared @slow', async () => {
    const query = `SELECT hash(i) % 1000003 / 1000003 AS score,
      CAST(hash(i * 31 + 7) % 1000003 / 1000003 < (hash(i) % 1000003 / 1000003) ** 2 AS INT) AS y,
      CAST(i % 4 AS VARCHAR) AS g FROM range(10000000) AS t(i)`;
    const model = path.join(folder(), 'squared.json');
    const { stdout, peak } = await runWithPeak([
      ...['calibrate', '--sql', 'duckdb:', '--query', query, '--method', 'isotonic', '--save-model', model, '--json'],
    ]);
    const { n, overall, warnings } = JSON.parse(stdout) as CalibrationJson;
    expect(n).to.equal(10_000_000);
    expect(overall.after.ece).to.be.below(0.002);
    const calibrator = GroupFairnessCalibrator.fromJSON(JSON.parse(readFileSync(model, 'utf8')));
    const [half] = await calibrator.transform([0.5], { groups: ['0'] });
    expect(half).to.be.closeTo(0.25, 0.01);
    expect(warnings.join()).to.match(/scores were counted in steps of 1\/16384/);
    expect(peak).to.be.below(2048);
  });
});

describeWithReference('evenhand calibrate on COMPAS deciles by race', () => {
  /** Writes the deciles divided by ten as scores. */
  async function compas(): Promise<string> {
    const table = await loadData(referencePath('data/compas.csv'), {
      columns: ['decile_score', 'two_year_recid', 'race'],
    });
    const records = table.toRecords();
    return write('compas.csv', [
      'score,y,g',
      ...records.map((row) => `${Number(row['decile_score']) / 10},${row['two_year_recid']},${row['race']}`),
    ]);
  }
  const ofFile = async (): Promise<string[]> => ['--csv', await compas()];
  const ofDatabase = async (): Promise<string[]> => [
    '--sql',
    'duckdb:',
    '--query',
    `SELECT * FROM '${await compas()}'`,
  ];
  const groupOf = (body: CalibrationJson, name: string) => body.groups.find(({ group }) => group === name);

  for (const [where, source] of [
    ['a file', ofFile],
    ['a database', ofDatabase],
  ] as const)
    it(`has the counts of ProPublica and the coefficients of scikit-learn 1.6.1 with platt, from ${where}`, async () => {
      const model = path.join(folder(), 'compas.json');
      const { stdout } = await runCli(['calibrate', ...(await source()), '--save-model', model, '--json']);
      const body = JSON.parse(stdout) as CalibrationJson;
      // 1,901 of 3,696 and 966 of 2,454 were charged again within two years (ProPublica 2016).
      expect(groupOf(body, 'African-American')).to.include({ n: 3696, positive_rate: 1901 / 3696 });
      expect(groupOf(body, 'Caucasian')).to.include({ n: 2454, positive_rate: 966 / 2454 });
      expect(body.fallbacks).to.deep.equal({
        'Native American': { n: 18, reason: 'fewer than minSamples = 20 rows' },
      });
      // scikit-learn's brier_score_loss, and _SigmoidCalibration on logits of scores kept within 0.05 and 0.95.
      expect(groupOf(body, 'African-American')?.before.brier_score).to.be.closeTo(0.235955, 1e-6);
      expect(groupOf(body, 'Caucasian')?.before.brier_score).to.be.closeTo(0.22132, 1e-6);
      const saved = JSON.parse(readFileSync(model, 'utf8')) as {
        readonly state: { readonly groups: { readonly label: string; readonly map: Record<string, number> | null }[] };
      };
      const lineOf = (name: string) => saved.state.groups.find(({ label }) => label === name)?.map;
      expect(lineOf('African-American')?.['slope']).to.be.closeTo(0.4899888551883826, 1e-6);
      expect(lineOf('African-American')?.['intercept']).to.be.closeTo(-0.03758269857798911, 1e-6);
      expect(lineOf('Caucasian')?.['slope']).to.be.closeTo(0.5287118039735333, 1e-6);
      expect(lineOf('Caucasian')?.['intercept']).to.be.closeTo(-0.12677028790523964, 1e-6);
    });

  it('has the rates of scikit-learn 1.6.1 with isotonic on the fitted rows', async () => {
    const out = path.join(folder(), 'compas-rows.csv');
    await runCli(['calibrate', '--csv', await compas(), '--method', 'isotonic', '--folds', '1', '--out-csv', out]);
    const rows = (await loadData(out)).toRecords();
    const expected = {
      'African-American': [
        0.228643, 0.302799, 0.419075, 0.45974, 0.482192, 0.559896, 0.5925, 0.682451, 0.707895, 0.793706,
      ],
      Caucasian: [0.208517, 0.313019, 0.340659, 0.396491, 0.460581, 0.572165, 0.615385, 0.706522, 0.706522, 0.706522],
    };
    for (const [group, rates] of Object.entries(expected)) {
      for (const [index, rate] of rates.entries()) {
        const found = rows.find((row) => row['g'] === group && row['score_raw'] === (index + 1) / 10);
        expect(Number(found?.['score_cal'])).to.be.closeTo(rate, 1e-6);
      }
    }
  });

  for (const method of ['platt', 'isotonic', 'temperature']) {
    it(`gives the numbers of the rows from a database, with ${method}`, async () => {
      const outputs = await Promise.all(
        [await ofFile(), await ofDatabase()].map((source) =>
          runCli(['calibrate', ...source, '--method', method, '--folds', '1', '--json']),
        ),
      );
      if (outputs[1]?.stdout === '') throw new Error(outputs[1].stderr);
      const [rows, counts] = outputs.map(({ stdout }) => JSON.parse(stdout) as CalibrationJson & { manifest: unknown });
      expectNear({ ...counts, manifest: null }, { ...rows, manifest: null }, 1e-9);
    });
  }

  for (const method of ['platt', 'isotonic', 'temperature']) {
    it(`improves every measure of the three largest groups with cross-fitted ${method}`, async () => {
      const { stdout } = await runCli(['calibrate', '--csv', await compas(), '--method', method, '--json']);
      const body = JSON.parse(stdout) as CalibrationJson;
      for (const name of ['African-American', 'Caucasian', 'Hispanic']) {
        const { before, after } = groupOf(body, name) ?? {};
        for (const measure of ['ece', 'brier_score', 'log_loss'] as const) {
          expect(after?.[measure], `${name} ${measure}`).to.be.below(before?.[measure] ?? NaN);
        }
      }
    });
  }
});

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { describeWithReference, readVectors, referencePath } from '../helpers/reference.ts';
import { joinLines, runCli, runWithPeak, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages, WAGES } from '../helpers/wages.ts';

interface Quality {
  readonly accuracy: number;
  readonly accuracy_ci: readonly [number, number];
  readonly dp_diff: number;
  readonly dp_diff_ci: readonly [number, number];
  readonly eo_diff: number;
}
interface ReductionsJson {
  readonly baseline: Quality;
  readonly final: Quality;
  readonly train: { readonly final: Quality };
  readonly oracle_calls: number;
  readonly best_gap: number;
  readonly iterations: number;
  readonly seconds: number;
  readonly n_train: number;
  readonly n_test: number;
  readonly positive_label: string | null;
  readonly warnings: readonly string[];
}

const folder = useTemporaryFolder();

describe('evenhand train-reductions', () => {
  it('prints the effect and the cost of the constraint, and writes JSON and a model', async () => {
    const out = (name: string): string => path.join(folder(), 'run', name);
    const { code, stdout, stderr } = await runCli([
      ...['train-reductions', '--csv', await makeWages(folder()), ...WAGES, '--eps', '0.05'],
      ...['--out-json', out('result.json'), '--save-model', out('model')],
    ]);
    expect([code, stderr]).to.deep.equal([0, `Wrote ${out('result.json')}\nWrote ${out('model')}\n`]);
    expect(stdout).to.match(/^Predicting 'wage_above_median', by 'gender': 427 rows trained on, 107 held out\.$/m);
    expect(stdout).to.match(/^ +Unconstrained +95% interval +Constrained +95% interval +Change$/m);
    expect(stdout).to.match(/^On the training rows:\n.*\n.*\n.*\nDemographic parity difference +0\.\d{4} +\[/m);
    expect(stdout).to.match(/^female +\d+ +0\.\d{3} → 0\.\d{3} /m);
    expect(joinLines(stdout)).to.match(/ - Constrained on the training rows, in expectation.*: each group's rate of positive decisions/); // prettier-ignore
    expect(joinLines(stdout)).to.match(
      / - Bound 0\.05, largest difference from the overall rate 0\.\d{4}\. .* oracle calls, duality gap /,
    );
    const body = JSON.parse(readFileSync(out('result.json'), 'utf8')) as ReductionsJson;
    expect(body).to.include.all.keys('baseline', 'final', 'oracle_calls', 'best_gap', 'iterations', 'seconds');
    for (const part of [body.baseline, body.final]) expect(part).to.include.all.keys('accuracy', 'dp_diff', 'eo_diff');
    expect(body.final.dp_diff).to.be.within(...body.final.dp_diff_ci);
    expect(body.train.final.dp_diff).to.be.at.most(0.1 + 0.01);
    expect(readdirSync(out('model')).sort()).to.deep.equal(['card.json', 'model.json', 'reductions.json', 'weights.bin']); // prettier-ignore
  });

  it('gives the same numbers for the same seed, and prints only JSON on stdout', async () => {
    const run = async (): Promise<unknown> => {
      const args = [
        'train-reductions',
        '--csv',
        await makeWages(folder()),
        ...WAGES,
        '--T',
        '10',
        '--seed',
        '7',
        '--json',
      ];
      const { stdout, stderr } = await runCli([...args, '--quiet']);
      expect(stderr).to.equal('');
      const { seconds, ...rest } = JSON.parse(stdout) as ReductionsJson;
      expect(seconds).to.be.greaterThan(0);
      return rest;
    };
    expect(await run()).to.deep.equal(await run());
  });

  it('accepts every constraint, and a bound between any two groups', async () => {
    const csv = await makeWages(folder());
    for (const args of [
      ['--constraint', 'equalized_odds', '--bound', 'pairwise'],
      ['--constraint', 'true_positive_rate_parity', '--difference-bound', '0.1'],
      ['--constraint', 'false_positive_rate_parity', '--ratio-bound', '0.8'],
      ['--constraint', 'error_rate_parity'],
      ['--constraint', 'bounded_group_loss', '--upper-bound', '0.4'],
    ]) {
      const { code, stdout } = await runCli(['train-reductions', '--csv', csv, ...WAGES, '--T', '6', ...args]);
      expect(code, args.join(' ')).to.equal(0);
      expect(stdout).to.match(/^- Bound/m);
    }
  });

  it('says if a bound cannot be met', async () => {
    const args = ['--constraint', 'bounded_group_loss', '--upper-bound', '0.01'];
    const { code, stdout } = await runCli(['train-reductions', '--csv', await makeWages(folder()), ...WAGES, ...args]);
    expect(code).to.equal(0);
    expect(joinLines(stdout)).to.match(
      / - Bound 0\.01, largest error rate 0\.\d{4}\. This estimator cannot meet the bound/,
    );
  });

  it('shows the options and examples with --help', async () => {
    const { code, stdout } = await runCli(['train-reductions', '--help']);
    for (const option of ['--csv', '--test-csv', '--target', '--sensitive', '--features', '--constraint', '--eps', '--T', '--train-size', '--seed', '--out-json', '--save-model', '--json', '--quiet', '--verbose']) expect(stdout).to.include(option); // prettier-ignore
    expect(stdout).to.include('Examples:');
    expect(code).to.equal(0);
  });

  it('trains in blocks on rows in a database as on rows in a file, and rejects folds', async () => {
    const csv = await makeWages(folder());
    const run = async (...source: string[]): Promise<ReductionsJson> => {
      const { code, stdout, stderr } = await runCli([
        ...['train-reductions', ...source, '--test-csv', csv, ...WAGES, '--eps', '0.05', '--backend', 'cpu', '--json'],
      ]);
      expect([code, stderr]).to.deep.equal([0, '']);
      const { seconds: _, ...rest } = JSON.parse(stdout) as ReductionsJson;
      return rest as ReductionsJson;
    };
    const inBlocks = await run('--csv', csv, '--in-blocks');
    // Only files are compared with the test rows.
    expect(inBlocks.warnings.join()).to.match(/^the test rows are the training rows/);
    expect(await run('--sql', 'duckdb:', '--query', `SELECT * FROM '${csv}'`)).to.deep.equal({ ...inBlocks, warnings: [] }); // prettier-ignore
    // All rows are training rows, as in a run in memory, which computes in float32.
    const inMemory = await run('--csv', csv);
    expect([inBlocks.n_train, inBlocks.n_test]).to.deep.equal([534, 534]);
    expect(inBlocks.final.accuracy).to.be.closeTo(inMemory.final.accuracy, 0.005);
    expect(inBlocks.final.dp_diff).to.be.closeTo(inMemory.final.dp_diff, 0.01);
    const { code, stderr } = await runCli(['train-reductions', '--csv', csv, '--in-blocks', ...WAGES, '--folds', '3']);
    expect([code, stderr]).to.deep.equal([2, 'error: --folds must be left out if rows are read as a stream. Got 3 instead.\n']); // prettier-ignore
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`exits with 130 on an interrupt, and removes the temporary files (${signal})`, async () => {
      const temporary = path.join(folder(), `temporary-${signal}`);
      mkdirSync(temporary);
      const lines = Array.from({ length: 60_000 }, (_, row) => `${'ab'[row % 2] ?? ''},${row % 7},${row % 11},${Number(row % 7 > 3 === row % 5 > 1)}`); // prettier-ignore
      const csv = write('long.csv', ['s,x,z,y', ...lines]);
      const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
      const child = spawn(
        process.execPath,
        [cli, 'train-reductions', '--csv', csv, '--in-blocks', '--T', '100000', '--nu', '0', '--save-model', 'x.model'],
        {
          cwd: folder(),
          stdio: ['ignore', 'ignore', 'pipe'],
          env: { ...process.env, EVENHAND_TF_BACKEND: 'cpu', EVENHAND_PROGRESS_SECONDS: '0', TMPDIR: temporary },
          timeout: 100_000,
        },
      );
      let stderr = '';
      let files: string[] = [];
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      await new Promise<void>((resolve) => {
        child.stderr.on('data', (data: Buffer) => {
          stderr += data.toString();
          if (files.length > 0 || !stderr.includes('exponentiated gradient: 2 of')) return;
          files = readdirSync(temporary).filter((name) => name.startsWith('evenhand-rows-'));
          resolve();
        });
        child.once('close', () => {
          resolve();
        });
      });
      child.kill(signal);
      expect(await ended, stderr).to.equal(code);
      expect(files).to.have.length(2);
      expect(readdirSync(temporary)).to.deep.equal([]);
      expect(readdirSync(folder())).to.not.include('x.model');
    });
  }

  const write = (name: string, lines: readonly string[]): string => {
    const file = path.join(folder(), name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const rows = (): string =>
    write('rows.csv', ['s,x,y', ...Array.from({ length: 400 }, (_, row) => `${'ab'[row % 2] ?? ''},${row % 7},${Number(row % 7 > 3)}`)]); // prettier-ignore
  const otherFolder = (): string => {
    mkdirSync(path.join(folder(), 'full'), { recursive: true });
    return path.dirname(write('full/kept.txt', ['kept']));
  };
  const refusals: [string, () => string[], RegExp][] = [
    ['a call without a file', () => [], /Missing: --csv/],
    ['an unknown constraint', () => ['--csv', rows(), '--constraint', 'parity'], /--constraint must be one of demographic_parity, .*; got 'parity'/], // prettier-ignore
    ['an eps of 0', () => ['--csv', rows(), '--eps', '0'], /--eps must be above 0; got 0/],
    ['half an iteration', () => ['--csv', rows(), '--T', '0.5'], /--T must be a whole number; got 0\.5/],
    [
      'an upper bound for a parity constraint',
      () => ['--csv', rows(), '--upper-bound', '1'],
      /--upper-bound must be left out/,
    ],
    ['a single group', () => ['--csv', write('one.csv', ['s,x,y', 'a,1,0', 'a,2,1'])], /one group only \('a'\)/],
    ['an unknown column', () => ['--csv', rows(), '--target', 'Y'], /no column 'Y'\. Did you mean 'y', /],
    ['groups too small to compare', () => ['--csv', write('few.csv', ['s,x,y', 'a,1,0', 'b,2,1', 'a,1,1', 'b,0,0'])], /fewer than two groups of at least 30 rows.*--min-group-size/], // prettier-ignore
    ['an unknown backend', () => ['--csv', rows(), '--backend', 'gpu'], /--backend must be one of auto, /],
    ['a model path inside a file', () => ['--csv', rows(), '--save-model', path.join(rows(), 'model')], /a part of the path is a file/], // prettier-ignore
    [
      'a model at the path of another folder',
      () => ['--csv', rows(), '--save-model', otherFolder()],
      /contains other data/,
    ],
    ['a model in the folder of the rows', () => ['--csv', rows(), '--save-model', folder()], /would replace the input/],
    ['outputs inside one another', () => ['--csv', rows(), '--save-model', 'm', '--out-json', 'm/r.json'], /overlap\. Give each output its own path/], // prettier-ignore
  ];
  for (const [title, args, pattern] of refusals) {
    it(`rejects ${title} on one line with exit code 2, and writes nothing`, async () => {
      const given = args();
      const before = readdirSync(folder()).sort();
      const outputs = given.includes('--save-model') ? [] : ['--save-model', 'new-model', '--out-json', 'new.json'];
      const { code, stdout, stderr } = await runCli(['train-reductions', ...given, ...outputs], { cwd: folder() });
      expect(stderr).to.match(pattern);
      expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(readdirSync(folder()).sort()).to.deep.equal(before);
    });
  }
});

describe('evenhand train-reductions on many rows', () => {
  it('needs less than 512 MiB for 4 million rows, whose encoded features have 608 MB as float64 @slow', async () => {
    const query = `
      SELECT *, CASE WHEN amount + shift + 0.02 * years + 0.3 * (hash(i + 7) % 1000) / 1000 > 1 THEN 1 ELSE 0 END AS y
      FROM (
        SELECT i, (hash(i) % 10007) / 10007.0 AS amount, hash(i + 1) % 40 AS years, (hash(i + 2) % 997) / 997.0 AS rate,
          'r' || CAST(hash(i + 3) % 16 AS INT) AS region, CASE WHEN hash(i + 4) % 10 < 3 THEN 'few' ELSE 'many' END AS s,
          CASE WHEN hash(i + 4) % 10 < 3 THEN -0.2 ELSE 0.1 END AS shift
        FROM range(4000000) rows(i)
      )`;
    const { stdout, peak } = await runWithPeak(
      [
        ...['train-reductions', '--sql', 'duckdb:', '--query', query, '--target', 'y', '--sensitive', 's'],
        ...['--features', 'amount,years,rate,region', '--nu', '0.002', '--json'],
      ],
      { EVENHAND_TF_BACKEND: 'cpu' },
    );
    const body = JSON.parse(stdout) as ReductionsJson;
    expect(body.n_train + body.n_test).to.equal(4_000_000);
    expect(body.train.final.dp_diff).to.be.at.most(0.03);
    expect(peak).to.be.below(512);
  });
});

describeWithReference('evenhand train-reductions on Adult @slow', () => {
  interface Figures {
    readonly accuracy: number;
    readonly dpd: number;
    readonly eod: number;
  }
  const runs = (): Record<string, { test: Figures }> =>
    (readVectors('anchor_runs_real_data.json') as { datasets: { adult: { runs: Record<string, { test: Figures }> } } })
      .datasets.adult.runs;

  it('matches fairlearn for demographic parity within 0.01 on the test rows: accuracy to 0.005, gaps to 0.01', async function () {
    this.timeout(120_000);
    const features = ['age', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week', 'workclass', 'marital-status', 'occupation', 'relationship']; // prettier-ignore
    const { code, stdout } = await runCli([
      ...['train-reductions', '--csv', referencePath('data/adult.train.csv')],
      ...['--test-csv', referencePath('data/adult.test.csv'), '--features', features.join(',')],
      ...['--target', 'income-per-year', '--sensitive', 'sex', '--eps', '0.01', '--json'],
    ]);
    expect(code).to.equal(0);
    const body = JSON.parse(stdout) as ReductionsJson;
    expect([body.n_train, body.n_test, body.positive_label]).to.deep.equal([32561, 16281, '>50K']);
    for (const [ours, run] of [
      [body.baseline, 'unconstrained_lr'],
      [body.final, 'expgrad_DP_eps0.01'],
    ] as const) {
      const theirs = runs()[run]?.test;
      expect(ours.accuracy).to.be.closeTo(theirs?.accuracy ?? NaN, 0.005);
      expect(ours.dp_diff).to.be.closeTo(theirs?.dpd ?? NaN, 0.01);
      expect(ours.eo_diff).to.be.closeTo(theirs?.eod ?? NaN, 0.01);
    }
  });
});

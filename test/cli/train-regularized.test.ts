import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages, WAGES } from '../helpers/wages.ts';

interface SweepJson {
  readonly points: {
    readonly eta: number;
    readonly accuracy: number;
    readonly dp_diff: number;
    readonly eo_diff: number;
    readonly loss: number;
    readonly dominated: boolean;
  }[];
  readonly hypervolume: number;
  readonly backend: string;
  readonly seed: number;
  readonly seconds: number;
  readonly n_train: number;
  readonly n_test: number;
  readonly positive_label: string | null;
}

const folder = useTemporaryFolder();

describe('evenhand train-regularized', () => {
  it('writes points, plot and models, and prints the table', async () => {
    const out = (name: string): string => path.join(folder(), 'run', name);
    const { code, stdout } = await runCli([
      ...[
        'train-regularized',
        '--csv',
        await makeWages(folder()),
        ...WAGES,
        '--folds',
        '3',
        '--etas',
        '0,2',
        '--epochs',
        '5',
      ],
      ...['--out-json', out('points.json'), '--out-plot', out('plot.png'), '--save-model', out('model')],
    ]);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Eta {2}Accuracy/m);
    expect(stdout).to.include('534 rows, cross-fitted in 3 folds');
    const body = JSON.parse(readFileSync(out('points.json'), 'utf8')) as SweepJson;
    expect(body).to.include.all.keys('points', 'hypervolume', 'backend', 'seed', 'seconds', 'n_train', 'n_test');
    expect(body.points[0]).to.include.all.keys('eta', 'accuracy', 'dp_diff', 'eo_diff', 'loss', 'dominated');
    expect(readdirSync(path.join(folder(), 'run')).sort()).to.deep.equal(['model', 'plot.png', 'points.json']);
    expect(readdirSync(out('model')).sort()).to.deep.equal(['card.json', 'eta-0', 'eta-2']);
  });

  it('gives the same numbers for the same seed, and prints only JSON on stdout', async () => {
    const run = async (): Promise<Partial<SweepJson>> => {
      const { stdout } = await runCli([
        'train-regularized',
        '--csv',
        await makeWages(folder()),
        ...WAGES,
        '--folds',
        '2',
        '--epochs',
        '3',
        '--seed',
        '7',
        '--json',
      ]);
      const { seconds: _, ...rest } = JSON.parse(stdout) as SweepJson;
      return rest;
    };
    expect(await run()).to.deep.equal(await run());
  });

  it('aims at 50 steps per epoch with --batch-size auto, prints the size, and rejects an invalid size', async () => {
    const train = async (size: string) =>
      runCli([
        ...['train-regularized', '--csv', await makeWages(folder()), ...WAGES, '--etas', '0', '--epochs', '1'],
        ...['--batch-size', size, '--backend', 'cpu', '--out-json', path.join(folder(), 'auto.json')],
      ]);
    // 427 training rows minus a tenth: 50 steps would have 7 rows each, but 32 is the minimum.
    expect((await train('auto')).stdout).to.include('batches of 32');
    const body = JSON.parse(readFileSync(path.join(folder(), 'auto.json'), 'utf8')) as { batch_size?: number };
    expect(body.batch_size).to.equal(32);
    const { code, stderr } = await train('1.5');
    expect(code).to.equal(2);
    expect(stderr).to.include("--batch-size must be a whole number or 'auto'; got 1.5.");
  });
});

describeWithReference('evenhand train-regularized on Adult @slow', () => {
  const args = [
    ...[
      'train-regularized',
      '--csv',
      referencePath('data/adult.train.csv'),
      '--target',
      'income-per-year',
      '--sensitive',
      'sex',
    ],
    ...['--etas', '0,0.5,1,2,3', '--epochs', '10', '--penalty', 'mean_gap', '--json'],
  ];

  it('is accurate without a penalty, has smaller gaps for larger ones, and stays accurate (means over seeds 1, 2, 3) @slow', async function () {
    this.timeout(300_000);
    const bodies: SweepJson[] = [];
    for (const seed of ['1', '2', '3']) {
      const { stdout } = await runCli([...args, '--seed', seed]);
      bodies.push(JSON.parse(stdout) as SweepJson);
    }
    const mean = (name: 'accuracy' | 'dp_diff'): number[] =>
      [0, 1, 2, 3, 4].map((index) => bodies.reduce((sum, { points }) => sum + (points[index]?.[name] ?? NaN), 0) / 3);
    const [accuracy, gaps] = [mean('accuracy'), mean('dp_diff')];
    expect(bodies[0]?.positive_label).to.equal('>50K');
    expect(accuracy[0]).to.be.at.least(0.845);
    expect(gaps[0]).to.be.within(0.15, 0.25);
    gaps.slice(1).forEach((gap, index) => {
      expect(gap).to.be.at.most((gaps[index] ?? NaN) + 0.01);
    });
    expect(gaps.at(-1)).to.be.below(0.08);
    expect(accuracy.at(-1)).to.be.at.least(0.82);
  });
});

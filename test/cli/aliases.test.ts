import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

const SENSITIVE = ['sensitive', 'group'];
const TRUTH = ['y-true', 'target'];
const SEED = ['seed', 'random-state'];
const JSON_FILE = ['out-json', 'report-json', 'detector-json'];

/** The options with several names, by command: its own name first. */
const ALIASES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  validate: [
    ['sensitive', 'group'],
    ['y-true', 'target'],
    ['seed', 'random-state'],
    ['out', 'out-json', 'report-json', 'detector-json', 'report-md', 'report-html'],
  ],
  'run-pipeline': [['random-state', 'seed']],
  pipeline: [['detector-json', 'out-json', 'report-json']],
  'train-regularized': [[...TRUTH].reverse(), SENSITIVE, SEED, JSON_FILE],
  'train-reductions': [[...TRUTH].reverse(), SENSITIVE, SEED, JSON_FILE],
  'train-lagrangian': [[...TRUTH].reverse(), SENSITIVE, SEED, JSON_FILE],
  'llm-eval': [
    ['random-state', 'seed'],
    ['report-json', 'out-json', 'detector-json'],
  ],
  monitor: [TRUTH, SENSITIVE],
  'ab-test': [TRUTH, SENSITIVE, SEED, ['out', 'out-json', 'report-md', 'report-html']],
  'impact-ratio': [['out', 'out-json', 'report-md', 'report-html']],
  predict: [SEED],
  calibrate: [[...TRUTH].reverse(), [...SENSITIVE].reverse(), SEED, JSON_FILE],
};

/** A value for each option: two options of one command must not fail for another reason. */
const VALUES: Readonly<Record<string, string>> = { seed: '1', 'random-state': '1' };

describe('an option with several names', () => {
  for (const [command, options] of Object.entries(ALIASES)) {
    it(`of ${command} is accepted under each of them, and named in the help`, async () => {
      const { stdout: help } = await runCli([command, '--help']);
      const also = help.replaceAll(/\s+/g, ' ').match(/Also accepted: [^.]*\./)?.[0];
      for (const [own = '', ...others] of options) {
        expect(help).to.match(new RegExp(`^  --${own} <`, 'm'));
        for (const other of others) {
          expect(also, other).to.include(`--${other}`);
          expect(help).not.to.match(new RegExp(`^  --${other} <`, 'm'));
          const value = VALUES[own] ?? 'x';
          const { code, stderr } = await runCli([command, `--${own}`, value, `--${other}`, value]);
          expect(code).to.equal(2);
          // A repeated --sensitive of these commands adds an attribute, also under another name.
          if (own === 'sensitive' && ['validate', 'monitor', 'ab-test'].includes(command)) {
            expect(stderr).to.match(/^error: Missing: /);
          } else if (own === 'out') {
            // These commands write several reports. The name of an option determines the format.
            expect(stderr).to.match(/^error: (?:Missing: |option .* must end in )/);
          } else {
            expect(stderr).to.include(`options '--${own}' and '--${other}' are the same option. Give one of them.`);
          }
        }
      }
    });
  }

  const rows = (): string => {
    const file = path.join(folder(), 'rows.csv');
    const lines = [
      'sex,p,y,x',
      ...Array.from({ length: 80 }, (_, row) => `${row % 2 ? 'f' : 'm'},${row % 3 ? 1 : 0},${row % 4 ? 1 : 0},${row}`),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };

  it('gives the same result under each name', async () => {
    const out = (name: string): string => path.join(folder(), name);
    const one = [
      '--csv',
      rows(),
      '--y-pred',
      'p',
      '--y-true',
      'y',
      '--sensitive',
      'sex',
      '--seed',
      '7',
      '--with-ci',
      '--json',
    ];
    const other = [
      '--csv',
      rows(),
      '--y-pred',
      'p',
      '--target',
      'y',
      '--group',
      'sex',
      '--random-state',
      '7',
      '--with-ci',
      '--json',
    ];
    const [first, second] = [
      await runCli(['validate', ...one, '--out', out('a.json')]),
      await runCli(['validate', ...other, '--out-json', out('b.json')]),
    ];
    expect(first.code).to.equal(0);
    // The manifest has the command as it was typed.
    const resultOf = (json: string): object => ({ ...(JSON.parse(json) as object), manifest: undefined });
    expect(resultOf(second.stdout)).to.deep.equal(resultOf(first.stdout));
    expect(resultOf(readFileSync(out('b.json'), 'utf8'))).to.deep.equal(resultOf(readFileSync(out('a.json'), 'utf8')));
  });

  it('is named in errors as it was typed', async () => {
    const cases: [args: string[], message: string][] = [
      [
        ['train-reductions', '--csv', rows(), '--random-state', '0.5'],
        '--random-state must be a whole number; got 0.5',
      ],
      [['validate', '--csv', rows(), '--group', 'a,,b'], "option '--group <columns>' argument 'a,,b' is invalid"],
      [['pipeline', '--csv', rows(), '--out', 'x.json', '--no-detectors'], '--out and --report-md need the detectors'],
      [['validate', '--csv', rows(), '--y-pred', 'p', '--target', 'nope', '--group', 'sex'], "has no column 'nope'"],
      [
        ['calibrate', '--csv', rows(), '--target', 'y', '--target', 'z'],
        "option '--target' was given twice: 'y' and 'z'",
      ],
      [
        ['calibrate', '--csv', rows(), '--y-true', 'y', '--y-true', 'z'],
        "option '--y-true' was given twice: 'y' and 'z'",
      ],
    ];
    for (const [args, message] of cases) expect((await runCli(args)).stderr).to.include(message);
  });
});

describe('--out', () => {
  it('sets the option for its extension', async () => {
    const csv = path.join(folder(), 'scores.csv');
    const lines = [
      'g,y,score',
      ...Array.from({ length: 200 }, (_, row) => `${row % 2 ? 'a' : 'b'},${row % 3 ? 1 : 0},0.${(row % 9) + 1}`),
    ];
    writeFileSync(csv, `${lines.join('\n')}\n`);
    const [direct, byName] = ['direct.json', 'by-name.JSON'].map((name) => path.join(folder(), name)) as [
      string,
      string,
    ];
    expect((await runCli(['calibrate', '--csv', csv, '--out-json', direct])).code).to.equal(0);
    const run = await runCli(['calibrate', '--csv', csv, '--out', byName]);
    expect(run.stderr).to.equal(`Wrote ${byName}\n`);
    // The manifest has the command as it was typed.
    const resultOf = (file: string): object => ({
      ...(JSON.parse(readFileSync(file, 'utf8')) as object),
      manifest: null,
    });
    expect(resultOf(byName)).to.deep.equal(resultOf(direct));
    const page = path.join(folder(), 'by-name.html');
    expect((await runCli(['calibrate', '--csv', csv, '--out', page])).stderr).to.equal(`Wrote ${page}\n`);
    expect(readFileSync(page, 'utf8')).to.include('<h1>Calibration by group</h1>');
    const table = path.join(folder(), 'by-name.parquet');
    expect((await runCli(['calibrate', '--csv', csv, '--out', table])).stderr).to.equal(`Wrote ${table}\n`);
    expect(readFileSync(table).subarray(0, 4).toString()).to.equal('PAR1');
  });

  const refused: [args: string[], message: string][] = [
    [
      ['calibrate', '--out', 'x.txt'],
      "option '--out' argument 'x.txt' is invalid. The name must end in .json, .csv, .tsv, .parquet, .md, .html, .svg or .png.",
    ],
    [['train-reductions', '--out', 'x.csv'], "option '--out' argument 'x.csv' is invalid. The name must end in .json."],
    [['llm-eval', '--out', 'x'], "option '--out' argument 'x' is invalid. The name must end in .json, .md or .html."],
    [
      ['predict', '--out', 'a.csv', '--out-csv', 'b.csv'],
      "options '--out' and '--out-csv' both name the .csv file. Give one of them.",
    ],
    [['predict', '--out', 'a.csv', '--out', 'b.csv'], "option '--out' was given twice: 'a.csv' and 'b.csv'"],
    [['validate', '--out-json', 'x.md'], "option '--out-json' argument 'x.md' is invalid. The name must end in .json."],
    [
      ['ab-test', '--report-md', 'x.html'],
      "option '--report-md' argument 'x.html' is invalid. The name must end in .md.",
    ],
  ];
  for (const [args, message] of refused) {
    it(`is rejected as ${args.join(' ')}`, async () => {
      const { code, stderr } = await runCli(args);
      expect(stderr).to.include(message);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(code).to.equal(2);
    });
  }
});

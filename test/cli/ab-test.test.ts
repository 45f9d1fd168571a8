import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

type Counts = readonly [selected: number, rows: number];

/** A file of two arms; every second row has a repaid of 1. */
function makeFile(name: string, arms: Readonly<Record<string, Readonly<Record<string, Counts>>>>): string {
  const lines = Object.entries(arms).flatMap(([arm, groups]) =>
    Object.entries(groups).flatMap(([sex, [selected, rows]]) =>
      Array.from(
        { length: rows },
        (_, row) => `${arm},${sex},${row % 3 ? 'x' : 'y'},${Number(row < selected)},${row % 2},${row % 7}`,
      ),
    ),
  );
  const file = path.join(folder(), name);
  writeFileSync(file, ['arm,sex,race,approved,repaid,revenue', ...lines].join('\n'));
  return file;
}

const even = { f: [200, 400], m: [200, 400] } as const;
const separate = { f: [140, 400], m: [240, 400] } as const;
const common = ['--outcome', 'approved', '--sensitive', 'sex'];

interface AbJson {
  readonly finding: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly warnings: readonly string[];
}

async function abJson(args: readonly string[]) {
  const { code, stdout, stderr } = await runCli(['ab-test', ...args, '--json']);
  return { code, stderr, body: JSON.parse(stdout) as AbJson };
}

describe('evenhand ab-test', () => {
  it('exits with 1 if fairness got worse, and with 0 if it got better or did not change significantly', async () => {
    const run = (control: typeof even | typeof separate, treatment: typeof even | typeof separate, name: string) =>
      runCli(['ab-test', '--csv', makeFile(name, { control, new: treatment }), '--arm', 'arm', ...common]);
    const worse = await run(even, separate, 'worse.csv');
    const better = await run(separate, even, 'better.csv');
    const same = await run(even, even, 'same.csv');
    expect([worse.code, better.code, same.code]).to.deep.equal([1, 0, 0]);
    expect(worse.stdout).to.include('Fairness got worse in the one comparison made');
    // Which label is the control may be guessed.
    expect(joinLines(worse.stdout)).to.match(/\d+ rows under control \('control'\), \d+ under treatment \('new'\)/);
    expect(joinLines(same.stdout)).to.include('minimum detectable difference 0.14 (80% power, unadjusted)');
    expect(worse.stdout).to.not.match(/\*\*|\\/);
  });

  it('prints the difference in differences of published counts', async () => {
    const file = makeFile('published.csv', {
      control: { g1: [180, 400], g2: [240, 400] },
      treatment: { g1: [220, 400], g2: [245, 400] },
    });
    const { code, body } = await abJson(['--csv', file, '--arm', 'arm', ...common]);
    expect(code).to.equal(0);
    // g2 minus g1, since the first of two equally large groups is the reference.
    expect(body.rows[0]?.['fairness_change']).to.be.closeTo(-0.0875, 1e-12);
    expect(body.rows[0]?.['p_value']).to.be.closeTo(0.07594528459029037, 1e-9);
    expect(body.rows[0]?.['detectable']).to.be.closeTo(0.13813, 1e-5);
  });

  it('says which column looks like people with several rows, until it is named as the cluster', async () => {
    const visits = (arm: string): string[] =>
      Array.from({ length: 200 }, (_, row) => {
        const person = Math.floor(row / 4);
        return `${arm},${arm}${String(person)},${person % 2 ? 'f' : 'm'},${String(Number(row % 8 < 3))}`;
      });
    const file = path.join(folder(), 'visits.csv');
    const header = 'arm,customer_id,sex,approved';
    writeFileSync(file, [header, ...visits('control'), ...visits('new')].join('\n'));
    const warning =
      "column 'customer_id' has about 4.0 rows for each of its values. If the rows of a value depend on each other, the intervals are too narrow: name it as the cluster (--cluster customer_id), in code and in requests with the option cluster";
    const one = ['--csv', file, '--arm', 'arm', ...common];
    expect((await abJson(one)).body.warnings).to.include(warning);
    expect((await abJson([...one, '--cluster', 'customer_id'])).body.warnings).to.not.include(warning);
    expect(joinLines((await runCli(['ab-test', ...one])).stdout)).to.include("Column 'customer_id' has about 4.0 rows");

    const [control, treatment] = ['control', 'new'].map((arm) => {
      const own = path.join(folder(), `visits-${arm}.csv`);
      writeFileSync(own, [header, ...visits(arm)].join('\n'));
      return own;
    }) as [string, string];
    const two = ['--control-csv', control, '--treatment-csv', treatment, ...common];
    expect((await abJson(two)).body.warnings).to.include(warning);
    // Each arm has the people 1 to 200, with one row each.
    for (const [file, arm] of [control, treatment].entries())
      writeFileSync(arm, ['customer_id,sex,approved', ...Array.from({ length: 200 }, (_, row) => `${row + 1},${row % 2 ? 'f' : 'm'},${Number(row % 3 === file)}`)].join('\n')); // prettier-ignore
    expect((await abJson(two)).body.warnings.filter((text) => text.includes('customer_id'))).to.deep.equal([]);
  });

  it('says that the file of one arm is a copy of the other', async () => {
    const rows = Array.from({ length: 200 }, (_, row) => `${row % 2 ? 'f' : 'm'},${String(Number(row % 3 === 0))}`);
    const [control, treatment, other] = ['one', 'copy', 'other'].map((name, at) => {
      const file = path.join(folder(), `${name}.csv`);
      writeFileSync(file, ['sex,approved', ...(at === 2 ? rows.toReversed() : rows)].join('\n'));
      return file;
    }) as [string, string, string];
    const warningsOf = async (of: string): Promise<string> => (await abJson(['--control-csv', control, '--treatment-csv', of, ...common])).body.warnings.join(); // prettier-ignore
    expect(await warningsOf(treatment)).to.match(/'.*copy\.csv' has the same content as '.*one\.csv'/);
    expect(await warningsOf(other)).to.not.include('same content');
  });

  it('accepts two files, labels of arms, several attributes and several metrics', async () => {
    const [control, treatment] = [makeFile('c.csv', { any: even }), makeFile('t.csv', { any: separate })];
    const files = await abJson([
      ...['--control-csv', control, '--treatment-csv', treatment, '--outcome', 'approved', '--y-true', 'repaid'],
      ...['--sensitive', 'sex', '--sensitive', 'race', '--sensitive', 'sex,race', '--business', 'revenue'],
      ...['--metric', 'demographic_parity_difference,equalized_odds_difference', '--sequential', '--tau', '0.1'],
    ]);
    expect(
      files.body.rows.map(({ attribute, measure }) => `${String(attribute)} ${String(measure)}`),
    ).to.include.members(['sex selection_rate', 'race true_positive_rate', 'sex||race false_positive_rate']);
    expect(files.body.settings).to.include({ is_sequential: true, tau: 0.1 });
    const file = makeFile('three.csv', { old: even, new: separate, other: even });
    const named = await abJson(['--csv', file, '--arm', 'arm', '--control', 'old', '--treatment', 'new', ...common]);
    expect(named.code).to.equal(1);
    expect(named.stderr).to.include('800 rows are in neither arm');
  });

  it('reads the truth by its own label, and missing texts by na-values', async () => {
    const file = path.join(folder(), 'labels.csv');
    // Of those who repay, half are approved in every arm and group, except all of m under treatment.
    const lines = ['control', 'new'].flatMap((arm) =>
      ['f', 'm'].flatMap((sex) =>
        Array.from({ length: 80 }, (_, row) => {
          const approved = arm === 'new' && sex === 'm' ? 'yes' : row % 4 < 2 ? 'yes' : 'no';
          return `${arm},${sex},${row % 8 === 7 ? '?' : approved},${row % 2 ? 'good' : 'bad'}`;
        }),
      ),
    );
    writeFileSync(file, ['arm,sex,approved,repaid', ...lines].join('\n'));
    const { code, body, stderr } = await abJson([
      ...['--csv', file, '--arm', 'arm', ...common, '--y-true', 'repaid', '--metric', 'equal_opportunity_difference'],
      ...['--positive-label', 'yes', '--y-true-positive-label', 'good', '--na-values', '?'],
    ]);
    expect(code, stderr).to.equal(1);
    // Of the 30 with a decision who repay: 20 of 30, and all 30 of m under treatment.
    expect(body.rows[0]?.['fairness_change']).to.be.closeTo(1 / 3, 1e-12);
    const unlabelled = await runCli(['ab-test', '--csv', file, '--arm', 'arm', ...common, '--y-true', 'repaid', '--positive-label', 'yes', '--na-values', '?', '--metric', 'equal_opportunity_difference']); // prettier-ignore
    expect([unlabelled.code, unlabelled.stdout]).to.deep.equal([2, '']);
    expect(unlabelled.stderr)
      .to.include("positive label 'yes' in column 'repaid'")
      .and.to.include('--y-true-positive-label');
    const listed = await runCli(['ab-test', '--csv', file, '--arm', 'arm', ...common, '--na-values', 'NA']);
    expect([listed.code, listed.stdout]).to.deep.equal([2, '']);
  });

  it('writes reports as HTML, Markdown and JSON', async () => {
    const file = makeFile('report.csv', { control: even, new: separate });
    for (const form of ['html', 'md', 'json']) {
      const out = path.join(folder(), `out/report.${form}`);
      const { code, stderr } = await runCli(['ab-test', '--csv', file, '--arm', 'arm', ...common, '--out', out]);
      expect([code, stderr]).to.deep.equal([1, `Wrote ${out}\n`]);
      expect(readFileSync(out, 'utf8')).to.include(form === 'json' ? '"finding": "worse"' : 'Fairness got worse');
    }
  });

  it('reports invalid options and data on one line, with exit code 2', async () => {
    const file = makeFile('errors.csv', { a: even, b: separate });
    const odd = makeFile('odd.csv', { x: even, y: separate });
    const link = path.join(folder(), 'link.csv');
    symlinkSync(file, link);
    const cases: [string[], string][] = [
      [[], 'Missing: --outcome and --sensitive.'],
      [common, 'Give either --csv with --arm'],
      [['--csv', file, ...common], '--arm names the column'],
      [['--csv', file, '--arm', 'arms', ...common], "Did you mean 'arm'?"],
      [['--csv', odd, '--arm', 'arm', ...common], 'unclear which arm is the control'],
      [['--csv', file, '--arm', 'arm', '--control', 'c', ...common], "no label 'c'"],
      [['--csv', file, '--arm', 'arm', ...common, '--metric', 'parity'], 'must be one of'],
      [['--csv', file, '--arm', 'arm', ...common, '--metric', 'equalized_odds_difference'], '--y-true'],
      [['--csv', file, '--arm', 'arm', ...common, '--tau', '0.1'], 'add --sequential'],
      [['--csv', file, '--arm', 'arm', ...common, '--alpha', '2'], '--alpha must be below 1'],
      [['--csv', file, '--arm', 'arm', '--outcome', 'revenue', '--sensitive', 'sex'], 'must be 0 or 1'],
      [['--csv', file, '--arm', 'arm', ...common, '--out', 'x.pdf'], 'End the name in'],
      [['--csv', 'absent.csv', '--arm', 'arm', ...common], 'absent.csv'],
      [['--control-csv', file, ...common], 'both --control-csv and --treatment-csv'],
      [['--control-csv', file, '--treatment-csv', file, ...common], 'both contain the file'],
      [['--control-csv', file, '--treatment-csv', link, ...common], 'both contain the file'],
      [['--csv', file, '--arm', 'arm', ...common, '--seed', '-1'], '--seed must be at least 0'],
      [['--csv', file, '--arm', 'arm', '--outcome', 'sex', '--sensitive', 'sex'], "'sex' is also a sensitive column"],
      [['--csv', file, '--arm', 'arm', ...common, '--y-true-positive-label', '1'], 'needs true labels: add --y-true'],
      [['--csv', file, '--arm', 'arm', ...common, '--positive-label', '2'], "holds the positive label '2'"],
    ];
    for (const [args, text] of cases) {
      const { code, stdout, stderr } = await runCli(['ab-test', ...args]);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr, args.join(' ')).to.include(text);
      expect(stderr.trimEnd().split('\n'), args.join(' ')).to.have.length(1);
    }
    expect(existsSync('x.pdf')).to.equal(false);
  });

  it('has help with examples and exit codes', async () => {
    const { code, stdout } = await runCli(['ab-test', '--help']);
    expect(code).to.equal(0);
    expect(stdout).to.include('Examples:').and.include('--sequential').and.include('Exit codes: 0');
  });
});

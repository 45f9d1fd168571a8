import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** The rows of each group, and how many of them are approved. */
type Groups = Readonly<Record<string, readonly [n: number, approved: number]>>;

// The differences are 0.5 - 0.3 = 0.2 and 0.5 - 0.4 = 0.1.
const MAY: Groups = { female: [100, 30], male: [200, 100], other: [40, 16] };
const JUNE: Groups = { female: [100, 40], male: [200, 100], unknown: [40, 18] };

describe('the files of evenhand validate', () => {
  const folder = useTemporaryFolder();
  const pathOf = (name: string): string => path.join(folder(), name);
  const read = (name: string): string => readFileSync(pathOf(name), 'utf8');

  before(() => {
    for (const [name, groups] of Object.entries({ 'may.csv': MAY, 'june.csv': JUNE })) {
      const rows = Object.entries(groups).flatMap(([label, [n, approved]]) =>
        Array.from({ length: n }, (_, row) => `${label},${Number(row < approved)}`),
      );
      writeFileSync(pathOf(name), ['sex,approved', ...rows].join('\n'));
    }
  });

  const validate = (csv: string, ...args: string[]) =>
    runCli(['validate', '--csv', csv, '--y-pred', 'approved', '--sensitive', 'sex', ...args], { cwd: folder() });

  it('are one for each --out, with the same result in every format', async () => {
    const names = ['a.html', 'a.md', 'a.json', 'a.csv', 'a.tsv', 'a.parquet'];
    const { code, stderr } = await validate('may.csv', ...names.flatMap((name) => ['--out', name]));
    expect([code, stderr]).to.deep.equal([0, names.map((name) => `Wrote ${name}\n`).join('')]);
    expect(read('a.html')).to.include('<!doctype html>').and.include('0.2000');
    expect(read('a.md')).to.include('0.2000');
    const { metrics } = JSON.parse(read('a.json')) as { metrics: Record<string, { value: number }> };
    expect(metrics['demographic_parity_difference']?.value).to.be.closeTo(0.2, 1e-12);
    for (const name of ['a.csv', 'a.tsv', 'a.parquet']) {
      const table = await loadData(pathOf(name));
      const column = table.categorical('group');
      const rates = Array.from(column.codes, (code, row) => [
        column.labels[code] ?? null,
        table.numeric('value').values[row],
      ]);
      expect(rates, name).to.deep.include.members([
        ['female', 0.3],
        ['male', 0.5],
        ['other', 0.4],
      ]);
    }
  });

  it('are none if one of them cannot be written', async () => {
    for (const [args, message] of [
      [['--out', 'b.md', '--out', 'b.txt'], "A report cannot be written as 'b.txt'. End the name in .html, .md, .json"],
      [['--out', 'b.md', '--out', './b.md'], "The outputs 'b.md' and './b.md' overlap."],
      [['--out', 'b.md', '--out', 'may.csv'], "The output 'may.csv' would replace the input 'may.csv'."],
      [['--out', 'b.md', '--out-plot', 'b.gif'], 'b.gif'],
    ] as const) {
      const { code, stdout, stderr } = await validate('may.csv', ...args);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(stderr).to.include(message);
      expect(existsSync(pathOf('b.md'))).to.equal(false);
    }
  });

  it('can be plots, as SVG with the labels as text, and as PNG', async () => {
    const svg = await validate('may.csv', '--out-plot', 'plot.svg');
    expect([svg.code, svg.stderr]).to.deep.equal([0, 'Wrote plot.svg\n']);
    expect(read('plot.svg'))
      .to.match(/^<svg /)
      .and.include('>female<')
      .and.include('>male<');
    const png = await validate('may.csv', '--out-plot', 'plot.png', '--quiet');
    expect([png.code, png.stderr]).to.deep.equal([0, '']);
    const bytes = readFileSync(pathOf('plot.png'));
    expect(bytes.subarray(0, 8).toString('latin1')).to.equal('\x89PNG\r\n\x1a\n');
    // The width and the height of the header chunk.
    expect(bytes.readUInt32BE(16)).to.be.within(400, 4000);
    expect(bytes.readUInt32BE(20)).to.be.within(100, 4000);
  });

  it('have no plot, and a warning, if no measure has a value for two groups', async () => {
    const { code, stderr } = await validate('may.csv', '--min-group-size', '150', '--out-plot', 'none.svg', '--quiet');
    expect(code).to.equal(0);
    expect(stderr).to.equal('No plot was written to none.svg: no measure has a value for two groups.\n');
    expect(existsSync(pathOf('none.svg'))).to.equal(false);
  });

  it('compare with an earlier result: values, gates, groups, and other data', async () => {
    const gate = ['--metric', 'demographic_parity_difference<=0.15'];
    expect((await validate('may.csv', ...gate, '--out', 'may.json')).code).to.equal(1);
    const { code, stdout } = await validate('june.csv', ...gate, '--compare', 'may.json', '--out', 'june.json');
    expect(code).to.equal(0);
    const text = joinLines(stdout);
    expect(text).to.match(/The data differ: then may\.csv \(SHA-256 \w{8}…\), now june\.csv \(SHA-256 \w{8}…\)\./);
    expect(text).to.match(/Demographic parity difference <= 0\.15 FAIL PASS/);
    expect(text).to.match(/0\.2000 \(.*\) 0\.1000 \(.*\) -0\.1000/);
    expect(text).to.include('New in sex: unknown.').and.include('Gone from sex: other.');
    const { changes } = JSON.parse(read('june.json')) as { changes: { metrics: { change: number }[] } };
    expect(changes.metrics[0]?.change).to.be.closeTo(-0.1, 1e-12);
  });

  it('name the file of gates among their inputs, and compare it', async () => {
    const write = (threshold: string): void => {
      writeFileSync(pathOf('gates.yml'), `- { metric: demographic_parity_difference, threshold: ${threshold} }\n`);
    };
    write('0.3');
    const passing = await validate('may.csv', '--gate', 'gates.yml', '--out', 'loose.json');
    write('0.01');
    const failing = await validate('may.csv', '--gate', 'gates.yml', '--compare', 'loose.json', '--json');
    expect([passing.code, failing.code]).to.deep.equal([0, 1]);
    const { changes, manifest } = JSON.parse(failing.stdout) as {
      changes: { warnings: string[] };
      manifest: { inputs: { path: string }[] };
    };
    expect(manifest.inputs.map(({ path: file }) => file)).to.deep.equal(['may.csv', 'gates.yml']);
    expect(changes.warnings).to.have.length(1);
    expect(changes.warnings[0]).to.match(/^The gates differ: then gates\.yml \(SHA-256/);
  });

  it('compare with the same data without a warning', async () => {
    await validate('may.csv', '--out', 'same.json');
    const { stdout } = await validate('may.csv', '--compare', 'same.json', '--json');
    const { changes } = JSON.parse(stdout) as { changes: { warnings: string[]; metrics: { change: number }[] } };
    expect(changes.warnings).to.deep.equal([]);
    expect(changes.metrics.map(({ change }) => change)).to.deep.equal([0]);
  });

  it('warn if the earlier result was changed after it was written', async () => {
    await validate('may.csv', '--out', 'edited.json');
    const edited = read('edited.json').replace(/"value": 0\.2\d*/, '"value": 0.02');
    writeFileSync(pathOf('edited.json'), edited);
    const { stdout } = await validate('june.csv', '--compare', 'edited.json', '--json');
    const { changes } = JSON.parse(stdout) as { changes: { warnings: string[] } };
    expect(changes.warnings[0]).to.equal(
      "'edited.json' is not as it was written, so that its numbers may be wrong. The results were changed after the report was written. 'evenhand verify edited.json' shows what differs.",
    );
    const text = await validate('june.csv', '--compare', 'edited.json');
    expect(joinLines(text.stdout)).to.include("'edited.json' is not as it was written");
  });

  for (const [title, text, message] of [
    [
      'a file that is no result',
      '{"metrics": 1}',
      "'earlier.json' is not a result of validate in JSON. Write one with",
    ],
    ['a file that is not JSON', 'sex,approved\n', "'earlier.json' is not a result of validate in JSON."],
    ['a missing file', null, "--compare cannot read 'earlier.json': "],
  ] as const) {
    it(`do not compare with ${title}`, async () => {
      if (text !== null) writeFileSync(pathOf('earlier.json'), text);
      const name = text === null ? 'missing.json' : 'earlier.json';
      const { code, stdout, stderr } = await validate('june.csv', '--compare', name, '--out', 'never.html');
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.include(message.replace('earlier.json', name));
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(existsSync(pathOf('never.html'))).to.equal(false);
    });
  }
});

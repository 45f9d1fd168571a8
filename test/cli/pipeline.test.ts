import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages } from '../helpers/wages.ts';

const CONFIG = `
sensitive: [gender]
features: [education, experience]
pipeline:
  - { name: weigh, transformer: InstanceReweighting }
  - { name: repair, transformer: DisparateImpactRemover }
`;

describe('evenhand pipeline', () => {
  const folder = useTemporaryFolder();
  const inFolder = (name: string): string => path.join(folder(), name);
  const run = (...args: string[]): ReturnType<typeof runCli> =>
    runCli(['pipeline', '--config', 'config.yml', '--csv', 'wages.csv', ...args], { cwd: folder() });

  before(async () => {
    await makeWages(folder());
    writeFileSync(inFolder('config.yml'), CONFIG);
  });

  it('needs no training section, and writes transformed rows with their weights', async () => {
    const { code, stdout } = await run('--out-csv', 'out.csv', '--detector-json', 'd.json', '--report-md', 'd.md');
    expect(code).to.equal(0);
    expect(stdout).to.match(/534 rows transformed/);
    expect(stdout).to.match(/^weigh +InstanceReweighting .*yes$/m);
    expect(stdout).to.match(/^repair +DisparateImpactRemover .*education, experience/m);
    const [before, after] = [await loadData(inFolder('wages.csv')), await loadData(inFolder('out.csv'))];
    expect(after.columnNames).to.deep.equal([...before.columnNames, 'sample_weight']);
    const weights = after.numeric('sample_weight').values;
    expect(weights.reduce((sum, weight) => sum + weight, 0) / 534).to.be.closeTo(1, 1e-12);
    expect(JSON.parse(readFileSync(inFolder('d.json'), 'utf8'))).to.have.keys('meta', 'body');
    expect(readFileSync(inFolder('d.md'), 'utf8')).to.match(/gender/);
  });

  it('writes Parquet by the extension, with the same rows', async () => {
    await run('--out-csv', 'out.csv', '--no-detectors');
    await run('--out-csv', 'out.parquet', '--no-detectors');
    const [csv, parquet] = [await loadData(inFolder('out.csv')), await loadData(inFolder('out.parquet'))];
    expect(parquet.toColumns()).to.deep.equal(csv.toColumns());
  });

  it('applies to other rows a pipeline that was saved', async () => {
    await run('--out-csv', 'all.csv', '--save-pipeline', 'fitted.json', '--no-detectors');
    const [header, ...lines] = readFileSync(inFolder('wages.csv'), 'utf8').trim().split('\n');
    writeFileSync(inFolder('some.csv'), [header, ...lines.slice(0, 20)].join('\n'));
    const { code } = await runCli(
      ['pipeline', '--config', 'config.yml', '--csv', 'some.csv', '--apply-pipeline', 'fitted.json', '--out-csv', 'some-out.csv'],
      { cwd: folder() },
    ); // prettier-ignore
    expect(code).to.equal(0);
    const [all, some] = [await loadData(inFolder('all.csv')), await loadData(inFolder('some-out.csv'))];
    const first = all.take(Array.from({ length: 20 }, (_, row) => row));
    expect([...some.numeric('education').values]).to.deep.equal([...first.numeric('education').values]);
    expect([...some.numeric('sample_weight').values]).to.deep.equal([...first.numeric('sample_weight').values]);
  });

  it('prints with --json what the service answers: the report, the steps and the rows', async () => {
    const { code, stdout } = await run('--json', '--quiet');
    expect(code).to.equal(0);
    const body = JSON.parse(stdout) as Record<string, unknown>;
    expect(body).to.include({ transformed_rows: 534 });
    expect(body['transformers_applied']).to.deep.equal(['weigh', 'repair']);
    expect(body['detector_report']).to.have.keys('meta', 'body');
  });

  it('writes the report where the configuration says, and not without detectors', async () => {
    writeFileSync(inFolder('reporting.yml'), `${CONFIG}report_out: found.md\n`);
    const args = ['pipeline', '--config', 'reporting.yml', '--csv', 'wages.csv'];
    await runCli([...args, '--no-detectors'], { cwd: folder() });
    expect(existsSync(inFolder('found.md'))).to.equal(false);
    const { code, stderr } = await runCli(args, { cwd: folder() });
    expect([code, stderr]).to.deep.equal([0, 'Wrote found.md\n']);
    expect(readFileSync(inFolder('found.md'), 'utf8')).to.match(/gender/);
  });

  it('refuses what cannot be, in one line, and writes nothing', async () => {
    writeFileSync(inFolder('bad.yml'), CONFIG.replace('[education, experience]', '[educatoin]'));
    const cases: readonly [args: readonly string[], code: number, message: RegExp][] = [
      [['--config', 'config.yml', '--csv', 'wages.csv', '--out-csv', 'out.xlsx'], 2, /\.parquet/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--no-detectors', '--report-md', 'x.md'], 2, /--no-detectors/],
      [['--config', 'config.yml', '--csv', 'missing.csv', '--out-csv', 'x.csv'], 2, /missing\.csv/],
      [['--config', 'missing.yml', '--csv', 'wages.csv', '--out-csv', 'x.csv'], 2, /missing\.yml/],
      [['--config', 'bad.yml', '--csv', 'wages.csv', '--out-csv', 'x.csv'], 2, /educatoin/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--apply-pipeline', 'config.yml'], 2, /no pipeline/],
      [['--config', 'config.yml'], 2, /--csv/],
    ];
    for (const [args, code, message] of cases) {
      const result = await runCli(['pipeline', ...args], { cwd: folder() });
      expect(result.code, args.join(' ')).to.equal(code);
      expect(result.stdout).to.equal('');
      expect(result.stderr).to.match(message);
      expect(result.stderr.trim().split('\n').length, result.stderr).to.equal(1);
      expect(existsSync(inFolder('x.csv'))).to.equal(false);
    }
  });
});

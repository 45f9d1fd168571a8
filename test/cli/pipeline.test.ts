import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { loadData } from '../../src/io/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages } from '../helpers/wages.ts';

const CLI = path.join(projectRoot, 'dist/cli/main.js');

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
  const runWith = (...args: string[]): ReturnType<typeof runCli> =>
    runCli(['pipeline', '--csv', 'wages.csv', ...args], { cwd: folder() });
  const run = (...args: string[]): ReturnType<typeof runCli> => runWith('--config', 'config.yml', ...args);

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

  it('writes Parquet if the extension says so, with the same rows', async () => {
    await run('--out-csv', 'out.csv', '--no-detectors');
    await run('--out-csv', 'out.parquet', '--no-detectors');
    const [csv, parquet] = [await loadData(inFolder('out.csv')), await loadData(inFolder('out.parquet'))];
    expect(parquet.toColumns()).to.deep.equal(csv.toColumns());
  });

  describe('on a database', () => {
    const query = "SELECT * FROM 'wages.csv'";
    const onDatabase = (...args: string[]): ReturnType<typeof runCli> =>
      runCli(['pipeline', '--config', 'weights.yml', '--sql', 'duckdb:', '--query', query, ...args], {
        cwd: folder(),
      });
    before(() => {
      writeFileSync(inFolder('weights.yml'), 'sensitive: [gender]\npipeline: [{ transformer: InstanceReweighting }]\n');
    });

    it('finds the same as in the rows of the file, and writes a statement with their weights', async () => {
      const { code, stdout } = await onDatabase('--out-sql', 'weighted.sql', '--detector-json', 'found.json');
      expect(code).to.equal(0);
      expect(stdout).to.match(/534 rows counted in the database, weights in the column sample_weight/);
      await runWith('--config', 'weights.yml', '--detector-json', 'rows.json');
      const findings = (name: string): unknown =>
        (JSON.parse(readFileSync(inFolder(name), 'utf8')) as { body: { summary: unknown } }).body.summary;
      expect(findings('found.json')).to.deep.equal(findings('rows.json'));
      const sql = readFileSync(inFolder('weighted.sql'), 'utf8');
      expect(sql).to.match(/WHEN CAST\("gender" AS VARCHAR\) = 'male' THEN /);
    });

    it('rejects options that need rows, and says what to do', async () => {
      expect((await onDatabase('--out-csv', 'x.csv')).stderr).to.match(/--out-csv needs rows in files/);
      expect((await onDatabase('--no-detectors')).stderr).to.match(/--no-detectors needs --out-sql/);
      expect((await run('--table', 'x')).stderr).to.match(/--table needs a database: add --sql/);
    });
  });

  it('applies a saved pipeline to other rows', async () => {
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

  it('prints the same JSON as the service with --json: the report, the steps and the rows', async () => {
    const { code, stdout } = await run('--json', '--quiet');
    expect(code).to.equal(0);
    const body = JSON.parse(stdout) as Record<string, unknown>;
    expect(body).to.include({ transformed_rows: 534 });
    expect(body['transformers_applied']).to.deep.equal(['weigh', 'repair']);
    expect(body['detector_report']).to.have.keys('meta', 'body');
  });

  it('writes the report to the path in the configuration, and not without detectors', async () => {
    writeFileSync(inFolder('reporting.yml'), `${CONFIG}report_out: found.md\n`);
    const args = ['pipeline', '--config', 'reporting.yml', '--csv', 'wages.csv'];
    await runCli([...args, '--no-detectors'], { cwd: folder() });
    expect(existsSync(inFolder('found.md'))).to.equal(false);
    const { code, stderr } = await runCli(args, { cwd: folder() });
    expect([code, stderr]).to.deep.equal([0, 'Wrote found.md\n']);
    expect(readFileSync(inFolder('found.md'), 'utf8')).to.match(/gender/);
  });

  it('rejects invalid options and data on one line, and writes nothing', async () => {
    writeFileSync(inFolder('bad.yml'), CONFIG.replace('[education, experience]', '[educatoin]'));
    const cases: readonly [args: readonly string[], code: number, message: RegExp][] = [
      [['--config', 'config.yml', '--csv', 'wages.csv', '--out-csv', 'out.xlsx'], 2, /\.parquet/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--no-detectors', '--report-md', 'x.md'], 2, /--no-detectors/],
      [['--config', 'config.yml', '--csv', 'missing.csv', '--out-csv', 'x.csv'], 2, /missing\.csv/],
      [['--config', 'missing.yml', '--csv', 'wages.csv', '--out-csv', 'x.csv'], 2, /missing\.yml/],
      [['--config', 'bad.yml', '--csv', 'wages.csv', '--out-csv', 'x.csv'], 2, /educatoin/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--apply-pipeline', 'config.yml'], 2, /not a saved pipeline/],
      [['--config', 'config.yml'], 2, /--csv/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--out-csv', 'x.json'], 2, /--out-csv must end in \.csv, \.tsv or \.parquet\. Got 'x\.json'/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--report-md', 'x.html'], 2, /--report-md writes Markdown.* 'x\.html'/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--report-md', 'x.JSON'], 2, /--report-md writes Markdown.* 'x\.JSON'/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--detector-json', 'x.md'], 2, /--detector-json writes JSON.* 'x\.md'/],
      [['--config', 'config.yml', '--csv', 'wages.csv', '--save-pipeline', 'x.csv'], 2, /--save-pipeline writes JSON.* 'x\.csv'/],
    ]; // prettier-ignore
    for (const [args, code, message] of cases) {
      const result = await runCli(['pipeline', ...args], { cwd: folder() });
      expect(result.code, args.join(' ')).to.equal(code);
      expect(result.stdout).to.equal('');
      expect(result.stderr).to.match(message);
      expect(result.stderr.trim().split('\n').length, result.stderr).to.equal(1);
      expect(existsSync(inFolder('x.csv'))).to.equal(false);
    }
  });

  const overwrites: readonly (readonly [title: string, args: readonly string[], input: string])[] = [
    ['the rows', ['--out-csv', 'wages.csv'], 'wages.csv'],
    ['the rows by another spelling of the path', ['--out-csv', './missing/../wages.csv'], 'wages.csv'],
    ['the rows through a link', ['--out-csv', 'link.csv'], 'wages.csv'],
    ['the configuration', ['--report-md', 'config.yml'], 'config.yml'],
    ['the pipeline that is applied', ['--apply-pipeline', 'kept.json', '--detector-json', 'kept.json'], 'kept.json'],
    ['the configuration, by its own report_out', ['--config', 'itself.md'], 'itself.md'],
  ];
  for (const [title, args, input] of overwrites) {
    it(`does not overwrite ${title}`, async () => {
      await run('--save-pipeline', 'kept.json', '--no-detectors');
      writeFileSync(inFolder('itself.md'), `${CONFIG}report_out: itself.md\n`);
      if (!existsSync(inFolder('link.csv'))) symlinkSync('wages.csv', inFolder('link.csv'));
      const before = readFileSync(inFolder(input), 'utf8');
      const { code, stdout, stderr } = await (args[0] === '--config' ? runWith(...args) : run(...args));
      expect(stderr).to.match(new RegExp(`^error: The output '.+' would replace the input '${input}'\\. `));
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(readFileSync(inFolder(input), 'utf8')).to.equal(before);
    });
  }

  it('does not overwrite a configuration that it found by itself', async () => {
    const { code, stderr } = await runCli(['pipeline', '--csv', 'wages.csv', '--report-md', 'config.yml'], {
      cwd: folder(),
      env: { EVENHAND_CONFIG_PATH: 'config.yml' },
    });
    expect([code, stderr]).to.deep.equal([2, "error: The output 'config.yml' would replace the input 'config.yml'. Choose another path for the output.\n"]); // prettier-ignore
  });

  it('rejects two outputs with the same path, also through a link', async () => {
    symlinkSync('d.json', inFolder('linked.json'));
    writeFileSync(inFolder('d.json'), '');
    const { code, stderr } = await run('--detector-json', 'd.json', '--save-pipeline', 'linked.json');
    expect(code).to.equal(2);
    expect(stderr).to.match(/'d\.json' and 'linked\.json' overlap/);
  });

  it('writes TSV if the extension says so, and CSV if there is no extension', async () => {
    for (const name of ['out.csv', 'out.tsv', 'out']) await run('--out-csv', name, '--no-detectors');
    const rows = async (name: string): Promise<unknown> => (await loadData(inFolder(name))).toColumns();
    expect(await rows('out.tsv')).to.deep.equal(await rows('out.csv'));
    expect(readFileSync(inFolder('out.tsv'), 'utf8').split('\n')[0]).to.match(/\tsample_weight$/);
    expect(readFileSync(inFolder('out'), 'utf8')).to.equal(readFileSync(inFolder('out.csv'), 'utf8'));
  });

  const ROW = 'sex,age\nf,1\n';
  const ROWS = `sex,age\n${'f,1\nm,1\n'.repeat(40)}`;
  const WITHOUT = 'sensitive: [sex]\nfeatures: [age]\n';
  const STEP = 'pipeline: [{ transformer: ProxyDropper }]\n';
  const sentences: readonly (readonly [csv: string, config: string, args: readonly string[], start: RegExp])[] = [
    [ROW, WITHOUT, ['--no-detectors'], /^Transformation\n\n1 row, no step to transform it\.$/],
    [ROWS, WITHOUT, ['--no-detectors'], /^Transformation\n\n80 rows, no step to transform them\.$/],
    [ROWS, WITHOUT + STEP, ['--no-detectors'], /^80 rows transformed:$/m],
    [ROWS, WITHOUT, [], /^Detectors\n\n- No finding\.\n\nTransformation\n\n80 rows, no step to transform them\.$/],
  ];
  for (const [csv, config, args, start] of sentences) {
    it(`uses the right singular and plural: ${start.source}`, async () => {
      writeFileSync(inFolder('few.csv'), csv);
      writeFileSync(inFolder('few.yml'), config);
      const { code, stdout, stderr } = await runCli(
        ['pipeline', '--config', 'few.yml', '--csv', 'few.csv', '--quiet', ...args],
        { cwd: folder() },
      );
      expect(code, stderr).to.equal(0);
      expect(stdout.trimEnd()).to.match(start);
    });
  }

  it('shows names with line breaks or direction marks on one line', async () => {
    const rows = Array.from({ length: 80 }, (_, row) => (row % 2 === 0 ? '"f\u2066",0' : '"m\nx",9'));
    writeFileSync(inFolder('odd.csv'), `sex,"pr\no\u202exy"\n${rows.join('\n')}\n`);
    writeFileSync(inFolder('odd.yml'), 'sensitive: [sex]\npipeline: [{ name: drop, transformer: ProxyDropper }]\n');
    const { code, stdout, stderr } = await runCli(['pipeline', '--config', 'odd.yml', '--csv', 'odd.csv'], {
      cwd: folder(),
    });
    expect(code, stderr).to.equal(0);
    expect(joinLines(stdout)).to.match(/ 1 of 1 columns tested .* 'pr o xy' .* 0 \(f \) to 9 \(m x\)\. /);
    expect(stdout).to.match(/^drop {2}ProxyDropper {2}pr o xy$/m);
    expect(stdout).to.match(/^- drop: dropped 'pr o xy': /m);
    expect(stdout).not.to.match(/^(o xy|x)/m);
  });

  it('prints the paths that it wrote after the result', () => {
    const log = openSync(inFolder('both.txt'), 'w');
    const args = ['pipeline', '--config', 'config.yml', '--csv', 'wages.csv', '--out-csv', 'o.csv', '--no-detectors'];
    const env = { ...process.env, EVENHAND_LOG_LEVEL: 'warn' };
    spawnSync(process.execPath, [CLI, ...args], { cwd: folder(), env, stdio: ['ignore', log, log] });
    closeSync(log);
    expect(readFileSync(inFolder('both.txt'), 'utf8')).to.match(
      /^Transformation\n\n534 rows transformed:\n[^]*\nWrote o\.csv\n$/,
    );
  });

  it('lists the exit codes with --help', async () => {
    expect((await runCli(['pipeline', '--help'])).stdout).to.match(/Exit codes: 0.*2.*3 a step failed/s);
  });
});

import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { joinLines, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { makeWages } from '../helpers/wages.ts';

const CONFIG = `
sensitive: [gender]
features: [education, experience, union, occupation]
pipeline:
  - { name: weigh, transformer: InstanceReweighting }
training:
  method: reductions
  target_column: wage_above_median
  params: { difference_bound: 0.01 }
fairness_metric: demographic_parity_difference
validation_threshold: 0.3
`;

describe('evenhand run-pipeline', () => {
  const folder = useTemporaryFolder();
  const inFolder = (name: string): string => path.join(folder(), name);

  before(async () => {
    await makeWages(folder());
    writeFileSync(inFolder('config.yml'), CONFIG);
  });

  const run = (...args: string[]): ReturnType<typeof runCli> =>
    runCli(['run-pipeline', '--config', 'config.yml', '--csv', 'wages.csv', ...args], { cwd: folder() });

  it('prints both summaries, the table of changes, the verdict and the improvement', async () => {
    const { code, stdout } = await run();
    expect(code).to.equal(0);
    expect(stdout).to.match(/^PASS at threshold 0\.3\n {2}PASS: demographic_parity_difference 0\.\d{4} <= 0\.3/);
    const text = joinLines(stdout);
    expect(text).to.match(/Unfairness reduced: Demographic parity difference went from 0\.\d{4} to 0\.\d{4}\./);
    expect(text).to.match(/The gap changed by −\d+\.\d%\./);
    expect(text).to.match(/Accuracy went from \d\d\.\d\d% to \d\d\.\d\d%: .* on the same 107 held-out rows\./);
    expect(text).to.include("Predicting 'wage_above_median', by 'gender': 427 rows trained on, 107 held out.");
    expect(stdout).to.match(/^All rows +Accuracy +\d\d\.\d\d%/m);
    expect(stdout).to.match(
      /^gender +Demographic parity difference \(judged\) +0\.\d{4} +0\.\d{4} to 0\.\d{4} +0\.\d{4} +0\.\d{4} to 0\.\d{4} +−0\.\d{4}, smaller gap$/m,
    );
  });

  it('exits with 1 if the final value is above --threshold, which overrides the file', async () => {
    const { code, stdout } = await run('--threshold', '0.0001');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^FAIL at threshold 0\.0001\n {2}FAIL: demographic_parity_difference 0\.\d{4} > 0\.0001/);
  });

  it('warns of rows that are both trained on and held out, unless their column is the cluster', async () => {
    const [header = '', ...rows] = readFileSync(inFolder('wages.csv'), 'utf8').trim().split('\n');
    const named = rows.map((row, index) => `${row},p${String(index >> 1)}`);
    writeFileSync(inFolder('people.csv'), [`${header},person`, ...named].join('\n'));
    const runPeople = (config: string) => runCli(['run-pipeline', '--config', config, '--csv', 'people.csv'], { cwd: folder() }); // prettier-ignore
    const note = /Column 'person' has about 2\.0 rows for each of its values, and some may be trained on while others are held out/; // prettier-ignore
    const once = (text: string): string => text.replaceAll(/\s+/g, ' ');
    const { stdout, stderr } = await runPeople('config.yml');
    expect(once(stdout)).to.match(note);
    expect(stderr).not.to.match(note);
    writeFileSync(inFolder('strata.yml'), `${CONFIG}strata: union\n`);
    expect(once((await runPeople('strata.yml')).stdout)).to.match(note);
    writeFileSync(inFolder('clusters.yml'), `${CONFIG}cluster: person\n`);
    expect(once((await runPeople('clusters.yml')).stdout)).not.to.match(note);
  });

  it('prints the content of the results file with --json', async () => {
    const { code, stdout, stderr } = await run('--json', '--quiet', '--output-dir', 'out');
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(stdout)).to.deep.equal(JSON.parse(readFileSync(inFolder('out/workflow_results.json'), 'utf8')));
  });

  it('saves a model that predict applies to the original rows', async () => {
    await run('--quiet', '--output-dir', 'out');
    const { code, stdout } = await runCli(
      ['predict', '--model', 'out/model', '--csv', 'wages.csv', '--out-csv', 'decisions.csv'],
      { cwd: folder() },
    );
    expect(code).to.equal(0);
    expect(stdout).to.match(/534 rows scored/);
  });

  it('accepts the options of the workflow, and rejects values out of range', async () => {
    const { stdout } = await run('--json', '--random-state', '7', '--train-size', '0.5', '--min-group-size', '5');
    expect(JSON.parse(stdout)).to.include({ seed: 7 });
    for (const args of [
      ['--train-size', '1'],
      ['--random-state', '0.5'],
      ['--min-group-size', 'few'],
      ['--class-weight', 'heavy'],
      ['--backend', 'abacus'],
      ['--thresold', '1'],
    ]) {
      const { code, stdout: printed, stderr } = await run(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(printed).to.equal('');
      expect(stderr.trim().split('\n').length, stderr).to.equal(1);
    }
  });

  it('reports once that tracking failed, and still prints the verdict', async () => {
    const settings: readonly Record<string, string>[] = [
      {},
      { EVENHAND_LOG_LEVEL: 'error' },
      { EVENHAND_LOG_FILE: inFolder('run.log') },
    ];
    // In parallel, since each waits before it retries.
    const runs = settings.map((setting) =>
      runCli(['run-pipeline', '--config', 'config.yml', '--csv', 'wages.csv', '--mlflow-experiment', 'wages'], {
        cwd: folder(),
        env: { MLFLOW_TRACKING_URI: 'http://127.0.0.1:9', ...setting },
      }),
    );
    for (const [index, { code, stdout, stderr }] of (await Promise.all(runs)).entries()) {
      expect(code).to.equal(0);
      expect(stdout).to.match(/^PASS/m);
      expect(stderr.match(/tracking/gi), stderr).to.have.length(1);
      expect(stderr).to.match(
        index === 0 ? /WARN MLflow tracking failed: / : /^Tracking failed, the run is not logged: /m,
      );
    }
    expect(readFileSync(inFolder('run.log'), 'utf8')).to.match(/WARN MLflow tracking failed: /);
  });

  it('remarks that report_out is for another command, except with --quiet', async () => {
    writeFileSync(inFolder('reporting.yml'), `${CONFIG}report_out: found.md\n`);
    const args = ['run-pipeline', '--config', 'reporting.yml', '--csv', 'wages.csv'];
    for (const [more, reported] of [
      [[], 'Only evenhand pipeline writes report_out.\n'],
      [['--quiet'], ''],
    ] as const) {
      const { code, stderr } = await runCli([...args, ...more], { cwd: folder() });
      expect([code, stderr]).to.deep.equal([0, reported]);
    }
    expect(existsSync(inFolder('found.md'))).to.equal(false);
  });

  const overwrites: readonly (readonly [title: string, outputDir: string, csv: string, config: string])[] = [
    ['the folder that holds the rows', 'earlier', 'earlier/transformed_data.parquet', 'config.yml'],
    ['the same folder through a link', 'linked', 'earlier/transformed_data.parquet', 'config.yml'],
    ['the folder that holds the configuration', 'earlier/model/..', 'wages.csv', 'earlier/model/config.yml'],
    ['the rows themselves', './wages.csv', 'wages.csv', 'config.yml'],
    ['the configuration itself', 'config.yml', 'wages.csv', './config.yml'],
    ['the working folder', '.', 'wages.csv', 'config.yml'],
  ];
  for (const [title, outputDir, csv, config] of overwrites) {
    it(`does not replace its input: ${title}`, async () => {
      if (!existsSync(inFolder('earlier'))) {
        await run('--quiet', '--output-dir', 'earlier');
        symlinkSync('earlier', inFolder('linked'));
      }
      if (config.startsWith('earlier')) writeFileSync(inFolder(config), CONFIG);
      const { code, stdout, stderr } = await runCli(
        ['run-pipeline', '--config', config, '--csv', csv, '--output-dir', outputDir],
        { cwd: folder() },
      );
      const input = title.includes('configuration') ? config : csv;
      expect(stderr).to.equal(`error: The output '${outputDir}' would replace the input '${input}'. Choose another path for the output.\n`); // prettier-ignore
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(existsSync(inFolder(input))).to.equal(true);
    });
  }

  it('shows a label with line breaks or direction marks on one line', async () => {
    const [header, ...lines] = readFileSync(inFolder('wages.csv'), 'utf8').trim().split('\n');
    const labelled = lines.map((line) => line.replace(/,1$/, ',"hi\ngh\u202e"').replace(/,0$/, ',low'));
    writeFileSync(inFolder('odd.csv'), `${[header, ...labelled].join('\n')}\n`);
    const { code, stdout, stderr } = await runCli(['run-pipeline', '--config', 'config.yml', '--csv', 'odd.csv'], {
      cwd: folder(),
    });
    expect(code, stderr).to.be.oneOf([0, 1]);
    expect(joinLines(stdout)).to.match(
      / Predicting 'wage_above_median' = '(hi gh ?|low)' as positive, by 'gender': 427 rows/,
    );
    expect(stdout).not.to.match(/^gh/m);
  });

  it('lists the exit codes with --help', async () => {
    expect((await runCli(['run-pipeline', '--help'])).stdout).to.match(/Exit codes:\s+0.*1.*2.*3 a\s+step\s.*failed/s);
  });

  it('rejects a configuration without a training section, and names the command for it', async () => {
    writeFileSync(inFolder('without.yml'), 'sensitive: [gender]\n');
    const { code, stderr } = await runCli(['run-pipeline', '--config', 'without.yml', '--csv', 'wages.csv'], {
      cwd: folder(),
    });
    expect(code).to.equal(2);
    expect(stderr).to.match(/no training section.*evenhand pipeline/s);
  });

  it('exits with 3 if a step fails, with its name and number, and leaves no output', async () => {
    const text = CONFIG.replace('InstanceReweighting }', 'DisparateImpactRemover, params: { features: [agee] } }');
    writeFileSync(inFolder('failing.yml'), text);
    const { code, stderr } = await runCli(
      ['run-pipeline', '--config', 'failing.yml', '--csv', 'wages.csv', '--output-dir', 'failed'],
      { cwd: folder() },
    );
    expect(code).to.equal(3);
    expect(stderr).to.match(/Step 1, 'weigh' \(DisparateImpactRemover\), failed: .*'agee'/);
    expect(existsSync(inFolder('failed'))).to.equal(false);
  });
});

describeWithReference('evenhand run-pipeline on the Adult training rows @slow', () => {
  const folder = useTemporaryFolder();
  const run = (threshold: string, out: string): ReturnType<typeof runCli> =>
    runCli([
      ...['run-pipeline', '--config', 'config/adult.yml', '--csv', referencePath('data', 'adult.train.csv')],
      ...['--threshold', threshold, '--output-dir', path.join(folder(), out)],
    ]);
  const results = (out: string): string => readFileSync(path.join(folder(), out, 'workflow_results.json'), 'utf8');

  it('exits with 0 for a threshold of 0.06 and with 1 for 0.001, and repeats the same results byte for byte', async () => {
    const first = await run('0.06', 'a');
    const before = results('a');
    const [again, strict] = [await run('0.06', 'a'), await run('0.001', 'c')];
    expect([first.code, again.code, strict.code]).to.deep.equal([0, 0, 1]);
    expect(results('a')).to.equal(before);
    const { validation } = JSON.parse(results('a')) as { validation: Record<string, number> };
    expect(validation['baseline_metric_value']).to.be.within(0.25, 0.36);
    expect(validation['final_metric_value']).to.be.at.most(0.05);
  }).timeout(180_000);
});

import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect } from 'chai';

import { type CliRun, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { type JunitReport, readJunit } from '../helpers/junit.ts';
import { makeWages } from '../helpers/wages.ts';

const VALIDATE = ['validate', '--csv', 'decisions.csv', '--y-pred', 'approved', '--sensitive', 'sex', '--sensitive', 'degree']; // prettier-ignore

/** A label with XML, Markdown, a link and control characters. */
const NASTY = 'a]]>|<b> [x](http://evil.example) \u0007\u202e';

/** Starts a server that accepts alerts, and returns its address. */
async function startHook(): Promise<string> {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describe('gates in continuous integration', () => {
  const folder = useTemporaryFolder();
  const pathOf = (name: string): string => path.join(folder(), name);
  let summaries = 0;

  before(async () => {
    // By sex 20 of 40 and 16 of 40 are approved, a difference of 0.1 and a ratio of 0.8. By degree, 18 of 40 and 18 of 40.
    const approved = (row: number): number => Number(row < 40 ? row < 20 : row < 56);
    const rows = Array.from({ length: 80 }, (_, row) => [approved(row), row < 40 ? 'f' : 'm', ['no', 'yes'][row % 2]]);
    writeFileSync(pathOf('decisions.csv'), ['approved,sex,degree', ...rows.map((row) => row.join(','))].join('\n'));
    writeFileSync(
      pathOf('gates.yml'),
      `- { metric: demographic_parity_difference, threshold: 0.05, attributes: [degree] }
- { metric: demographic_parity_ratio, threshold: 0.75, attributes: [sex] }\n`,
    );
    await makeWages(folder());
    const arm = (name: string, ...rates: number[]): string[] =>
      rates.flatMap((rate, group) =>
        Array.from(
          { length: 400 },
          (_, row) => `${name},${group === 0 ? 'f' : 'm'},${String(Number(row < 400 * rate))}`,
        ),
      );
    writeFileSync(pathOf('arms.csv'), ['arm,sex,approved', ...arm('control', 0.5, 0.5), ...arm('new', 0.2, 0.8)].join('\n')); // prettier-ignore
    writeFileSync(pathOf('same.csv'), ['arm,sex,approved', ...arm('control', 0.5, 0.5), ...arm('new', 0.5, 0.5)].join('\n')); // prettier-ignore
    writeFileSync(pathOf('llm.yml'), `provider: local
evaluators: [counterfactual]
counterfactual:
  template: ['Advise a {gender} on a loan.', 'Write about a {gender}.', 'Describe a {gender}.', 'Praise a {gender}.', 'Greet a {gender}.']
  dimensions: { gender: [woman, man] }
`); // prettier-ignore
    writeFileSync(pathOf('job.yml'), `sensitive: [gender]
features: [education, experience]
training: { method: reductions, target_column: wage_above_median, params: { difference_bound: 0.01 } }
`); // prettier-ignore
  });

  /** Runs a command with a JUnit report and a step summary. */
  async function run(...args: string[]): Promise<CliRun & { junit: JunitReport; summary: string }> {
    const [junit, summary] = [pathOf('junit.xml'), pathOf(`summary-${String(++summaries)}.md`)];
    writeFileSync(summary, 'An earlier line.');
    const result = await withSummary(summary, [...args, '--junit', junit]);
    expect(result.code, result.stderr).to.be.oneOf([0, 1]);
    expect(result.stderr).to.include(`Wrote ${junit}`);
    const text = readFileSync(summary, 'utf8');
    expect(text).to.match(/^An earlier line\.(?:\n|$)/);
    return {
      ...result,
      junit: readJunit(readFileSync(junit, 'utf8')),
      summary: text.replace('An earlier line.\n', ''),
    };
  }

  async function withSummary(file: string, args: readonly string[]): Promise<CliRun> {
    const before = process.env['GITHUB_STEP_SUMMARY'];
    process.env['GITHUB_STEP_SUMMARY'] = file;
    try {
      return await runCli(args, { cwd: folder() });
    } finally {
      if (before === undefined) Reflect.deleteProperty(process.env, 'GITHUB_STEP_SUMMARY');
      else process.env['GITHUB_STEP_SUMMARY'] = before;
    }
  }

  it('validate applies a file of gates to its attributes, and exits with 0 if all pass', async () => {
    const { code, junit, summary } = await run(...VALIDATE, '--sensitive', 'sex,degree', '--gate', 'gates.yml');
    expect(code).to.equal(0);
    expect(junit.outcomes).to.deep.equal({
      'sex: demographic_parity_ratio >= 0.75': 'pass',
      'degree: demographic_parity_difference <= 0.05': 'pass',
      'sex||degree: no gate': 'skipped',
    });
    expect(junit.output).to.include('--gate: gates.yml').and.include('--csv: decisions.csv');
    expect(summary).to.match(/^### evenhand validate: PASS\n\n2 of 2 gates passed\./);
  });

  it('validate writes its warnings to the JUnit file, the summary, the page and the model card', async () => {
    const lines = Array.from({ length: 200 }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},${String(row)}`);
    writeFileSync(pathOf('percent.csv'), ['sex,score', ...lines].join('\n'));
    const { code, junit, summary } = await run('validate', '--csv', 'percent.csv', '--score', 'score', '--sensitive', 'sex', '--metric', 'demographic_parity_difference<=0.15', '--out', 'percent.html', '--out', 'percent.json'); // prettier-ignore
    const warning = /The scores are not between 0 and 1, since one is 2/;
    expect(code).to.equal(0);
    expect(junit.output).to.match(warning);
    expect(summary).to.match(/- Warning: The scores are not between 0 and 1, since one is 2/);
    expect(readFileSync(pathOf('percent.html'), 'utf8').split('application/json')[0]).to.match(warning);
    const card = await runCli(['model-card', 'percent.json'], { cwd: folder() });
    expect(card.stdout).to.match(/The scores are not between 0 and 1/);
  });

  it('validate combines the file with the gates of --metric, and reports the failures', async () => {
    const { code, junit, summary } = await run(...VALIDATE, '--gate', 'gates.yml', '--metric', 'demographic_parity_difference<=0.08'); // prettier-ignore
    expect(code).to.equal(1);
    expect(junit.outcomes).to.deep.equal({
      'sex: demographic_parity_difference <= 0.08': 'failure',
      'sex: demographic_parity_ratio >= 0.75': 'pass',
      'degree: demographic_parity_difference <= 0.08': 'pass',
      'degree: demographic_parity_difference <= 0.05': 'pass',
    });
    expect(summary).to.match(/^### evenhand validate: FAIL\n\n3 of 4 gates passed\./);
    expect(summary.replaceAll('\\', '')).to.match(/\| FAIL +\| sex +\| demographic_parity_difference <= 0\.08 \| demographic_parity_difference 0\.1000 > 0\.08\./); // prettier-ignore
  });

  it('validate never passes an undefined metric', async () => {
    const { code, junit, summary } = await run(...VALIDATE, '--min-group-size', '50', '--gate', 'gates.yml');
    expect(code).to.equal(1);
    expect(Object.values(junit.outcomes)).to.deep.equal(['error', 'error']);
    expect(summary).to.include('### evenhand validate: UNDEFINED');
  });

  it('validate rejects a report of gates without a gate, and an invalid file with line and column', async () => {
    writeFileSync(pathOf('wrong.yml'), '- metric: demographic_parity_diference\n  threshold: 0.1\n');
    const cases: [string[], RegExp][] = [
      [['--junit', 'none.xml'], /--junit writes the verdicts of gates, but there is no gate\. .*--gate/],
      [['--gate', 'wrong.yml'], /wrong\.yml:1:11: gates\[0\]\.metric: .*Did you mean 'demographic_parity_difference'/],
      [['--gate', 'absent.yml'], /absent\.yml/],
      [['--gate', 'gates.yml', '--junit', 'gates.yml'], /would replace the input 'gates\.yml'/],
      [['--gate', 'gates.yml', '--junit', 'decisions.csv/x.xml'], /Cannot write/],
      [['--gate', 'gates.yml', '--gate', 'gates.yml'], /given twice/],
    ];
    for (const [args, text] of cases) {
      const { code, stdout, stderr } = await runCli([...VALIDATE, ...args], { cwd: folder() });
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      expect(stderr, args.join(' ')).to.match(text);
    }
    // The report has the error, and no verdict.
    expect(readJunit(readFileSync(pathOf('none.xml'), 'utf8')).outcomes).to.deep.equal({ 'run: the run reached its gates': 'error' }); // prettier-ignore
  });

  it('validate prints the errors of a file of gates as config check does, one per line', async () => {
    const bad = pathOf('bad.yml');
    writeFileSync(bad, '- metric: demographic_parity_difference\n  threshold: abc\n- metric: x_ratio\n  treshold: 1\n');
    const [given, checked] = [
      await runCli([...VALIDATE, '--gate', 'bad.yml'], { cwd: folder() }),
      await runCli(['config', 'check', '--config', 'bad.yml'], { cwd: folder() }),
    ];
    const lines = given.stderr.trim().split('\n');
    expect([given.code, lines[0]]).to.deep.equal([2, "error: 'bad.yml' has 2 errors."]);
    expect(lines.slice(1, 3)).to.deep.equal(checked.stdout.trim().split('\n').slice(0, 2));
    expect(lines[1]).to.match(/^bad\.yml:2:14: /);
    expect(lines[2]).to.match(/^bad\.yml:4:3: /);
  });

  it('writes no summary without a gate', async () => {
    writeFileSync(pathOf('untouched.md'), '');
    expect((await withSummary(pathOf('untouched.md'), VALIDATE)).code).to.equal(0);
    expect(readFileSync(pathOf('untouched.md'), 'utf8')).to.equal('');
  });

  it('only warns if the summary cannot be written', async () => {
    mkdirSync(pathOf('directory.md'));
    const { code, stderr } = await withSummary(pathOf('directory.md'), [...VALIDATE, '--gate', 'gates.yml']);
    expect(code).to.equal(0);
    expect(stderr).to.match(/could not be appended to .*directory\.md.* EISDIR/);
    const lost = await withSummary(pathOf('absent/summary.md'), [...VALIDATE, '--gate', 'gates.yml']);
    expect([lost.code, /could not be appended/.test(lost.stderr)]).to.deep.equal([0, true]);
  });

  it('shows untrusted names as plain text', async () => {
    const rows = readFileSync(pathOf('decisions.csv'), 'utf8').split('\n').slice(1);
    writeFileSync(pathOf('nasty.csv'), [`approved,"${NASTY}",degree`, ...rows].join('\n'));
    const args = ['validate', '--csv', 'nasty.csv', '--y-pred', 'approved', '--sensitive', NASTY];
    const { junit, summary } = await run(...args, '--metric', 'demographic_parity_difference<=0.2');
    expect(Object.keys(junit.outcomes)[0]).to.match(/^a\]\]>\|<b> \[x\]\(http:\/\/evil\.example\)/);
    const [row = ''] = summary.split('\n').filter((line) => line.startsWith('| PASS'));
    expect(row.match(/(?<!\\)\|/g)).to.have.length(5);
    expect(row.replaceAll('<!-- -->', '')).not.to.match(/(?<!\\)[<`[]/);
    expect(row).not.to.include('://');
  });

  it('run-pipeline reports its gate, and needs one', async () => {
    const args = ['run-pipeline', '--config', 'job.yml', '--csv', 'wages.csv'];
    const pass = await run(...args, '--threshold', '0.9');
    expect([pass.code, pass.junit.outcomes]).to.deep.equal([0, { 'gender: demographic_parity_difference <= 0.9': 'pass' }]); // prettier-ignore
    const fail = await run(...args, '--threshold', '0.0001');
    expect([fail.code, Object.values(fail.junit.outcomes)]).to.deep.equal([1, ['failure']]);
    expect(fail.summary).to.include('### evenhand run-pipeline: FAIL');
    const none = await runCli([...args, '--junit', 'none.xml'], { cwd: folder() });
    expect(none.code).to.equal(2);
    expect(none.stderr).to.include('there is no threshold').and.to.include('--threshold');
  }).timeout(120_000);

  it('a run that ends before its gates replaces the verdict of an earlier run by an error', async () => {
    const stale = { 'sex: demographic_parity_difference <= 0.5': 'pass' };
    const gate = ['--metric', 'demographic_parity_difference<=0.5'];
    const base = ['validate', '--csv', 'decisions.csv', '--y-pred', 'approved', '--sensitive', 'sex', ...gate];
    for (const [wrong, text] of [
      [['--positive-label', 'yes please'], 'yes please'],
      [['--no-such-option'], "unknown option '--no-such-option'"],
      [['--csv', 'no-such-file.csv'], 'no-such-file.csv'],
    ] as const) {
      const pass = await run(...base);
      expect([pass.code, pass.junit.outcomes]).to.deep.equal([0, stale]);
      const { code } = await runCli([...base, ...wrong, '--junit', pathOf('junit.xml')], { cwd: folder() });
      expect(code).to.equal(2);
      const xml = readFileSync(pathOf('junit.xml'), 'utf8');
      const junit = readJunit(xml);
      expect(junit.outcomes).to.deep.equal({ 'run: the run reached its gates': 'error' });
      expect(junit.counts).to.include({ name: 'evenhand validate' });
      expect(xml).to.include(text.replaceAll("'", '&#39;'));
    }
    const data = readFileSync(pathOf('decisions.csv'), 'utf8');
    const onData = await runCli([...base, '--junit', 'decisions.csv'], { cwd: folder() });
    expect([onData.code, readFileSync(pathOf('decisions.csv'), 'utf8')]).to.deep.equal([2, data]);
  });

  it('a gate without quotes, which the shell takes for a redirection, is an error', () => {
    const command = (gate: string): string =>
      `"${process.execPath}" "${path.resolve('dist/cli/main.js')}" validate --csv decisions.csv --y-pred approved --sensitive sex --metric ${gate}`;
    const shell = (line: string): SpawnSyncReturns<string> =>
      spawnSync(line, { shell: true, cwd: folder(), encoding: 'utf8', timeout: 60_000 });
    for (const [gate, file] of [
      ['demographic_parity_ratio>=0.99', '=0.99'],
      ['demographic_parity_ratio>.99', '.99'],
    ] as const) {
      const bare = shell(command(gate));
      expect([bare.status, readFileSync(pathOf(file), 'utf8')]).to.deep.equal([2, '']);
      expect(bare.stderr).to.include(`--metric '${gate}'`).and.include(`remove the file '${file}'`);
    }
    expect(shell(command("'demographic_parity_ratio>=0.99'")).status).to.equal(1);
    expect(shell(`${command('demographic_parity_ratio')} > out.txt`).status).to.equal(0);
    expect(shell(`${command('demographic_parity_ratio')} > 2026`).stderr).to.include("remove the file '2026'");
  });

  it('llm-eval reports its gate, and skips metrics without one', async () => {
    const args = ['llm-eval', '--config', 'llm.yml', '--min-group-size', '5'];
    const gate = [...args, '--metric', 'length_gap.gender', '--threshold', '1000'];
    const pass = await run(...gate);
    expect([pass.code, pass.junit.outcomes]).to.deep.equal([
      0,
      { 'run: the run completed the plan': 'pass', 'counterfactual: length_gap.gender': 'pass' },
    ]);
    const fail = await run(...gate, '--comparator', '>');
    expect(fail.code).to.equal(1);
    expect(fail.junit.outcomes).to.include({ 'counterfactual: length_gap.gender': 'failure' });
    expect(fail.summary).to.include('### evenhand llm-eval: FAIL');
    const none = await run(...args);
    expect([none.code, none.summary]).to.deep.equal([0, 'An earlier line.']);
    expect(none.junit.outcomes).to.include({ 'counterfactual: length_gap.gender': 'skipped' });
  });

  it('monitor reports alarms as failures, and what it cannot decide as skipped', async () => {
    const hook = await startHook();
    const rows = (rate: number, count: number): string[] =>
      Array.from({ length: count }, (_, row) => `${row % 2 === 0 ? 'f' : 'm'},${String(Number((row >> 1) % 10 < (row % 2 === 0 ? 5 : rate)))}`); // prettier-ignore
    const write = (name: string, rate: number, count: number): void => {
      writeFileSync(pathOf(name), ['sex,approved', ...rows(rate, count)].join('\n'));
    };
    write('breach.csv', 9, 4000);
    write('fair.csv', 5, 4000);
    write('few.csv', 5, 40);
    const args = (csv: string): string[] => ['monitor', '--csv', csv, '--y-pred', 'approved', '--sensitive', 'sex', '--webhook', `${hook}/secret`]; // prettier-ignore
    const name = 'sex: no alarm: demographic_parity_difference <= 0.1';
    const breach = await run(...args('breach.csv'));
    expect([breach.code, breach.junit.outcomes]).to.deep.equal([1, { [name]: 'failure' }]);
    expect(breach.junit.output).not.to.include('secret');
    const fair = await run(...args('fair.csv'));
    expect([fair.code, fair.junit.outcomes]).to.deep.equal([0, { [name]: 'pass' }]);
    const few = await run(...args('few.csv'));
    expect([few.code, few.junit.outcomes]).to.deep.equal([0, { [name]: 'skipped' }]);
    writeFileSync(
      pathOf('missing.csv'),
      ['sex,approved', ...rows(5, 4000), ...Array.from({ length: 500 }, () => ',1')].join('\n'),
    );
    const partly = await run(...args('missing.csv'));
    expect([partly.code, partly.junit.outcomes]).to.deep.equal([0, { [name]: 'pass' }]);
    expect(partly.junit.output).to.include('500 of 4,500 events could not be used');
  });

  it('ab-test reports changes for the worse as failures', async () => {
    const args = (csv: string): string[] => ['ab-test', '--csv', csv, '--arm', 'arm', '--outcome', 'approved', '--sensitive', 'sex']; // prettier-ignore
    const worse = await run(...args('arms.csv'));
    expect([worse.code, Object.values(worse.junit.outcomes)]).to.deep.equal([1, ['failure']]);
    expect(Object.keys(worse.junit.outcomes)[0]).to.match(/^sex: demographic_parity_difference: selection_rate of [fm] and [fm] did not get worse$/); // prettier-ignore
    expect(worse.summary).to.include('### evenhand ab-test: FAIL');
    const same = await run(...args('same.csv'));
    expect([same.code, Object.values(same.junit.outcomes)]).to.deep.equal([0, ['pass']]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { parse } from 'yaml';

import { type ActionRun, readAction, runAction } from '../helpers/composite-action.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const REPORTS = ['groups.svg', 'junit.xml', 'report.html', 'report.json', 'report.md'];

const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as { version: string };

/** Names that are programs, options or several words, if a shell reads them. The first three are tried in each run. */
const HOSTILE = [
  '$(touch pwned)',
  `it's "quoted"`,
  '--help',
  'two words',
  '`touch pwned`',
  'x; touch pwned; #',
  '${HOME}',
  '-',
  'a=b',
  '*',
  '\\n',
  '${{ github.token }}',
];

/** Returns the files with a name in a folder. Links are not followed: one leads to the checkout with all its packages. */
function filesNamed(name: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? filesNamed(name, file) : entry.name === name ? [file] : [];
  });
}

describe('the GitHub Action', function () {
  this.timeout(120_000);
  const action = readAction(path.join(projectRoot, 'action.yml'));
  const folder = useTemporaryFolder();
  let workspace = '';

  before(() => {
    workspace = path.join(folder(), 'workspace');
    // A project that has evenhand among its packages.
    mkdirSync(path.join(workspace, 'node_modules'), { recursive: true });
    symlinkSync(projectRoot, path.join(workspace, 'node_modules/evenhand'), 'dir');
    writeDecisions('decisions.csv');
  });

  /** Runs the action with data in which 50 of 100 women and 80 of 100 men are selected. */
  function run(
    inputs: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ActionRun> {
    const runner = mkdtempSync(path.join(folder(), 'runner-'));
    const given = { data: 'decisions.csv', 'y-pred': 'selected', sensitive: 'sex', ...inputs };
    return runAction(action, { workspace, runner, inputs: given, env });
  }

  function writeDecisions(
    file: string,
    { decision = 'selected', group = 'sex', labels = ['women', 'men'] } = {},
  ): void {
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const rows = Array.from({ length: 200 }, (_, row) => {
      const isFirst = row % 2 === 0;
      return `${quoted(labels[isFirst ? 0 : 1] ?? '')},${String(Number(row < (isFirst ? 100 : 160)))}`;
    });
    writeFileSync(path.join(workspace, file), [`${quoted(group)},${quoted(decision)}`, ...rows, ''].join('\n'));
  }

  it('has no expression in a script, pinned actions, and the version of the package', () => {
    const scripts = action.runs.steps.flatMap((step) => (step.run === undefined ? [] : [step.run]));
    expect(scripts).to.have.length(3);
    for (const script of scripts) expect(script).not.to.include('${{');
    for (const step of action.runs.steps) {
      if (step.run !== undefined) expect(step.shell, step.name).to.equal('bash');
      if (step.uses !== undefined) expect(step.uses).to.match(/^actions\/[\w-]+@v\d+$/);
    }
    expect(action.inputs['version']?.default).to.equal(version);
    expect(action.runs.using).to.equal('composite');
  });

  it('uses every input', () => {
    const text = JSON.stringify(action.runs);
    for (const name of Object.keys(action.inputs)) expect(text, name).to.include(`inputs.${name}`);
  });

  it('passes, writes a summary with a plot, and keeps five reports', async () => {
    const { code, commands, summary, outputs, called } = await run({ metrics: 'demographic_parity_difference<=0.4' });
    expect(code).to.equal(0);
    expect(outputs['passed']).to.equal('true');
    expect(summary).to.match(/^\n?### evenhand validate: PASS\n\n1 of 1 gates passed\./);
    // 50% and 80% of an axis that ends at 90%, with 41 characters.
    expect(summary)
      .to.match(/^men {4}n = 100 {2}80\.0% {2} *├─*┼─*┤$/m)
      .and.match(/^women {2}n = 100 {2}50\.0% {2} *├─*┼─*┤$/m);
    expect(summary).not.to.match(/<svg|<img|data:|!\[/);
    expect(commands.map((command) => command.split('::')[1])).to.deep.equal(['stop-commands']);
    const report = outputs['report'] ?? '';
    expect(report).to.equal(path.join(workspace, 'evenhand-report'));
    expect(readdirSync(report).sort()).to.deep.equal(REPORTS);
    expect(called['Keep the reports']).to.include({ name: 'evenhand-report', path: report });
  });

  it('fails the job after the reports are kept if a gate fails', async () => {
    const { code, commands, summary, outputs, called } = await run({
      metrics: 'demographic_parity_difference<=0.4\ndemographic_parity_ratio>=0.8\n',
    });
    expect(code).to.equal(1);
    expect(outputs['passed']).to.equal('false');
    expect(summary).to.include('### evenhand validate: FAIL').and.include('1 of 2 gates passed.');
    expect(commands.at(-1)).to.match(/^::error title=evenhand::A fairness gate failed/);
    expect(called).to.have.property('Keep the reports');
  });

  it('fails if a metric is undefined', async () => {
    const { code, summary, outputs } = await run({
      metrics: 'demographic_parity_difference<=0.4',
      options: '--min-group-size=101',
    });
    expect([code, outputs['passed']]).to.deep.equal([1, 'false']);
    expect(summary).to.include('### evenhand validate: UNDEFINED');
  });

  it('fails with an error, and never silently, without data, a gate or a column', async () => {
    const cases: Record<string, string>[] = [
      { data: 'absent.csv', metrics: 'demographic_parity_difference<=0.4' },
      {},
      { 'y-pred': 'absent', metrics: 'demographic_parity_difference<=0.4' },
      { gates: 'absent.yml' },
      { metrics: 'demographic_parity_difference<=0.4', options: 'extra' },
    ];
    for (const inputs of cases) {
      const { code, commands, summary, outputs } = await run(inputs);
      expect([code, outputs['passed']], JSON.stringify(inputs)).to.deep.equal([2, 'false']);
      expect(summary).to.include('### evenhand: ERROR').and.include('exit code 2');
      expect(commands.at(-1)).to.match(/^::error title=evenhand::The gates were not checked \(exit code 2\)/);
    }
  });

  it('checks a file of gates in another folder, and uploads nothing without a name', async () => {
    const inner = path.join(workspace, 'inner folder');
    mkdirSync(path.join(inner, 'node_modules'), { recursive: true });
    symlinkSync(projectRoot, path.join(inner, 'node_modules/evenhand'), 'dir');
    writeFileSync(path.join(inner, 'gates.yml'), '- metric: demographic_parity_difference\n  threshold: 0.4\n');
    const inputs = { data: '../decisions.csv', 'working-directory': 'inner folder', gates: 'gates.yml', artifact: '', report: 'my reports' }; // prettier-ignore
    const { code, outputs, called } = await run(inputs);
    expect(code).to.equal(0);
    expect(outputs['report']).to.equal(path.join(inner, 'my reports'));
    expect(called).to.deep.equal({});
  });

  describe('with names that a shell would read as something else', () => {
    for (const [index, name] of HOSTILE.entries()) {
      it(`takes ${JSON.stringify(name)} as the name of columns, and of a folder${index < 3 ? '' : ' @slow'}`, async () => {
        writeDecisions('hostile.csv', { decision: `d${name}`, group: name });
        const { code, log, outputs, called } = await run({
          data: 'hostile.csv',
          'y-pred': `d${name}`,
          sensitive: name,
          metrics: 'demographic_parity_difference<=0.4',
          report: `reports/${name}`,
          artifact: name,
        });
        expect(code, log).to.equal(0);
        const { attributes } = JSON.parse(readFileSync(path.join(outputs['report'] ?? '', 'report.json'), 'utf8')) as {
          attributes: Record<string, { metrics: Record<string, { value: number }> }>;
        };
        expect(Object.keys(attributes)).to.deep.equal([name]);
        expect(attributes[name]?.metrics['demographic_parity_difference']?.value).to.be.closeTo(0.3, 1e-12);
        expect(called['Keep the reports']).to.include({ name });
        expect(filesNamed('pwned', folder())).to.deep.equal([]);
      });
    }

    it('takes a file whose name is a program', async () => {
      writeDecisions('$(touch pwned) [1].csv');
      const { code, log } = await run({
        data: '$(touch pwned) [1].csv',
        metrics: 'demographic_parity_difference<=0.4',
      });
      expect(code, log).to.equal(0);
    });

    it('obeys no command for the runner in the data', async () => {
      const labels = ['::add-mask::a', '::error title=x::y\n::set-output name=passed::true'];
      writeDecisions('commands.csv', { labels });
      const { code, log, commands, outputs } = await run({
        data: 'commands.csv',
        metrics: 'demographic_parity_difference<=0.1',
      });
      expect(code).to.equal(1);
      expect(log.split('\n').filter((line) => line.trim().startsWith('::add-mask'))).not.to.deep.equal([]);
      expect(commands.map((command) => command.split('::')[1])).to.deep.equal([
        'stop-commands',
        'error title=evenhand',
      ]);
      expect(outputs['passed']).to.equal('false');
    });

    it('rejects a folder with a line break, which could set an output', async () => {
      const { code, commands, outputs } = await run({
        metrics: 'demographic_parity_difference<=0.1',
        report: 'reports\npassed=true',
      });
      expect(code).to.equal(1);
      expect(commands[0]).to.include('The input "report" must be');
      expect(outputs['passed']).to.equal('');
    });
  });

  describe('without evenhand in the project', () => {
    /** Runs the action in an empty project, with a program in place of another one. */
    async function runWith(
      program: string,
      script: string,
      inputs: Readonly<Record<string, string>>,
    ): Promise<ActionRun> {
      const empty = mkdtempSync(path.join(folder(), 'empty-'));
      const bin = mkdtempSync(path.join(folder(), 'bin-'));
      writeFileSync(path.join(bin, program), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
      const data = path.join(workspace, 'decisions.csv');
      const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, ROOT: projectRoot };
      const given = { data, 'y-pred': 'selected', sensitive: 'sex', metrics: 'demographic_parity_difference<=0.4', ...inputs }; // prettier-ignore
      const runner = mkdtempSync(path.join(folder(), 'runner-'));
      return runAction(action, { workspace: empty, runner, inputs: given, env });
    }

    /** Stands for npm: writes its arguments, one per line, and links the package of this checkout. */
    const NPM = 'printf "%s\\n" "$@" >"$RUNNER_TEMP/arguments"; cat "$RUNNER_TEMP/arguments"; mkdir -p "$3/node_modules"; ln -s "$ROOT" "$3/node_modules/evenhand"'; // prettier-ignore

    it('installs its own version, without install scripts, outside the workspace', async () => {
      const { code, log, outputs } = await runWith('npm', NPM, {});
      expect(code, log).to.equal(0);
      expect(log).to.include(`\n--ignore-scripts\n`).and.include(`\nevenhand@${version}\n`);
      expect(outputs['passed']).to.equal('true');
    });

    it('takes a version as one argument, whatever it contains', async () => {
      const { log } = await runWith('npm', NPM, { version: '1.0.0; touch pwned $(touch pwned)' });
      expect(log).to.include('\nevenhand@1.0.0; touch pwned $(touch pwned)\n');
      expect(filesNamed('pwned', folder())).to.deep.equal([]);
    });

    it('fails if the installation fails', async () => {
      const { code, outputs } = await runWith('npm', 'exit 7', {});
      expect(code).to.equal(7);
      expect(outputs['passed']).to.equal('');
    });

    it('says which Node it needs if there is an older one', async () => {
      const script = `[ "$1" = -e ] && exec '${process.execPath}' -e "Object.defineProperty(process.versions, 'node', { value: '20.18.1' }); $2"`;
      const { code, commands } = await runWith('node', script, {});
      expect(code).to.equal(1);
      expect(commands).to.deep.equal([
        '::error title=evenhand::evenhand needs Node 20.19 or later. Add a step with actions/setup-node before this one.',
      ]);
    });

    it('works with the package as npm packs and installs it @slow', async function () {
      // A registry can be slow.
      this.timeout(600_000);
      const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder()], { cwd: projectRoot, encoding: 'utf8', timeout: 120_000, stdio: ['ignore', 'pipe', 'ignore'] }); // prettier-ignore
      const [file = ''] = Object.values(JSON.parse(packed) as Record<string, { readonly filename: string }>).map(
        ({ filename }) => filename,
      );
      const home = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim();
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^npm_config_/i.test(name)));
      const runner = mkdtempSync(path.join(folder(), 'runner-'));
      const empty = mkdtempSync(path.join(folder(), 'empty-'));
      const { code, log, summary } = await runAction(action, {
        workspace: empty,
        runner,
        inputs: {
          data: path.join(workspace, 'decisions.csv'),
          'y-pred': 'selected',
          sensitive: 'sex',
          metrics: 'demographic_parity_difference<=0.1',
          version: `file:${path.join(folder(), file)}`,
        },
        env: { ...(env as Record<string, string>), NPM_CONFIG_USERCONFIG: home },
      });
      expect(code, log).to.equal(1);
      expect(summary).to.include('### evenhand validate: FAIL');
    });
  });

  it('runs the workflow of the example', async () => {
    const file = path.join(projectRoot, 'examples/ci-gate/fairness.yml');
    const { jobs } = parse(readFileSync(file, 'utf8')) as {
      jobs: { gate: { steps: { run?: string; with?: Record<string, string> }[] } };
    };
    const [command = ''] = jobs.gate.steps.flatMap(({ run: script }) => (script === undefined ? [] : [script]));
    const [, args = ''] = /^npx --yes evenhand@\S+ (.*)$/.exec(command) ?? [];
    const project = path.join(workspace, 'project');
    mkdirSync(path.join(project, 'node_modules'), { recursive: true });
    symlinkSync(projectRoot, path.join(project, 'node_modules/evenhand'), 'dir');
    expect((await runCli(args.split(' '), { cwd: project })).code).to.equal(0);
    writeFileSync(path.join(project, 'gates.yml'), readFileSync(path.join(path.dirname(file), 'gates.yml')));
    const { code, log, summary } = await run({ ...jobs.gate.steps.at(-1)?.with, 'working-directory': 'project' });
    expect(code, log).to.equal(0);
    expect(summary)
      .to.include('2 of 2 gates passed.')
      .and.match(/^female {2}n = 1,835 {2}30\.4% {2} *├─*┼─*┤$/m);
  });
});

import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect } from 'chai';
import type Koa from 'koa';
import { parse } from 'yaml';

import { endServices, startService } from '../api/serve/service-process.ts';
import { codeBlocks } from '../helpers/code-blocks.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { askApp } from '../helpers/service.ts';

const PYTHON = process.env['EVENHAND_PYTHON'] ?? 'python3';

const FOLDERS = [
  'ci-gate',
  'koa-monitoring',
  'llm-replay',
  'python-client',
  'scikit-learn',
  'tfjs-training-loop',
] as const;

type Example = (typeof FOLDERS)[number];

interface Ran {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the selection rate of a group in a CSV file. */
function selectionRate(csv: string, { group, decision }: { group: [string, string]; decision: string }): number {
  const [header = '', ...lines] = csv.trim().split(/\r?\n/);
  const names = header.split(',');
  const rows = lines.map((line) => Object.fromEntries(line.split(',').map((value, at) => [names[at] ?? '', value])));
  const own = rows.filter((row) => row[group[0]] === group[1]);
  return own.filter((row) => row[decision] === '1').length / own.length;
}

describe('the examples', function () {
  this.timeout(120_000);
  const folder = useTemporaryFolder();
  const pathOf = (...names: string[]): string => path.join(folder(), ...names);
  after(endServices);

  before(() => {
    // A project in which the package is installed, and what the examples say to install beside it.
    const packages = { evenhand: '.', koa: 'node_modules/koa', '@tensorflow/tfjs': 'node_modules/@tensorflow/tfjs' };
    for (const [name, from] of Object.entries(packages)) {
      mkdirSync(path.dirname(pathOf('node_modules', name)), { recursive: true });
      symlinkSync(path.join(projectRoot, from), pathOf('node_modules', name), 'dir');
    }
    mkdirSync(pathOf('node_modules/.bin'));
    symlinkSync(path.join(projectRoot, 'dist/cli/main.js'), pathOf('node_modules/.bin/evenhand'));
    mkdirSync(pathOf('bin'));
    if (PYTHON !== 'python3') {
      writeFileSync(
        pathOf('bin/python3'),
        `#!/bin/sh\nexec '${PYTHON.includes('/') ? path.resolve(PYTHON) : PYTHON}' "$@"\n`,
        { mode: 0o755 },
      );
    }
    writeFileSync(pathOf('package.json'), '{ "private": true }\n');
    for (const name of FOLDERS) cpSync(path.join(projectRoot, 'examples', name), pathOf(name), { recursive: true });
  });

  /** Runs the commands of the README of an example, and checks that they end as it says. */
  async function runReadme(name: Example, env: NodeJS.ProcessEnv = {}, omitted?: RegExp): Promise<Ran> {
    const blocks = codeBlocks(readFileSync(pathOf(name, 'README.md'), 'utf8')).filter(
      ({ language }) => language === 'sh',
    );
    expect(blocks, name).to.have.length(1);
    const code = blocks[0]?.code ?? '';
    const script = code
      .split('\n')
      .filter((line) => omitted?.test(line) !== true)
      .join('\n');
    const ran = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: pathOf(name), env });
    expect(ran.code, ran.stderr).to.equal(Number(/^# exits with (\d)/m.exec(code)?.[1] ?? 0));
    return ran;
  }

  function run(file: string, args: readonly string[], at: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<Ran> {
    const { EVENHAND_TF_BACKEND: _, ...inherited } = process.env;
    const env = { ...inherited, PATH: `${pathOf('bin')}:${process.env['PATH'] ?? ''}`, ...at.env };
    return new Promise((resolve) => {
      execFile(file, args, { cwd: at.cwd, env, timeout: 100_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? null), stdout, stderr });
      });
    });
  }

  it('are the folders that their list names, each with a short README', () => {
    const root = path.join(projectRoot, 'examples');
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name)).to.have.members([...FOLDERS]);
    const list = readFileSync(path.join(root, 'README.md'), 'utf8');
    for (const name of FOLDERS) {
      expect(list).to.include(`[${name}](${name}/README.md)`);
      const lines = readFileSync(path.join(root, name, 'README.md'), 'utf8').split('\n');
      expect(lines.length, name).to.be.within(5, 40);
    }
  });

  describe('scikit-learn', () => {
    const COLUMNS = 'gender,wage_above_median,predicted,score';
    const read = (): string => readFileSync(pathOf('scikit-learn/predictions.csv'), 'utf8');

    function expectVerdict({ stdout }: Ran): void {
      const rate = (gender: string): number =>
        selectionRate(read(), { group: ['gender', gender], decision: 'predicted' });
      const gap = Math.abs(rate('male') - rate('female'));
      expect(gap).to.be.above(0.1);
      expect(stdout).to.include(`demographic_parity_difference ${gap.toFixed(4)} > 0.1`);
    }

    it('gives the committed predictions the verdict of its README', async () => {
      expect(read().split('\n')[0]).to.equal(COLUMNS);
      expectVerdict(await runReadme('scikit-learn', {}, /^python3 /));
      expect(existsSync(pathOf('scikit-learn/report.html'))).to.equal(true);
    });

    it('trains a model, and writes predictions such as the committed ones', async function () {
      const { status, stderr } = spawnSync(PYTHON, ['-c', 'import pandas, sklearn'], { timeout: 60_000 });
      if (status !== 0) {
        const reason = `'${PYTHON}' (EVENHAND_PYTHON) has no scikit-learn: ${stderr.toString().trim().split('\n').at(-1) ?? ''}`;
        if (process.env['EVENHAND_REQUIRE_SCIKIT'] === '1') throw new Error(reason);
        console.log(`      The committed predictions stand, because ${reason}`);
        this.skip();
      }
      const committed = read().trim().split(/\r?\n/);
      rmSync(pathOf('scikit-learn/predictions.csv'));
      expectVerdict(await runReadme('scikit-learn'));
      const written = read().trim().split(/\r?\n/);
      expect(written).to.have.length(committed.length);
      // Other versions of scikit-learn may round a score at the threshold to the other side.
      const decisionOf = (line: string): string => line.split(',').slice(0, 3).join();
      const same = written.filter((line, at) => decisionOf(line) === decisionOf(committed[at] ?? '')).length;
      expect(same / committed.length).to.be.above(0.97);
    });
  });

  describe('ci-gate', () => {
    it('passes its gates', async () => {
      const { stdout } = await runReadme('ci-gate');
      expect(stdout).to.match(/^PASS$/m);
      const csv = readFileSync(pathOf('ci-gate/decisions.csv'), 'utf8');
      const rate = (gender: string): number => selectionRate(csv, { group: ['gender', gender], decision: 'admitted' });
      expect(stdout).to.include((rate('male') - rate('female')).toFixed(4));
      expect(stdout).to.include((rate('female') / rate('male')).toFixed(4));
    });

    it('names in its workflow only inputs of the action, and what they need', () => {
      const workflow = parse(readFileSync(pathOf('ci-gate/fairness.yml'), 'utf8')) as {
        jobs: { gate: { steps: { uses?: string; run?: string; with?: Record<string, string> }[] } };
      };
      const action = parse(readFileSync(path.join(projectRoot, 'action.yml'), 'utf8')) as {
        inputs: Record<string, { required?: boolean }>;
      };
      const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
        version: string;
      };
      const { steps } = workflow.jobs.gate;
      const step = steps.at(-1);
      expect(step?.uses).to.equal(`OWNER/evenhand@v${version}`);
      expect(Object.keys(action.inputs)).to.include.members(Object.keys(step?.with ?? {}));
      const required = Object.entries(action.inputs).filter(([, { required: needed }]) => needed === true);
      expect(step?.with).to.include.keys(required.map(([name]) => name));
      expect(step?.with?.['gates']).to.equal('gates.yml');
      expect(steps.find(({ run: command }) => command !== undefined)?.run).to.include(
        `evenhand@${version} sample-data`,
      );
    });
  });

  it('tfjs-training-loop: the penalty lowers the gap, and costs accuracy', async () => {
    const { stdout } = await runReadme('tfjs-training-loop');
    const lines = [...stdout.matchAll(/^eta (\d+): accuracy (0\.\d\d), gap (0\.\d\d) \(95% interval/gm)];
    const [without, penalised] = lines.map((line) => line.slice(1).map(Number));
    expect([without?.[0], penalised?.[0]]).to.deep.equal([0, 20]);
    expect(without?.[1]).to.be.within(0.65, 0.8);
    expect(penalised?.[1]).to.be.within(0.6, without?.[1] ?? 0);
    expect(penalised?.[2]).to.be.below(0.5 * (without?.[2] ?? 0));
  });

  describe('koa-monitoring', () => {
    /** Loads a new app, with a tracker of its own. */
    async function loadApp(query: string): Promise<Koa> {
      const url = `${pathToFileURL(pathOf('koa-monitoring/app.mjs')).href}?${query}`;
      return ((await import(url)) as { readonly app: Koa }).app;
    }

    async function alertsAfter(app: Koa, incomeOf: (event: number) => { sex: string; income: number }) {
      for (let event = 0; event < 1500; event++) {
        const { income, sex } = incomeOf(event);
        const answer = await askApp(app, { method: 'POST', url: '/decisions', payload: { sex, income } });
        expect(answer.json()).to.deep.equal({ approved: income >= 30_000 });
      }
      return (await askApp(app, { method: 'GET', url: '/fairness/alerts' })).json<{ groups: string[] }[]>();
    }

    it('raises an alarm if women are approved less often, and shows it', async () => {
      const app = await loadApp('biased');
      const alerts = await alertsAfter(app, (event) => ({
        sex: event % 2 === 0 ? 'female' : 'male',
        income: (event % 10 < 4 ? 40_000 : 20_000) + (event % 2 === 0 ? 0 : 10_000),
      }));
      expect(alerts.map(({ groups }) => groups)).to.deep.equal([['male', 'female']]);
      const page = await askApp(app, { method: 'GET', url: '/fairness' });
      expect(page.headers['content-type']).to.match(/^text\/html/);
      expect(page.payload).to.match(/metric is in breach/i);
    });

    it('raises none if the rates are equal', async () => {
      const app = await loadApp('fair');
      const alerts = await alertsAfter(app, (event) => ({
        sex: event % 2 === 0 ? 'female' : 'male',
        income: event % 10 < 4 ? 40_000 : 20_000,
      }));
      expect(alerts).to.deep.equal([]);
    });
  });

  describe('llm-replay', () => {
    it('gives the same verdict without a request', async () => {
      const { stdout } = await runReadme('llm-replay');
      expect(stdout)
        .to.match(/^PASS at threshold 0\.1/)
        .and.include('0 answered, 48 already known');
    });

    it('never passes if an answer is missing', async () => {
      const answers = readFileSync(pathOf('llm-replay/answers.ndjson'), 'utf8').trimEnd().split('\n');
      writeFileSync(pathOf('llm-replay/fewer.ndjson'), `${answers.slice(1).join('\n')}\n`);
      const args = ['--config', 'llm-eval.yml', '--replay', 'fewer.ndjson', '--metric', 'sentiment_gap', '--threshold', '0.1']; // prettier-ignore
      const { code } = await run('npx', ['evenhand', 'llm-eval', ...args], { cwd: pathOf('llm-replay') });
      expect(code).to.equal(2);
    });
  });

  describe('python-client', () => {
    const KEY = 'a-key-for-the-example-0123';

    it('prints the verdict of the service, and the reason if there is none', async () => {
      const { url } = await startService([], { EVENHAND_API_KEYS: KEY });
      const { stdout } = await runReadme('python-client', { EVENHAND_URL: url, EVENHAND_KEY: KEY });
      const csv = readFileSync(pathOf('python-client/predictions.csv'), 'utf8');
      const [female, male] = ['female', 'male'].map((gender) =>
        selectionRate(csv, { group: ['gender', gender], decision: 'predicted' }),
      ) as [number, number];
      expect(stdout).to.include(`female: ${(100 * female).toFixed(1)}% of 122`);
      expect(stdout)
        .to.include(`gap ${(male - female).toFixed(4)}, 95% interval 0.`)
        .and.to.match(/passed\n$/);

      const cwd = pathOf('python-client');
      const wrongKey = await run('python3', ['client.py', 'predictions.csv'], { cwd, env: { EVENHAND_URL: url } });
      expect(wrongKey.code).to.equal(1);
      expect(wrongKey.stderr).to.match(/^401 [\w-]+: The request contains no key\./);

      writeFileSync(pathOf('python-client/wrong.csv'), 'gender,wage_above_median,predicted\nmale,1,7\nfemale,0,1\n');
      const env = { EVENHAND_URL: url, EVENHAND_KEY: KEY };
      const invalid = await run('python3', ['client.py', 'wrong.csv'], { cwd, env });
      expect(invalid.code).to.equal(1);
      expect(invalid.stderr).to.match(/^422 [\w-]+: /);
      expect(invalid.stderr).not.to.include('Traceback');
    });

    it('reports a service that does not answer', async () => {
      const env = { EVENHAND_URL: 'http://127.0.0.1:9' };
      const { code, stderr } = await run('python3', ['client.py', 'predictions.csv'], { cwd: pathOf('python-client'), env }); // prettier-ignore
      expect(code).to.equal(1);
      expect(stderr).to.match(/^http:\/\/127\.0\.0\.1:9 does not answer: /);
    });
  });
});

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';
import { softwareGpuEnv } from '../helpers/software-gpu.ts';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

/** The time limit of a process on a software GPU, which starts in seconds and compiles each kernel once. */
const LIMIT_MILLIS = 120_000;

/** The time from the start of Dawn until training is running. */
const TRAINING_MILLIS = 3000;

const QUICK = ['--hidden', '8', '--epochs', '3', '--batch-size', '128', '--seed', '5'];
const SOURCE = ['--target', 'hired', '--positive-label', 'yes', '--sensitive', 'sex'];

/** Rows of two groups, as a CSV file. */
function csvRows(n: number): string {
  const random = createRandom(12);
  const lines = Array.from({ length: n }, () => {
    const sex = random.next() < 0.5 ? 'f' : 'm';
    const skill = random.normal() + (sex === 'm' ? 0.7 : 0);
    const town = random.next() < (sex === 'm' ? 0.7 : 0.3) ? 'north' : 'south';
    const hired = random.next() < 1 / (1 + Math.exp(-2 * skill)) ? 'yes' : 'no';
    return [sex, skill.toFixed(4), town, hired].join(',');
  });
  return ['sex,skill,town,hired', ...lines, ''].join('\n');
}

/** The decisions in a CSV file, one per row. */
function decisionsIn(file: string): string[] {
  const [header = '', ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const index = header.split(',').indexOf('prediction');
  expect(index, header).to.be.at.least(0);
  return lines.map((line) => line.split(',')[index] ?? '');
}

/** Returns whether a process has loaded the software driver, so that Dawn has started. */
function hasDriver(pid: number | undefined): boolean {
  const maps = `/proc/${String(pid)}/maps`;
  return existsSync(maps) && /swiftshader|lvp/.test(readFileSync(maps, 'utf8'));
}

interface Interrupted {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  /** The time from the interrupt to the end. */
  readonly millis: number;
}

/** Runs the command line, and interrupts it some time after Dawn has started. */
function interrupt(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Interrupted> {
  return new Promise((resolve) => {
    const { EVENHAND_LOG_LEVEL: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [CLI, ...args], { env: { ...inherited, ...env }, timeout: LIMIT_MILLIS });
    let stderr = '';
    let interrupted = NaN;
    child.stdout.resume();
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const watch = setInterval(() => {
      if (!hasDriver(child.pid)) return;
      clearInterval(watch);
      setTimeout(() => {
        interrupted = performance.now();
        child.kill('SIGINT');
      }, TRAINING_MILLIS);
    }, 100);
    child.on('close', (code, signal) => {
      clearInterval(watch);
      resolve({ code, signal, stderr, millis: performance.now() - interrupted });
    });
  });
}

/** Returns the unexpected lines of stderr, from Dawn, TensorFlow.js or an error: not about files or progress. */
function strange(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !/^Wrote |^Interrupted|^[a-z ]+: \d+ of \d+ /.test(line));
}

describe('the command line on a software GPU @slow', function () {
  this.timeout(LIMIT_MILLIS);
  const folder = useTemporaryFolder();
  const found = softwareGpuEnv();
  const env = { ...found } as Record<string, string>;
  const file = (name: string): string => path.join(folder(), name);
  before(function () {
    if (found === null && process.env['EVENHAND_REQUIRE_SOFTWARE_GPU'] !== '1') {
      console.log('      needs a software GPU: a driver and the Vulkan loader; install chromium and libvulkan1');
      this.skip();
    }
    expect(found).not.to.equal(null);
    writeFileSync(file('rows.csv'), csvRows(400));
  });

  /** Returns the decisions of a saved model in a separate process. */
  const decide = async (model: string, backend: string, more: readonly string[] = []): Promise<string[]> => {
    const out = file(`${backend}.csv`);
    const args = ['predict', '--model', model, '--csv', file('rows.csv'), '--out-csv', out, '--backend', backend, ...more]; // prettier-ignore
    const { code, stderr } = await runCli(args, { env });
    expect({ code, strange: strange(stderr) }).to.deep.equal({ code: 0, strange: [] });
    return decisionsIn(out);
  };

  for (const [command, method, options, chosen] of [
    ['train-regularized', 'a sweep', ['--etas', '0,2', '--lr', '0.02'], ['--eta', '2']],
    ['train-lagrangian', 'a constrained network', ['--model-lr', '0.02', '--dp-tol', '0.1'], []],
  ] as const) {
    it(`${command} trains ${method}, exits without unexpected output; a process on wasm makes the same decisions`, async () => {
      const model = file(command);
      const args = [command, '--csv', file('rows.csv'), ...SOURCE, ...QUICK, ...options, '--backend', 'webgpu'];
      const { code, stdout, stderr } = await runCli([...args, '--json', '--save-model', model], { env });
      expect({ code, strange: strange(stderr) }).to.deep.equal({ code: 0, strange: [] });
      expect((JSON.parse(stdout) as { backend: string }).backend).to.equal('webgpu');
      const there = await decide(model, 'webgpu', chosen);
      const here = await decide(model, 'wasm', chosen);
      expect(here).to.deep.equal(there);
      expect([...new Set(here)]).to.have.length(2);
    });
  }

  it('an interrupt during training ends it cleanly, with exit code 130 and no model', async () => {
    const model = file('interrupted');
    const args = ['train-regularized', '--csv', file('rows.csv'), ...SOURCE, '--backend', 'webgpu', '--save-model', model]; // prettier-ignore
    const { code, signal, stderr, millis } = await interrupt(
      [...args, '--epochs', '100000', '--patience', '100000'],
      env,
    );
    expect({ code, signal, strange: strange(stderr) }).to.deep.equal({ code: 130, signal: null, strange: [] });
    // All epochs would take hours.
    expect(millis).to.be.below(60_000);
    expect(existsSync(model)).to.equal(false);
  });

  it('auto prefers wasm', async () => {
    const args = ['train-regularized', '--csv', file('rows.csv'), ...SOURCE, ...QUICK, '--backend', 'auto', '--json'];
    const { code, stdout, stderr } = await runCli(args, { env });
    expect({ code, strange: strange(stderr) }).to.deep.equal({ code: 0, strange: [] });
    expect((JSON.parse(stdout) as { backend: string }).backend).to.equal('wasm');
  });
});

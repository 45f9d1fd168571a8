import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { describeInterrupt, finishBar, progressBar } from '../../src/cli/progress-bar.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** Returns a stream that records its text, and a clock that the test sets. */
function output(isTTY: boolean) {
  const state = { text: '', millis: 0 };
  const stream = { isTTY, write: (text: string) => (state.text += text) };
  return { state, output: { stream, now: () => state.millis, lineSeconds: 10 } };
}

const event = (done: number, total = 20) => ({ stage: 'training', done, total });

describe('progress', () => {
  it('is at most one line every 10 seconds without a terminal, and none at the end', () => {
    const { state, output: to } = output(false);
    const show = progressBar({}, to);
    for (const [millis, done] of [
      [0, 1],
      [9_999, 5],
      [10_000, 6],
      [19_999, 7],
      [31_000, 15],
      [60_000, 20],
    ] as const) {
      // prettier-ignore
      state.millis = millis;
      show(event(done));
    }
    expect(state.text).to.equal('training: 6 of 20 (30%), 10 s\ntraining: 15 of 20 (75%), 31 s\n');
  });

  it('is a bar on a terminal, whose line ends on an interrupt', () => {
    const { state, output: to } = output(true);
    const show = progressBar({}, to);
    show(event(10));
    expect(state.text).to.equal(`\r\x1b[2K${'█'.repeat(15)}${'░'.repeat(15)}  50%  training`);
    finishBar();
    expect(state.text.endsWith('training\n')).to.equal(true);
    show(event(20));
    const before = state.text;
    finishBar();
    expect(state.text).to.equal(before);
  });

  it('shows nothing with --quiet, but an interrupt still reports where it stopped', () => {
    for (const isTTY of [true, false]) {
      const { state, output: to } = output(isTTY);
      state.millis = 60_000;
      progressBar({ quiet: true }, { ...to, lineSeconds: 0 })(event(3));
      finishBar();
      expect(state.text).to.equal('');
      expect(describeInterrupt([])).to.equal('Interrupted at 3 of 20 (training). Nothing was written.');
      progressBar({ quiet: true }, to)(event(20));
    }
  });

  it('lists the complete outputs on an interrupt', () => {
    expect(describeInterrupt(['out/a.json', 'model'])).to.equal('Interrupted. Complete and kept: out/a.json, model.');
  });
});

describe('evenhand on Ctrl-C', () => {
  const folder = useTemporaryFolder();
  const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');

  it('prints where a training stopped and that nothing was written, and exits with 130', async function () {
    this.timeout(120_000);
    const csv = path.join(folder(), 'wages.csv');
    await runCli(['sample-data', 'cps-wages', '--out', csv]);
    const saved = path.join(folder(), 'model');
    const child = spawn(
      process.execPath,
      [cli, 'train-lagrangian', '--csv', csv, '--target', 'wage_above_median', '--sensitive', 'gender', '--epochs', '1000000', '--save-model', saved], // prettier-ignore
      { env: { ...process.env, EVENHAND_TF_BACKEND: 'wasm', EVENHAND_PROGRESS_SECONDS: '0' }, timeout: 100_000 },
    );
    let stderr = '';
    const ended = once(child, 'close');
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
        if (/: \d+ of \d+ \(\d+%\), \d+ s\n/.test(stderr)) resolve();
      });
      child.once('close', () => {
        resolve();
      });
    });
    child.kill('SIGINT');
    expect(await ended, stderr).to.deep.equal([130, null]);
    expect(stderr.trimEnd().split('\n').at(-1)).to.match(
      /^Interrupted at \d+ of \d+ \(training without the constraint\)\. Nothing was written\.$/,
    );
    expect(existsSync(saved)).to.equal(false);
  });
});

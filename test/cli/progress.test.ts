import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { clearTransientLine, remark, warn } from '../../src/cli/output.ts';
import { describeInterrupt, progressBar, runningLine, waitForAnswer } from '../../src/cli/progress-bar.ts';
import { writeTable } from '../../src/io/index.ts';
import { Table } from '../../src/table/index.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

/** Returns a stream that records its text, and a clock that the test sets. */
function output(isTTY: boolean, columns = 80) {
  const state = { text: '', millis: 0 };
  const stream = { isTTY, columns, write: (text: string) => (state.text += text) };
  return { state, output: { stream, now: () => state.millis, lineSeconds: 10 } };
}

const event = (done: number, total = 20, stage = 'training') => ({ stage, done, total });

/** Returns what a terminal shows on its line after the last return. */
const lastLine = (text: string): string => text.split('\r\x1b[2K').at(-1) ?? '';

describe('progress', () => {
  afterEach(() => {
    progressBar({ quiet: true })(event(20));
    clearTransientLine();
  });

  it('is at most one line every 10 seconds without a terminal, with rate and time left, and none at the end', () => {
    const { state, output: to } = output(false);
    const show = progressBar({}, to);
    for (const [millis, done] of [
      [0, 1],
      [9_999, 5],
      [10_000, 6],
      [19_999, 7],
      [30_000, 15],
      [60_000, 20],
    ] as const) {
      state.millis = millis;
      show(event(done));
    }
    // 6 in 10 s are 0.6 per second, and the other 14 take 23 s; 15 in 30 s leave 10 s.
    expect(state.text).to.equal(
      'training: 6 of 20 (30%), 10 s, 0.6/s, 23 s left\ntraining: 15 of 20 (75%), 30 s, 0.5/s, 10 s left\n',
    );
  });

  it('is a bar on a terminal with rate and time left, which is cleared at the end', () => {
    const { state, output: to } = output(true);
    const show = progressBar({}, to);
    state.millis = 5000;
    show(event(10));
    expect(lastLine(state.text)).to.equal(`${'█'.repeat(15)}${'░'.repeat(15)}  50%  training 10/20 · 2/s · 5 s left`);
    show(event(20));
    expect(lastLine(state.text)).to.equal('');
    expect(state.text).not.to.include('\n');
  });

  it('fits the width of the terminal', () => {
    for (const columns of [10, 20, 30, 40, 60, 80, 200]) {
      const { state, output: to } = output(true, columns);
      const show = progressBar({}, to);
      state.millis = 3_600_000;
      show(event(1_234, 100_000, 'training without the constraint'));
      const line = lastLine(state.text);
      expect(line.length).to.be.within(Math.min(columns - 3, 60), columns - 3);
      if (columns >= 60) expect(line).to.match(/ 1234\/100000 · 0\.34\/s · 80\.0 h left$/);
    }
  });

  it('draws at most ten times a second', () => {
    const { state, output: to } = output(true);
    const show = progressBar({}, to);
    for (let done = 1; done <= 1000; done++) {
      state.millis = done;
      show(event(done, 2000));
    }
    expect(state.text.split('\r').length - 1).to.be.within(9, 11);
  });

  it('computes the rate of each stage separately', () => {
    const { state, output: to } = output(true);
    const show = progressBar({}, to);
    state.millis = 100_000;
    show(event(10, 20, 'fold 1'));
    show(event(0, 20, 'fold 2'));
    state.millis = 102_000;
    show(event(8, 20, 'fold 2'));
    expect(lastLine(state.text)).to.match(/ fold 2 8\/20 · 4\/s · 3 s left$/);
  });

  it('shows no rate that is not known yet, and long times in minutes and hours', () => {
    const { state, output: to } = output(true);
    const show = progressBar({}, to);
    show(event(1));
    expect(lastLine(state.text)).to.match(/ training 1\/20$/);
    state.millis = 60_000;
    show(event(2));
    expect(lastLine(state.text)).to.match(/ training 2\/20 · 0\.033\/s · 9 min left$/);
    state.millis = 3_600_000;
    show(event(3));
    expect(lastLine(state.text)).to.match(/ · 5\.7 h left$/);
  });

  it('is cleared before any other output', () => {
    for (const write of [() => { warn('w'); }, () => { remark('r', {}); }, clearTransientLine]) {
      const { state, output: to } = output(true);
      progressBar({}, to)(event(10));
      expect(lastLine(state.text)).not.to.equal('');
      write();
      expect(lastLine(state.text)).to.equal('');
    }
  }); // prettier-ignore

  it('shows nothing with --quiet, but an interrupt still reports where it stopped', () => {
    for (const isTTY of [true, false]) {
      const { state, output: to } = output(isTTY);
      state.millis = 60_000;
      progressBar({ quiet: true }, { ...to, lineSeconds: 0 })(event(3));
      expect(state.text).to.equal('');
      expect(describeInterrupt([])).to.equal('Interrupted, nothing was written. It was at 3 of 20 (training).');
      progressBar({ quiet: true }, to)(event(20));
    }
  });

  it('says on an interrupt that nothing was written, or which outputs are complete', () => {
    expect(describeInterrupt([])).to.equal('Interrupted, nothing was written.');
    expect(describeInterrupt(['out/a.json', 'model'])).to.equal('Interrupted. Complete and kept: out/a.json, model.');
  });
});

describe('a command without progress', () => {
  it('says that it is running every 10 seconds, if the work leaves time for it', () => {
    for (const isTTY of [false, true]) {
      const { state, output: to } = output(isTTY);
      const tick = runningLine({}, to);
      state.millis = 9_999;
      tick();
      expect(state.text).to.equal('');
      state.millis = 10_000;
      tick();
      expect(state.text).to.equal(isTTY ? '\r\x1b[2KRunning · 10 s' : 'Running, 10 s\n');
      state.millis = 21_000;
      tick();
      expect(state.text).to.equal(isTTY ? '\r\x1b[2KRunning · 10 s\r\x1b[2KRunning · 21 s' : 'Running, 10 s\nRunning, 21 s\n');
      clearTransientLine();
    }
  }); // prettier-ignore

  it('says nothing with --quiet, or while it shows progress', () => {
    const { state, output: to } = output(false);
    state.millis = 60_000;
    const tick = runningLine({ quiet: true }, to);
    state.millis = 120_000;
    tick();
    progressBar({ quiet: true }, to)(event(3));
    const other = runningLine({}, to);
    state.millis = 240_000;
    other();
    expect(state.text).to.equal('');
    progressBar({ quiet: true }, to)(event(20));
  });
});

describe('a command that asks a question', () => {
  it('says nothing while the question waits, and starts the time again after the answer', async () => {
    const { state, output: to } = output(true);
    const tick = runningLine({}, to);
    let answer: (text: string) => void = () => undefined;
    const waiting = waitForAnswer(
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
    );
    state.millis = 30_000;
    tick();
    answer('sex');
    expect(await waiting).to.equal('sex');
    state.millis = 39_999;
    tick();
    expect(state.text).to.equal('');
    state.millis = 40_000;
    tick();
    expect(state.text).to.equal('\r\x1b[2KRunning · 10 s');
    clearTransientLine();
  });
});

describe('the progress of a command', () => {
  const folder = useTemporaryFolder();

  it('counts the comparisons of ab-test: each measure between the groups of each attribute', async () => {
    const rows = Array.from(
      { length: 400 },
      (_, row) => `${'ab'[row % 2]},${'fm'[row % 3] ?? 'x'},${row % 5},${row % 7 < 3 ? 1 : 0}`,
    );
    writeFileSync(path.join(folder(), 'arms.csv'), ['arm,sex,revenue,approved', ...rows].join('\n'));
    const { stderr } = await runCli(
      ['ab-test', '--csv', 'arms.csv', '--arm', 'arm', '--control', 'a', '--outcome', 'approved', '--sensitive', 'sex', '--sensitive', 'revenue', '--business', 'revenue'], // prettier-ignore
      { cwd: folder(), progressSeconds: 0 },
    );
    // Two attributes, each with the selection rate and the business metric.
    expect(stderr.match(/^comparing groups: \d of \d/gm)).to.deep.equal([0, 1, 2, 3].map((done) => `comparing groups: ${done} of 4`)); // prettier-ignore
  });

  it('counts the rows that predict writes, every 10,000', async () => {
    const seen: string[] = [];
    const table = Table.from({ x: new Float64Array(25_000) });
    await writeTable(path.join(folder(), 'rows.csv'), table, {
      onProgress: ({ stage, done, total }) => seen.push(`${stage}: ${done} of ${total}`),
    });
    expect(seen).to.deep.equal([0, 10_000, 20_000, 25_000].map((done) => `writing rows: ${done} of 25000`));
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
        if (/: \d+ of \d+ \(\d+%\), \d+ s/.test(stderr)) resolve();
      });
      child.once('close', () => {
        resolve();
      });
    });
    child.kill('SIGINT');
    expect(await ended, stderr).to.deep.equal([130, null]);
    expect(stderr.trimEnd().split('\n').at(-1)).to.match(
      /^Interrupted, nothing was written\. It was at \d+ of \d+ \(training without the constraint\)\.$/,
    );
    expect(existsSync(saved)).to.equal(false);
  });
});

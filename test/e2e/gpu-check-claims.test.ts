import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import type { AdultRows } from '../../scripts/gpu-check/adult.ts';
import { cardComputedOn } from '../../scripts/gpu-check/device.ts';
import { hidePaths } from '../../scripts/gpu-check/hide-paths.ts';
import { isB11, isMeasurement } from '../../scripts/gpu-check/measurement.ts';
import { compareLoop } from '../../scripts/gpu-check/peer-part.ts';
import { type PeerChoice, runPeer } from '../../scripts/gpu-check/peer.ts';
import { informative } from '../../scripts/gpu-check/profile-part.ts';
import {
  type GpuReport,
  type LoopFigures,
  PART_NAMES,
  type PartName,
  type Parts,
} from '../../scripts/gpu-check/report.ts';
import { openReportFile } from '../../scripts/gpu-check/report-file.ts';
import { isSameDevice } from '../../scripts/gpu-check/same-device.ts';
import { medianOf } from '../../scripts/gpu-check/sweep-part.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const DEVICE = {
  name: 'NVIDIA A10',
  backend: 'webgpu',
  adapter: 'NVIDIA A10',
  driver: null,
  memory_mib: null,
} as const;
const HARDWARE = { ...DEVICE, is_software: false };
const OPTIONS = { quick: false, parts: PART_NAMES, etas: 64, seeds: [1, 2, 3] };
const WORK = {
  ...{ etas: 64, epochs: 20, batch_size: 512, hidden: [64], lr: 3e-3, penalty: 'mean_gap' },
  ...{ columns: 42, rows: 32_561, test_rows: 16_281 },
};

/** Finished parts, with the fields that the judgement reads. */
function partsWith(work: object = {}, own: Partial<Record<PartName, object>> = {}): Parts {
  const done = { seconds: 1, passes: true, reason: null, timed_out: false, figures: {} };
  const sweep = { ...done, figures: { work: { ...WORK, ...work }, runs: [1, 2, 3], median_seconds: 2 } };
  const parts = { ...Object.fromEntries(PART_NAMES.map((name) => [name, done])), sweep };
  return { ...parts, ...own } as unknown as Parts;
}

describe('what a GPU check may claim', () => {
  const folder = useTemporaryFolder();

  it('the complete work of B11 on hardware is a measurement', () => {
    expect(isMeasurement({ options: OPTIONS, device: HARDWARE, parts: partsWith() })).to.equal(true);
    const { peer: _, ...unfinished } = partsWith();
    expect(isB11({ options: OPTIONS, device: HARDWARE, parts: unfinished })).to.equal(true);
    expect(isMeasurement({ options: OPTIONS, device: HARDWARE, parts: unfinished })).to.equal(false);
  });

  it('less than the complete work is not a measurement', () => {
    const broken = { seconds: 9, passes: false, reason: 'lost', timed_out: false, figures: null };
    const cut: Record<string, Partial<Parameters<typeof isB11>[0]>> = {
      quick: { options: { ...OPTIONS, quick: true } },
      'fewer etas': { options: { ...OPTIONS, etas: 16 } },
      'fewer seeds': { options: { ...OPTIONS, seeds: [1, 2] } },
      'one seed three times': { options: { ...OPTIONS, seeds: [1, 1, 1] } },
      'an omitted part': { options: { ...OPTIONS, parts: PART_NAMES.filter((name) => name !== 'gradients') } },
      'an omitted loop': { options: { ...OPTIONS, parts: PART_NAMES.filter((name) => name !== 'peer') } },
      'a software GPU': { device: { ...HARDWARE, is_software: true } },
      'no GPU': { device: { ...HARDWARE, backend: 'wasm' } },
      'fewer epochs': { parts: partsWith({ epochs: 2 }) },
      'larger batches': { parts: partsWith({ batch_size: 4096 }) },
      'fewer rows': { parts: partsWith({ rows: 900 }) },
      'an aborted part': { parts: partsWith({}, { memory: broken }) },
      'a part that timed out': { parts: partsWith({}, { profile: { ...broken, figures: {}, timed_out: true } }) },
      'networks that did not learn': { parts: partsWith({}, { sweep: { ...partsWith().sweep, passes: false } }) },
    };
    for (const [what, own] of Object.entries(cut)) {
      expect(isB11({ options: OPTIONS, device: HARDWARE, parts: partsWith(), ...own }), what).to.equal(false);
    }
  });

  it('names match if all words of one are in the other, and the variant is the same', () => {
    expect(isSameDevice('NVIDIA A10', 'NVIDIA A10, Vulkan driver 550.54.15')).to.equal(true);
    expect(isSameDevice('NVIDIA GeForce RTX 3080', 'geforce rtx 3080')).to.equal(true);
    for (const [one, other] of [
      ['NVIDIA A10', 'NVIDIA A100'],
      ['NVIDIA GeForce RTX 3080', 'NVIDIA GeForce RTX 3080 Ti'],
      ['NVIDIA A10', 'Intel(R) UHD Graphics 630'],
      ['NVIDIA', 'NVIDIA A10'],
      ['cpu', 'SwiftShader Device'],
    ] as const) {
      expect(isSameDevice(one, other), `${one} / ${other}`).to.equal(false);
    }
  });

  it('a card is reported only if it was used', () => {
    const card = { name: 'NVIDIA A10', driver: '550.54.15', memory_mib: 23_028, used_mib: 4 };
    expect(cardComputedOn('webgpu', 'NVIDIA A10', card)).to.equal(card);
    expect(cardComputedOn('node-gpu', null, card)).to.equal(card);
    expect(cardComputedOn('webgpu', 'Intel(R) UHD Graphics 630', card)).to.equal(null);
    expect(cardComputedOn('webgpu', null, card)).to.equal(null);
  });

  it('a loop is compared only with a sweep on the same device, and judged only with the complete B11', () => {
    const loop = { device: 'NVIDIA A10', median_seconds: 30 } as LoopFigures['loop'];
    const sweep = partsWith().sweep?.figures ?? null;
    const beside = { device: HARDWARE, sweep, isB11: true };
    expect(compareLoop(loop, null, beside)).to.include({ ratio: 15, bar_holds: true, reason: null });
    expect(compareLoop(loop, null, { ...beside, isB11: false })).to.include({ ratio: 15, bar_holds: null });
    const other = compareLoop(loop, null, { ...beside, device: { ...HARDWARE, name: 'NVIDIA A100' } });
    expect(other).to.include({ ratio: null, bar_holds: null });
    expect(other.reason).to.include('NVIDIA A10');
    expect(compareLoop(loop, null, { ...beside, sweep: null }).ratio).to.equal(null);
  });

  it('a partial report does not replace a measurement', async () => {
    const file = path.join(folder(), 'nvidia-a10.json');
    const report = (own: object) => ({ is_measurement: true, parts: {}, ...own }) as unknown as GpuReport;
    const withLoop = { parts: { peer: { figures: { loop: {} } } } };
    const write = (own: object) => openReportFile(() => file).write(report(own));
    const partial = path.join(folder(), 'nvidia-a10.partial.json');
    expect(await write({ is_measurement: false })).to.equal(file);
    expect(await write({ date: 'first' })).to.equal(file);
    expect(await write({ is_measurement: false })).to.equal(partial);
    expect(await write({ ...withLoop, date: 'second' })).to.equal(file);
    expect(await write({ date: 'third' })).to.equal(partial);
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.include({ date: 'second' });

    // A run that becomes a measurement replaces it, and leaves no other files.
    rmSync(partial);
    const growing = openReportFile(() => file);
    expect(await growing.write(report({ is_measurement: false }))).to.equal(partial);
    expect(await growing.write(report({ ...withLoop, date: 'fourth' }))).to.equal(file);
    expect(existsSync(partial)).to.equal(false);
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.include({ date: 'fourth' });
  });

  it('only the name of a path is kept, and addresses are kept completely', () => {
    const folders = ['/home/a user', '/srv'];
    const hidden = hidePaths(
      {
        texts: [
          'no /home/a user/lib/x.so here',
          "in '/opt/cuda-11/lib64/libcudart.so.11.0': no",
          'PATH=/usr/bin:/usr/local/bin',
          'at file:///srv/app/main.js:3:1',
          'get https://example.org/a/b.tar.gz from /srv',
          String.raw`C:\Users\me\x.dll failed`,
          'a and/or b, 1 / 2, 3/4',
        ],
        inner: { count: 3, none: null },
      },
      folders,
    );
    expect(hidden).to.deep.equal({
      texts: [
        'no …/x.so here',
        "in '…/libcudart.so.11.0': no",
        'PATH=…/bin:…/bin',
        'at …/main.js:3:1',
        'get https://example.org/a/b.tar.gz from …',
        '…/x.dll failed',
        'a and/or b, 1 / 2, 3/4',
      ],
      inner: { count: 3, none: null },
    });
  });

  it('times that are negative because of noise are dropped, and a median is the middle value', () => {
    expect([informative(-0.1), informative(undefined), informative(0), informative(2)]).to.deep.equal([
      null,
      null,
      0,
      2,
    ]);
    expect([medianOf([5, 1, 3]), medianOf([4, 2]), medianOf([7])]).to.deep.equal([3, 3, 7]);
  });
});

describe('the PyTorch loop of a GPU check', function () {
  this.timeout(20_000);
  const rows: AdultRows[keyof AdultRows] = {
    ...{ x: Float32Array.of(1, 2), y: Float32Array.of(0, 1), groups: Int32Array.of(0, 1) },
    ...{ inputs: 1, groupCount: 2 },
  };
  const adult: AdultRows = { train: rows, validation: rows, test: rows };
  const work = { etas: [0, 3], epochs: 1, batchSize: 2, hidden: [2], lr: 0.01 };
  const point = { eta: 0, accuracy: 0.5, dp: 0 };
  const answer = {
    ...{ torch: '2.3.1', device: 'cpu', rows: 2, run_seconds: [4], warm_up_seconds: 1, peak_bytes: null },
    points: [point, { ...point, eta: 3 }],
  };
  let folder = '';
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-test-'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** A fake Python that reports PyTorch, and runs a given command instead of the loop. */
  const choosing = (loop: string, own: Partial<PeerChoice> = {}): PeerChoice => {
    const python = path.join(folder, 'python');
    writeFileSync(python, `#!/bin/sh\nif [ "$1" = -c ]; then echo True; exit; fi\n${loop}\n`, { mode: 0o755 });
    return {
      ...{ isWanted: true, python, device: 'cpu', runs: 3, limitSeconds: 15 },
      ...{ signal: new AbortController().signal, ...own },
    };
  };
  const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('evenhand-peer-'));

  it('its last line counts', async () => {
    const lines = [answer, { ...answer, run_seconds: [4, 6] }].map((line) => `echo '${JSON.stringify(line)}'`);
    const run = await runPeer(adult, work, choosing(lines.join('\n')));
    expect(run).to.deep.equal({ figures: { ...answer, run_seconds: [4, 6] }, reason: null });
  });

  it('unexpected output is a reason, not figures', async () => {
    const wrong = [{ ...answer, run_seconds: [] }, { ...answer, points: [point] }, { ...answer, device: 3 }, [], null];
    for (const one of wrong) {
      const { figures, reason } = await runPeer(adult, work, choosing(`echo '${JSON.stringify(one)}'`));
      expect([figures, reason]).to.deep.equal([null, 'the output of the loop is not as expected']);
    }
    expect((await runPeer(adult, work, choosing('echo oops'))).reason).to.equal('the output of the loop is not JSON');
    expect((await runPeer(adult, work, choosing('echo out of memory >&2; exit 1'))).reason).to.equal('out of memory');
    expect((await runPeer(adult, work, choosing('', { python: '/none/python' }))).reason).to.include(
      'cannot be started',
    );
    expect((await runPeer(adult, work, choosing('', { limitSeconds: 3 }))).reason).to.include('no time');
  });

  it('a loop that hangs is ended with its child processes, keeps finished runs, and leaves no folder', async () => {
    // A separate folder, since others on this machine may run the same check.
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = mkdtempSync(path.join(folder, 'tmp-'));
    try {
      const pid = path.join(folder, 'pid');
      const loop = `echo '${JSON.stringify(answer)}'; sleep 60 & echo $! > '${pid}'; wait`;
      const stop = new AbortController();
      const running = runPeer(adult, work, choosing(loop, { signal: stop.signal }));
      while (!existsSync(pid) || readFileSync(pid, 'utf8').trim() === '') await sleep(20);
      stop.abort();
      expect((await running).figures?.run_seconds).to.deep.equal([4]);
      await sleep(100);
      // A process that has ended and has not been waited for is still listed, as a zombie.
      const state = `/proc/${readFileSync(pid, 'utf8').trim()}/stat`;
      if (existsSync(state)) expect(readFileSync(state, 'utf8')).to.match(/\) Z /);
      expect(leftovers()).to.deep.equal([]);
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
  });
});

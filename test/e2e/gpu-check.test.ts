import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { compareGradients, shareDiffering } from '../../scripts/gpu-check/agreement-part.ts';
import { slugOf } from '../../scripts/gpu-check/device.ts';
import { readCard } from '../../scripts/gpu-check/nvidia.ts';
import { readOptions, UsageError } from '../../scripts/gpu-check/options.ts';
import type { GpuReport } from '../../scripts/gpu-check/report.ts';
import { runPart } from '../../scripts/gpu-check/run-part.ts';
import { etasOf } from '../../scripts/gpu-check/sweep-part.ts';
import { packTables, unpackTables } from '../../scripts/gpu-check/table-file.ts';
import { Table } from '../../src/table/index.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

const SCRIPT = path.join(projectRoot, 'scripts/gpu-check.sh');

/** Runs the check without a named Vulkan driver or backend. */
function runCheck(args: readonly string[], cwd: string) {
  const { VK_DRIVER_FILES: _, VK_ICD_FILENAMES: __, EVENHAND_TF_BACKEND: ___, ...env } = process.env;
  return spawnSync(SCRIPT, args, { cwd, env, encoding: 'utf8', timeout: 120_000 });
}

describe('scripts/gpu-check.sh', function () {
  this.timeout(150_000);
  const folder = useTemporaryFolder();

  /** Creates a folder like that of a pack, with a program in place of Node. */
  function makePack(name: string, program: string): string {
    const beside = path.join(folder(), name);
    mkdirSync(beside);
    writeFileSync(path.join(beside, 'node'), program);
    writeFileSync(path.join(beside, 'gpu-check.mjs'), '');
    copyFileSync(SCRIPT, path.join(beside, 'gpu-check.sh'));
    chmodSync(path.join(beside, 'node'), 0o755);
    return beside;
  }

  it('prints its options', () => {
    const { status, stdout } = runCheck(['--help'], folder());
    expect(status).to.equal(0);
    for (const option of ['--data', '--allow-software', '--peer', 'Exit codes']) expect(stdout).to.include(option);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).to.be.at.most(80);
  });

  it('rejects wrong usage with one line @slow', () => {
    const { status, stderr } = runCheck(['--only', 'numeric'], folder());
    expect(status).to.equal(2);
    expect(stderr).to.match(/^--only must be one of doctor, numerics, .*; got 'numeric'\n$/);
  });

  it('reports immediately that the JSON cannot be written @slow', () => {
    const { status, stdout, stderr } = runCheck(
      ['--backend', 'wasm', '--only', 'doctor,numerics', '--out', '/dev/null/gpu.json'],
      folder(),
    );
    expect(status, stderr).to.equal(2);
    expect(stderr).to.include('the JSON cannot be written, see --out');
    expect(stdout).not.to.include('numerics ...');
  });

  it('does not report a missing Node if PATH is empty and a Node is next to it', () => {
    const beside = makePack('pack', '#!/bin/sh\necho "ran $1"\n');
    const run = (script: string, cwd: string) =>
      spawnSync('/bin/bash', [script], { cwd, env: { PATH: '' }, encoding: 'utf8' });
    const wanted = `ran ${path.join(beside, 'gpu-check.mjs')}\n`;
    expect(run(path.join(beside, 'gpu-check.sh'), folder()).stdout).to.equal(wanted);
    expect(run('gpu-check.sh', beside).stdout).to.equal(wanted);
  });

  it('checks both routes to the GPU with --backend both, each with its own options and JSON', () => {
    const beside = makePack('both', '#!/bin/sh\nshift\necho "ran $*"\n[ "$4" = webgpu ]\n');
    for (const given of [
      ['--backend', 'both', '--out', 'x.json'],
      ['--backend=both', '--out=x.json'],
    ]) {
      const run = spawnSync(path.join(beside, 'gpu-check.sh'), ['--only', 'sweep', ...given], { encoding: 'utf8' });
      expect(run.stdout.split('\n')).to.deep.equal([
        '== webgpu: x.webgpu.json',
        'ran --only sweep --backend webgpu --out x.webgpu.json',
        '== node-gpu: x.node-gpu.json',
        'ran --only sweep --backend node-gpu --out x.node-gpu.json',
        '',
      ]);
      expect(run.status).to.equal(1);
    }
  });

  it('reports that there is no GPU, with what is missing, and leaves no file @slow', function () {
    if (existsSync('/dev/nvidia0')) {
      console.log('      skipped: this machine has an NVIDIA GPU');
      this.skip();
    }
    const { status, stderr } = runCheck(['--backend', 'node-gpu'], folder());
    expect(status).to.equal(3);
    expect(stderr).to.match(/No GPU was found\.[^]*node-gpu:\n/);
    expect(existsSync(path.join(folder(), 'gpu-check.json'))).to.equal(false);
  });

  describeWithReference('on a CPU backend that is named', () => {
    it('runs every part, and reports that it measured no GPU @slow', () => {
      const data = referencePath('data');
      const { status, stdout, stderr } = runCheck(
        ['--backend', 'wasm', '--quick', '--no-peer', '--data', data, '--date', '2026-02-03'],
        folder(),
      );
      expect(status, stdout + stderr).to.equal(0);
      const report = JSON.parse(readFileSync(path.join(folder(), 'gpu-check.json'), 'utf8')) as GpuReport;
      const { parts, ...about } = report;
      expect(about).to.include({ schema: 1, date: '2026-02-03', quick: true, is_measurement: false, passes: true });
      expect(Object.keys(parts)).to.deep.equal([
        'doctor',
        'numerics',
        'gradients',
        'sweep',
        'memory',
        'profile',
        'peer',
      ]);
      expect(parts.numerics?.figures?.asked).to.be.above(0);
      // The backend is compared with itself.
      expect(parts.gradients?.figures?.gradients.map(({ error }) => error)).to.deep.equal([0, 0, 0, 0, 0, 0]);
      expect(parts.peer?.figures).to.include({ loop: null, ratio: null, bar_holds: null });
      expect(parts.peer?.figures?.reason).to.include('--no-peer');
      expect(parts.memory?.figures?.tensors_leaked).to.equal(0);
      expect(parts.profile?.figures?.kernels.map(({ name }) => name)).to.satisfy((names: string[]) =>
        names.some((name) => /MatMul/.test(name)),
      );
      // No folder of the machine is printed: all are within one of these.
      const kept = readFileSync(path.join(folder(), 'gpu-check.json'), 'utf8');
      for (const hidden of [folder(), projectRoot, homedir(), data]) expect(kept).not.to.include(hidden);
      expect(stdout).to.include('This is not a measurement of a GPU');
      const table = stdout.slice(stdout.indexOf('This is no measurement'));
      expect(
        Math.max(
          ...table
            .split('\n')
            .slice(0, 16)
            .map((line) => line.length),
        ),
      ).to.be.at.most(80);
    });
  });
});

describe('the parts of a GPU check', () => {
  it('etas are evenly spaced from 0 to 3', () => {
    expect(etasOf(4)).to.deep.equal([0, 1, 2, 3]);
    expect(etasOf(64)).to.have.lengthOf(64);
    expect([etasOf(64)[0], etasOf(64)[63]]).to.deep.equal([0, 3]);
  });

  it('gradients are compared by their difference, relative above 1, and a missing number is a mismatch', () => {
    const { error, relative_error: relative } = compareGradients(
      'mean_gap',
      Float32Array.of(0.5, 4.5, 0),
      Float32Array.of(0.25, 4, 0),
    );
    expect([error, relative]).to.deep.equal([0.25, 0.125]);
    expect(compareGradients('mmd', Float32Array.of(NaN), Float32Array.of(1)).error).to.be.NaN;
    expect(compareGradients('mmd', Float32Array.of(), Float32Array.of(1)).error).to.be.NaN;
  });

  it('decisions differ if logits are on different sides of 0', () => {
    expect(shareDiffering(Float32Array.of(-1, 0, 2, 3), Float32Array.of(-2, -0.5, 1, -3))).to.equal(0.5);
    expect(shareDiffering(Float32Array.of(1), Float32Array.of(1, 2))).to.be.NaN;
  });

  it('a card is read only from the output of nvidia-smi', () => {
    expect(readCard('NVIDIA A10, 550.54.15, 23028, 4\nNVIDIA A10, 550.54.15, 23028, 9\n')).to.deep.equal({
      name: 'NVIDIA A10',
      driver: '550.54.15',
      memory_mib: 23028,
      used_mib: 4,
    });
    expect(readCard('No devices were found\n')).to.equal(null);
    expect(slugOf('NVIDIA A10 24 GB (PCIe)')).to.equal('nvidia-a10-24-gb-pcie');
  });

  it('tables are unpacked as they were packed, and a cut file is rejected', () => {
    const table = Table.from({ age: [39, null, -0.5], sex: ['Male', 'Female', null] });
    const bytes = packTables({ train: table, test: table.take([2]) });
    const { train, test } = unpackTables(bytes);
    expect([...(train?.numeric('age').values ?? [])]).to.deep.equal([39, NaN, -0.5]);
    expect([...(train?.categorical('sex').codes ?? [])]).to.deep.equal([...table.categorical('sex').codes]);
    expect(train?.categorical('sex').labels).to.deep.equal(table.categorical('sex').labels);
    expect([...(test?.numeric('age').values ?? [])]).to.deep.equal([-0.5]);
    expect(() => unpackTables(bytes.subarray(0, -1))).to.throw('truncated');
    expect(() => unpackTables(Buffer.concat([bytes, Buffer.alloc(1)]))).to.throw('longer');
  });

  it('a part that fails or takes too long is reported, and does not throw', async () => {
    const failed = await runPart(5, () => Promise.reject(new Error('lost the device\nat once')));
    expect(failed).to.include({ passes: false, reason: 'lost the device', timed_out: false, figures: null });
    const late = await runPart(0.05, () => new Promise<never>(() => undefined));
    expect(late).to.include({ passes: false, reason: 'not done after 0.05 s', timed_out: true, figures: null });
  });

  it('options are read completely, and parts run in order', () => {
    expect(readOptions(['--only', 'sweep,doctor', '--seeds', '4,5', '--peer'], '2026-01-02')).to.deep.include({
      parts: ['doctor', 'sweep'],
      seeds: [4, 5],
      peer: true,
      etas: 64,
      backend: 'auto',
      date: '2026-01-02',
    });
    for (const wrong of [
      ['--etas', '1'],
      ['--seeds', '1.5'],
      ['--peer', '--no-peer'],
      ['--date', '2026'],
      ['--date', '2026-02-30'],
      ['--what'],
    ]) {
      expect(() => readOptions(wrong, '2026-01-02'), wrong.join(' ')).to.throw(UsageError);
    }
  });
});

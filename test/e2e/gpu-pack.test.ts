import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import type { GpuReport } from '../../scripts/gpu-check/report.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { describeWithReference, referencePath } from '../helpers/reference.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { softwareGpuEnv } from '../helpers/software-gpu.ts';

const SCRIPT = path.join(projectRoot, 'scripts/gpu-pack.sh');
const LARGEST_BYTES = 50 * 2 ** 20;

/** The programs that a machine needs besides the pack. */
const PROGRAMS = ['bash', 'dirname', 'timeout'];

/** Ends the process if it opens a connection. */
const NO_NETWORK = `const end = () => { console.error('a connection was opened'); process.exit(99); };
require('node:net').Socket.prototype.connect = end;
require('node:dns').lookup = end;
`;

describe('scripts/gpu-pack.sh', () => {
  it('prints its options, and rejects others', () => {
    expect(execFileSync(SCRIPT, ['--help'], { encoding: 'utf8' })).to.include('--data DIR');
    for (const wrong of [['--dat'], ['--out'], ['--level', '10'], ['--data', '/none']]) {
      const { status, stderr } = spawnSync(SCRIPT, wrong, { encoding: 'utf8' });
      expect(status, wrong.join(' ')).to.equal(2);
      expect(stderr).to.match(/^gpu-pack\.sh: .*\n$/);
    }
  });

  describeWithReference('makes a folder that checks a GPU', () => {
    const folder = useTemporaryFolder();

    it('works without Node, other packages or a network @slow', function () {
      this.timeout(400_000);
      const gpu = process.arch === 'x64' ? softwareGpuEnv() : null;
      if (gpu === null) {
        console.log('      skipped: there is no software GPU, or this is not Linux on x64');
        this.skip();
      }
      const [out, location, bin] = ['out put', 'un packed', 'bin'].map((name) => path.join(folder(), name)) as [
        string,
        string,
        string,
      ];
      // Low compression, since the size of the archive does not matter here.
      execFileSync(SCRIPT, ['--out', out, '--data', referencePath('data'), '--level', '1'], { timeout: 200_000 });
      const [archive = ''] = readdirSync(out);
      expect(archive).to.match(/^evenhand-gpu-\d+\.\d+\.\d+-linux-x64\.tar\.xz$/);
      expect(statSync(path.join(out, archive)).size).to.be.below(LARGEST_BYTES);

      mkdirSync(location);
      execFileSync('tar', ['-xJf', path.join(out, archive), '-C', location]);
      const pack = path.join(location, archive.replace('.tar.xz', ''));
      mkdirSync(bin);
      for (const name of PROGRAMS) {
        symlinkSync(
          execFileSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
          path.join(bin, name),
        );
      }
      const guard = path.join(bin, 'no-network.cjs');
      writeFileSync(guard, NO_NETWORK);
      const { status, stdout, stderr } = spawnSync(path.join(pack, 'gpu-check.sh'), ['--quick', '--allow-software'], {
        cwd: location,
        encoding: 'utf8',
        timeout: 250_000,
        env: { ...gpu, PATH: bin, HOME: location, NODE_OPTIONS: `--require="${guard}"` },
      });
      expect(status, stdout + stderr).to.equal(0);
      const report = JSON.parse(readFileSync(path.join(location, 'gpu-check.json'), 'utf8')) as GpuReport;
      expect(report).to.include({ quick: true, is_measurement: false, complete: true, passes: true });
      expect(report.device).to.include({ backend: 'webgpu', is_software: true });
      const { numerics, gradients, memory } = report.parts;
      expect(numerics?.figures?.passed).to.equal(numerics?.figures?.asked).and.to.be.above(0);
      // If nothing was computed, two backends would agree to the last digit.
      const errors = gradients?.figures?.gradients.map(({ error }) => error) ?? [];
      expect(Math.max(...errors)).to.be.within(Number.MIN_VALUE, 1e-4);
      expect(memory?.figures?.peak_device_bytes).to.be.above(0);
      expect(readdirSync(path.join(pack, 'licences'))).to.include.members([
        'node.txt',
        'webgpu.txt',
        'tensorflow-tfjs-core.txt',
        'libvulkan1.txt',
        'evenhand.txt',
      ]);
    });
  });
});

import { expect } from 'chai';

import { diagnose } from '../../../src/tensor/diagnosis/diagnose.ts';
import { hasNvidiaGpu, nvidiaModels } from '../../../src/tensor/diagnosis/nvidia-driver.ts';
import { thisHost } from '../../../src/tensor/diagnosis/this-host.ts';
import { hasPackage } from '../../helpers/peers.ts';
import { fakeHost } from './fake-host.ts';
import { NODE_GPU_MACHINES } from './machines-of-node-gpu.ts';
import { PROCESSOR_MACHINES } from './machines-of-the-processor.ts';
import { WEBGPU_MACHINES } from './machines-of-webgpu.ts';

const DIAGNOSED_MACHINES = [...NODE_GPU_MACHINES, ...WEBGPU_MACHINES, ...PROCESSOR_MACHINES];

describe('the missing parts of a backend', () => {
  for (const { title, backend, machine, shows } of DIAGNOSED_MACHINES) {
    const count = shows.length === 0 ? 'nothing' : String(shows.length);
    it(`${backend} on ${title}: ${count} missing`, () => {
      const missing = diagnose(backend, fakeHost(machine));
      const reported = missing.map(({ what }) => what).join('\n');
      expect(missing, reported).to.have.length(shows.length);
      shows.forEach(([what, ...fixes], index) => {
        expect(missing[index]?.what).to.include(what);
        for (const fix of fixes) expect(missing[index]?.mend).to.include(fix);
      });
      for (const { what } of missing) expect(what, 'one line').to.not.match(/\n/);
    });
  }

  it('do not include an installed package on this machine (webgpu, which `npm run peers` installs)', function () {
    if (!hasPackage('webgpu')) this.skip();
    const whats = diagnose('webgpu', thisHost()).map(({ what }) => what);
    expect(whats.filter((what) => what.includes('not installed'))).to.deep.equal([]);
  });
});

describe('the NVIDIA device of a machine', () => {
  it('is detected by its driver, its device, or WSL', () => {
    expect(hasNvidiaGpu(fakeHost())).to.equal(false);
    expect(hasNvidiaGpu(fakeHost({ files: { '/proc/driver/nvidia/version': '' } }))).to.equal(true);
    expect(hasNvidiaGpu(fakeHost({ files: { '/dev/nvidia3': '' } }))).to.equal(true);
    expect(hasNvidiaGpu(fakeHost({ files: { '/dev/nvidiactl': '', '/dev/nvidia-uvm': '' } }))).to.equal(false);
    expect(hasNvidiaGpu(fakeHost({ files: { '/dev/dxg': '' } }))).to.equal(false);
    expect(hasNvidiaGpu(fakeHost({ files: { '/dev/dxg': '' }, cached: ['/usr/lib/wsl/lib/libcuda.so.1'] }))).to.equal(
      true,
    );
  });

  it('is named by its driver', () => {
    const information = 'Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 120\n';
    const files = { '/proc/driver/nvidia/gpus/0000:00:04.0/information': information };
    expect(nvidiaModels(fakeHost({ files }))).to.deep.equal(['NVIDIA A100-SXM4-40GB']);
    expect(nvidiaModels(fakeHost())).to.deep.equal([]);
  });
});

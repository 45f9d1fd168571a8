import { expect } from 'chai';

import { asOneLine } from '../../../src/tensor/diagnosis/backend-report.ts';
import { diagnose } from '../../../src/tensor/diagnosis/diagnose.ts';
import { fakeHost } from './fake-host.ts';
import { NODE_GPU_MACHINES } from './machines-of-node-gpu.ts';
import { PROCESSOR_MACHINES } from './machines-of-the-processor.ts';
import { WEBGPU_MACHINES } from './machines-of-webgpu.ts';

describe('a fix on one line', () => {
  it('is the prose if there is no command', () => {
    expect(asOneLine('Update the driver.')).to.equal('Update the driver.');
    expect(asOneLine('Update it.\nRestart the machine.')).to.equal('Update it. Restart the machine.');
  });

  it('is the complete fix if there is one command', () => {
    expect(asOneLine('Install it with:\nnpm install a')).to.equal('Install it with: npm install a');
    expect(asOneLine('Look.\nThen install it with:\nnpm install a')).to.equal(
      'Look. Then install it with: npm install a',
    );
  });

  it('is the first command and a reference to evenhand doctor if there are more', () => {
    const first = 'Install it: apt-get install a (all steps: evenhand doctor)';
    expect(asOneLine('Install it:\napt-get install a\nOn Fedora:\ndnf install a')).to.equal(first);
    expect(asOneLine('Install it:\napt-get install a\nexport A=a')).to.equal(first);
    expect(asOneLine('Install it:\napt-get install a\nThen restart.')).to.equal(first);
  });

  const COMMAND = /\b(?:apt-get|dnf|docker|npm|pip|export|unset|mkdir|vulkaninfo|nvidia-smi)\b(?! blocks| keeps)/g;
  for (const { title, backend, machine } of [...NODE_GPU_MACHINES, ...WEBGPU_MACHINES, ...PROCESSOR_MACHINES]) {
    for (const { what, mend: fix } of diagnose(backend, fakeHost(machine))) {
      it(`is short and has one command at most: ${backend} on ${title}, ${what.slice(0, 40)}`, () => {
        const line = asOneLine(fix);
        expect(line.length, line).to.be.at.most(500);
        expect(line).to.not.match(/\n|\([^()]*:\s*\)/);
        // A command follows a colon; "&&" joins parts of one command.
        const commands = [...line.matchAll(COMMAND)].map(([command]) => command);
        const others = commands.filter((command) => command !== 'pip' && command !== 'npm');
        expect(others.length, line).to.be.at.most(1);
      });
    }
  }
});

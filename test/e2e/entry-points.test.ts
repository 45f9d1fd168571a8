import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';
import { runProgram } from '../helpers/run-program.ts';
import { projectRoot } from '../helpers/project-files.ts';

const { exports: entries } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
};

describe('entry points', () => {
  const names = Object.keys(entries).filter((name) => name !== './package.json' && !name.includes('*') && name !== '.');

  it('are the folders with an index', () => {
    expect(names).to.include.members([
      './metrics',
      './pipeline',
      './integration',
      './training',
      './exceptions',
      './io',
      './stats',
    ]);
  });

  for (const name of names) {
    it(`evenhand${name.slice(1)} and the older evenhand/fairness-toolkit${name.slice(1)} are the same module`, async () => {
      const current = (await import(`evenhand${name.slice(1)}`)) as Record<string, unknown>;
      const older = (await import(`evenhand/fairness-toolkit${name.slice(1)}`)) as Record<string, unknown>;
      expect(Object.keys(current)).to.not.deep.equal([]);
      for (const [key, value] of Object.entries(current)) expect(older[key], key).to.equal(value);
    });
  }

  it('do not load TensorFlow.js or print anything when they are imported', async () => {
    const program = `
      for (const name of ${JSON.stringify(['.', ...names])}) {
        await import('evenhand' + name.slice(1));
        if ('_tfengine' in globalThis || '_tfGlobals' in globalThis) throw new Error(name + ' loads TensorFlow.js');
      }`;
    expect(await runProgram(program, {})).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('compute on wasm by default, and never print the advice of the cpu backend @slow', async () => {
    const program = `
      import { FairnessAnalyzer, LogisticRegression, saveModel } from 'evenhand';
      import { mkdtempSync, rmSync } from 'node:fs';
      const folder = mkdtempSync('${path.join(tmpdir(), 'evenhand-entry-')}');
      const model = await new LogisticRegression({ precision: 'float64' }).fit([[1], [2], [3], [4]], [0, 0, 1, 1]);
      await saveModel(model, folder + '/model', { features: ['priors'] });
      rmSync(folder, { recursive: true });
      const tf = await import('@tensorflow/tfjs');
      console.log(tf.getBackend());
      const analyzer = new FairnessAnalyzer({ minGroupSize: 1, backend: 'danfo' });
      console.log((await analyzer.demographicParityDifference([1, 0, 1, 1], ['a', 'a', 'b', 'b'])).value);
      const tensors = [tf.tensor1d([1, 0, 1, 1], 'int32'), tf.tensor1d([0, 0, 1, 1], 'int32')];
      console.log((await new FairnessAnalyzer({ minGroupSize: 1 }).demographicParityDifference(...tensors)).value);
      console.log(tf.getBackend());`;
    // The backend that auto chooses besides wasm depends on the machine; the log names it. A driver of the machine, which
    // this variable hides, may print its own advice.
    const { code, stdout, stderr } = await runProgram(program, {
      EVENHAND_LOG_LEVEL: 'error',
      VK_DRIVER_FILES: '/nonexistent',
    });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    const [first, , , last] = stdout.trim().split('\n');
    expect(stdout).to.match(/^\w+\n0\.5\n0\.5\n\w+\n$/);
    expect(first).to.be.oneOf(['wasm', 'webgpu', 'tensorflow']);
    expect(last).to.equal(first);
  });

  it('the facade exports the classes of the entry points', async () => {
    const facade = (await import('evenhand')) as Record<string, unknown>;
    const parts = await Promise.all(names.map((name) => import(`evenhand${name.slice(1)}`) as Promise<object>));
    const all = Object.assign({}, ...parts) as Record<string, unknown>;
    for (const [key, value] of Object.entries(facade)) if (key in all) expect(value, key).to.equal(all[key]);
  });
});

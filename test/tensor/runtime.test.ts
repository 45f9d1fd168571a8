import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect } from 'chai';

import { ConfigValidationError, DependencyError } from '../../src/exceptions/index.ts';
import { loadTensorflow, probeBackends } from '../../src/tensor/index.ts';
import { describeOn } from '../helpers/software-gpu.ts';
import { restoreRemovedUtil } from '../../src/tensor/runtime.ts';

async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('tensor backends', () => {
  it('auto uses the first that works, and reports why it skipped the others', async () => {
    const { tf, backend, passedOver } = await loadTensorflow({ backend: 'auto' });
    const names = passedOver.map(({ name }) => name);
    expect(['node-gpu', 'webgpu', 'node', 'wasm', 'cpu'].slice(0, names.length)).to.deep.equal(names);
    expect(names).to.not.include(backend);
    for (const { reason } of passedOver) expect(reason).to.be.a('string').and.not.equal('');
    expect(tf.getBackend()).to.be.a('string');
  });

  it('gives native packages the functions that Node 23 removed, and replaces those for which Node 22 prints a warning', () => {
    const removed: { isNullOrUndefined?: (value: unknown) => boolean } = {};
    restoreRemovedUtil(removed);
    expect([null, undefined, 0, '', NaN, false].map((value) => removed.isNullOrUndefined?.(value))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    const own = () => false;
    const older = { isNullOrUndefined: own, isArray: own };
    restoreRemovedUtil(older);
    expect(older.isNullOrUndefined).to.not.equal(own);
    expect(older.isArray).to.equal(Array.isArray);
  });

  it('concurrent first loads all get the same backend, and report it once', async () => {
    const runtime = new URL('../../src/tensor/index.ts', import.meta.url).href;
    const program = `
      const { loadTensorflow } = await import(${JSON.stringify(runtime)});
      const load = (backend) => loadTensorflow({ backend });
      const first = await Promise.all([load('auto'), load('auto'), load('auto')]);
      const named = await Promise.all([load('wasm'), load('cpu'), load('wasm')]);
      console.log(JSON.stringify([...first, await load('auto'), ...named].map(({ backend }) => backend)));`;
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      { env: { ...process.env, EVENHAND_LOG_LEVEL: 'debug' }, timeout: 60_000 },
    );
    const backends = JSON.parse(stdout) as string[];
    const [chosen = ''] = backends;
    expect(chosen).to.not.equal('cpu');
    expect(backends).to.deep.equal([chosen, chosen, chosen, chosen, 'wasm', 'cpu', 'wasm']);
    expect(stderr.match(/tensor backend /g)).to.have.length(1);
  });

  it('a named backend is used', async () => {
    for (const backend of ['cpu', 'wasm', 'cpu'] as const) {
      const { tf } = await loadTensorflow({ backend });
      expect(tf.getBackend()).to.equal(backend);
      expect(tf.scalar(2).mul(3).arraySync()).to.equal(6);
    }
  });

  it('no backend leaves error handlers on the host process', async () => {
    const count = () => process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection');
    const before = count();
    for (const backend of ['wasm', 'cpu', 'wasm'] as const) await loadTensorflow({ backend });
    expect(count()).to.equal(before);
  });

  it('a named backend that cannot start throws with a fix, without a fallback', async () => {
    const error = await errorOf(loadTensorflow({ backend: 'node' }));
    expect(error).to.be.instanceOf(DependencyError);
    expect(error.message).to.match(/^The tensor backend 'node' cannot start: /);
    expect(error).to.have.property(
      'suggestion',
      'Build it against TensorFlow from PyPI, which needs a C++ compiler and pip: npx evenhand backend install node',
    );
  });

  it('EVENHAND_TF_BACKEND is the default, and throws if its name is unknown', async () => {
    const before = process.env['EVENHAND_TF_BACKEND'];
    try {
      process.env['EVENHAND_TF_BACKEND'] = 'cpu';
      expect((await loadTensorflow()).backend).to.equal('cpu');
      process.env['EVENHAND_TF_BACKEND'] = 'gpu';
      expect(await errorOf(loadTensorflow())).to.be.instanceOf(ConfigValidationError);
    } finally {
      if (before === undefined) delete process.env['EVENHAND_TF_BACKEND'];
      else process.env['EVENHAND_TF_BACKEND'] = before;
    }
  });

  it('every backend is probed; the CPU backends are available', async () => {
    const reports = await probeBackends();
    expect(reports.map(({ name }) => name)).to.deep.equal(['node-gpu', 'webgpu', 'node', 'wasm', 'cpu']);
    const available = reports.filter((report) => report.available).map(({ name }) => name);
    expect(available).to.include.members(['wasm', 'cpu']);
    for (const { available: works, reason } of reports) expect(reason === null).to.equal(works);
  });
});

describeOn('node', 'the choice of auto on node', () => {
  it('is wasm for little work per step, and node otherwise', async () => {
    const chosen = async (workPerStep?: number): Promise<string> =>
      (await loadTensorflow({ backend: 'auto', workPerStep })).backend;
    expect([await chosen(1000), await chosen(1e9), await chosen()]).to.deep.equal(['wasm', 'node', 'node']);
    const { passedOver } = await loadTensorflow({ backend: 'auto', workPerStep: 1000 });
    expect(passedOver.at(-1)).to.include({ name: 'node', available: true });
  });
});

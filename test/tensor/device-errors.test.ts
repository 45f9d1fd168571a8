import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DependencyError } from '../../src/exceptions/index.ts';
import { watchErrors, type WatchedBackend } from '../../src/tensor/device-errors.ts';
import { loadTensorflow, releaseUnused } from '../../src/tensor/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { LIMIT_MILLIS, runProgram } from '../helpers/run-program.ts';
import { describeOnSoftwareGpu, softwareGpuEnv } from '../helpers/software-gpu.ts';

const SOURCE = new URL('../../src/', import.meta.url).href;

class GPUOutOfMemoryError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}
class GPUValidationError extends GPUOutOfMemoryError {}
class GPUInternalError extends GPUOutOfMemoryError {}

class ErrorEvent extends Event {
  readonly error: GPUOutOfMemoryError;
  constructor(error: GPUOutOfMemoryError) {
    super('uncapturederror', { cancelable: true });
    this.error = error;
  }
}

/** A backend whose device fails on demand, within the call, as drivers do. */
class StubBackend implements WatchedBackend {
  readonly device = this;
  readonly lost: WatchedBackend['device']['lost'];
  lose: (loss: { reason: string; message: string }) => void = () => undefined;
  /** The error that the driver reports in the next call, or that the next read rejects with. */
  next: GPUOutOfMemoryError | undefined;
  rejection: Error | undefined;
  readonly reported: ErrorEvent[] = [];
  losses = 0;

  #listener: (event: ErrorEvent) => void = () => undefined;

  constructor() {
    this.lost = new Promise((resolve) => {
      this.lose = resolve;
    });
    watchErrors(this, { adapter: 'acme 1', onLost: () => this.losses++ });
  }

  report(): void {
    const { next } = this;
    this.next = undefined;
    if (next === undefined) return;
    const event = new ErrorEvent(next);
    this.reported.push(event);
    this.#listener(event);
  }

  addEventListener(_name: 'uncapturederror', listener: (event: ErrorEvent) => void): void {
    this.#listener = listener;
  }

  createBuffer = (descriptor: object): object => {
    this.report();
    return descriptor;
  };

  getBufferData = (): Promise<unknown> => {
    this.report();
    return this.rejection === undefined ? Promise.resolve('values') : Promise.reject(this.rejection);
  };

  readSync = (): unknown => 'values';
}

const KINDS: readonly (readonly [error: GPUOutOfMemoryError, told: string])[] = [
  [new GPUOutOfMemoryError('no 4 GiB left.\n - While calling'), 'out of memory: no 4 GiB left'],
  [new GPUValidationError('not a buffer'), 'a command was rejected: not a buffer'],
  [new GPUInternalError(''), 'an internal error of the driver'],
];

/** Returns the error that work throws. */
async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return 'no error';
}

const reading = (backend: StubBackend) => (): Promise<unknown> => backend.getBufferData();

describe('errors of a device', () => {
  for (const [error, shown] of KINDS) {
    it(`fail the buffer that cannot be allocated, once, and print nothing: ${shown}`, async () => {
      const backend = new StubBackend();
      backend.next = error;
      const thrown = await errorOf(() => backend.createBuffer({ size: 4 }));
      expect(thrown).to.be.instanceOf(DependencyError);
      const { message, suggestion, cause } = thrown as DependencyError;
      expect(message).to.equal(`The backend webgpu (acme 1) failed: ${shown}.`);
      expect(suggestion).to.match(/\(batchSize\).*\(--backend wasm\)\.$/);
      expect(cause).to.equal(error);
      expect(backend.reported.map(({ defaultPrevented }) => defaultPrevented)).to.deep.equal([true]);
      expect(backend.createBuffer({ size: 4 })).to.deep.equal({ size: 4 });
      expect(await backend.getBufferData()).to.equal('values');
    });
  }

  it('fail the next read, once, with the first error', async () => {
    const backend = new StubBackend();
    for (const message of ['first', 'second']) {
      backend.next = new GPUValidationError(message);
      backend.report();
    }
    expect(backend.createBuffer({ size: 4 })).to.deep.equal({ size: 4 });
    expect(await errorOf(reading(backend))).to.match(/a command was rejected: first\.$/);
    expect(await backend.getBufferData()).to.equal('values');
  });

  it('fail the read whose own commands are rejected', async () => {
    const backend = new StubBackend();
    backend.next = new GPUValidationError('destroyed');
    expect(await errorOf(reading(backend))).to.match(/a command was rejected: destroyed\.$/);
    expect(await backend.getBufferData()).to.equal('values');
  });

  it('turn an aborted read into an error of the toolkit, with its cause', async () => {
    const backend = new StubBackend();
    backend.rejection = new DOMException('', 'AbortError');
    const thrown = (await errorOf(reading(backend))) as DependencyError;
    expect(thrown).to.be.instanceOf(DependencyError);
    expect(thrown.message).to.equal('The backend webgpu (acme 1) failed: a read was aborted.');
    expect(thrown.cause).to.equal(backend.rejection);
  });

  it('fail every read and buffer after the device is lost, also during a read', async () => {
    const backend = new StubBackend();
    backend.rejection = new DOMException('', 'AbortError');
    const underWay = errorOf(reading(backend));
    backend.lose({ reason: 'unknown', message: 'the driver stopped.' });
    const shown = /^DependencyError: The backend webgpu \(acme 1\) failed: the device was lost: the driver stopped\.$/;
    expect(String(await underWay)).to.match(shown);
    backend.rejection = undefined;
    for (const work of [reading(backend), reading(backend), () => backend.createBuffer({ size: 4 })]) {
      expect(String(await errorOf(work))).to.match(shown);
    }
    expect(backend.losses).to.equal(1);
  });

  it('are reported once if a backend is watched twice', async () => {
    const backend = new StubBackend();
    watchErrors(backend, { adapter: 'acme 2', onLost: () => (backend.losses += 10) });
    backend.next = new GPUValidationError('first');
    backend.report();
    expect(await errorOf(reading(backend))).to.match(/acme 1/);
    expect(await backend.getBufferData()).to.equal('values');
    backend.lose({ reason: 'destroyed', message: '' });
    await backend.lost;
    expect(backend.losses).to.equal(1);
  });
});

describeOnSoftwareGpu('memory of a device', () => {
  onDevice('webgpu');

  const bytes = (): { used: number; allocated: number } => {
    const { numBytesInGPU, numBytesAllocatedInGPU } = tf.memory() as unknown as Record<string, number>;
    return { used: numBytesInGPU ?? NaN, allocated: numBytesAllocatedInGPU ?? NaN };
  };

  it('is freed except for tensors, which stay correct', async () => {
    releaseUnused(tf);
    const before = bytes();
    const kept = tf.tidy(() => tf.range(0, 1000).mul(2));
    for (const size of [1001, 1002, 1003]) {
      const tensor = tf.tidy(() => tf.range(0, size).mul(3));
      expect((await tensor.data())[size - 1]).to.equal(3 * (size - 1));
      tensor.dispose();
    }
    // Not submitted yet: its buffers are in use although its tensors are disposed of.
    tf.tidy(() => tf.range(0, 1004).mul(3)).dispose();
    expect(bytes().allocated).to.be.at.least(before.allocated + 4 * (1000 + 1001 + 1002 + 1003 + 1004));
    releaseUnused(tf);
    expect(bytes().used).to.equal(before.used + 4 * 1000);
    expect(bytes().allocated).to.equal(bytes().used);
    expect((await kept.data())[999]).to.equal(1998);
    kept.dispose();
    const again = tf.tidy(() => tf.range(0, 1001).mul(3));
    expect((await again.data())[1000]).to.equal(3000);
    again.dispose();
  });

  it('is left unchanged on other backends', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const tensor = tf.tensor1d([1, 2]);
    releaseUnused(tf);
    expect([...(await tensor.data())]).to.deep.equal([1, 2]);
    tensor.dispose();
  });
});

/** The start of every program below: work runs on the device itself, and errors are printed on one line. */
const BEGIN = `
  const { countReads, loadTensorflow, webGpuAdapter } = await import('${SOURCE}tensor/index.ts');
  const { globals } = await import('webgpu');
  const told = async (work) => {
    try { return await work(); } catch (error) { return error.constructor.name + ' ' + error.message; }
  };
  const results = {};
  const load = (backend) => told(async () => {
    const { tf, backend: chosen } = await loadTensorflow({ backend });
    tf.env().set('WEBGPU_CPU_FORWARD', false);
    return chosen;
  });
  process.on('unhandledRejection', (error) => { results.unhandled = String(error); });`;

const START = `${BEGIN}
  const { tf } = await loadTensorflow({ backend: 'webgpu' });
  await load('webgpu');
  const device = tf.backend().device;
  const triple = (rows = 4) => tf.tidy(() => tf.ones([rows]).mul(3));
  const values = (tensor) => told(async () => [...await tensor.data()]);`;

const END = 'console.log(JSON.stringify(results));';

/** A sweep of two networks on 533 rows, which prints progress in each epoch. */
const SWEEP = `
  const { sampleData, sweepPareto } = await import('${SOURCE}index.ts');
  const sweep = (onProgress) => told(async () => {
    const points = await sweepPareto(
      { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education'] },
      { etas: [0, 1], epochs: 2, hidden: [4], backend: 'webgpu', onProgress });
    return points.map(({ eta }) => eta);
  });`;

const LOST =
  /^DependencyError The backend webgpu \(.*software\) failed: the device was lost: destroyed, device was destroyed\.$/;

describe('a device that fails @slow', function () {
  this.timeout(2 * LIMIT_MILLIS);
  let environment: Record<string, string>;

  before(function () {
    const found = softwareGpuEnv();
    if (found === null) {
      console.log('      skipped: no software GPU (libvulkan1 and chromium, or Mesa)');
      this.skip();
    }
    environment = { ...found };
  });

  /** Returns the result of a program, which must be its only output. */
  async function resultsOf(program: string): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await runProgram(`${program}\n${END}`, environment);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it('rejects a tensor that is too large; later work is correct', async () => {
    const found = await resultsOf(`${START}
      const side = device.limits.maxBufferSize / 4 / 2 ** 14;
      const before = tf.memory().numTensors;
      results.large = await told(() => {
        tf.tidy(() => tf.ones([2 ** 14, 1]).mul(tf.ones([1, side + 1])));
        return 'made';
      });
      results.tensors = tf.memory().numTensors - before;
      results.after = await values(triple());`);
    expect(found['large']).to.match(
      /^DependencyError The backend webgpu \(.*software\) failed: .*: Buffer size \(\d+\)/,
    );
    expect(found).to.deep.include({ tensors: 0, after: [3, 3, 3, 3] });
  });

  it('reports dropped commands, also in a counted read; later work is correct', async () => {
    const found = await resultsOf(`${START}
      const broken = () => {
        const tensor = triple();
        tf.backend().tensorMap.get(tensor.dataId).resource.destroy();
        return tf.tidy(() => tensor.add(1));
      };
      results.plain = await values(broken());
      results.counted = await told(() => countReads(tf, () => broken().data()));
      const { reads, result } = await countReads(tf, () => values(triple(5)));
      Object.assign(results, { reads, result });`);
    const shown = /^DependencyError The backend webgpu \(.*\) failed: a command was rejected: .*destroyed/;
    expect(found['plain']).to.match(shown);
    expect(found['counted']).to.match(shown);
    expect(found).to.deep.include({ reads: 1, result: [3, 3, 3, 3, 3] });
  });

  it('is replaced by a new one whenever it is lost; running work throws', async () => {
    const found = await resultsOf(`${START}
      results.rounds = [];
      for (let round = 0; round < 2; round++) {
        const { device } = tf.backend();
        const old = triple();
        const underWay = values(triple());
        device.destroy();
        const told = [await underWay, await values(old)];
        const adapter = webGpuAdapter();
        const loaded = await load('webgpu');
        results.rounds.push({
          told, adapter, loaded, isFresh: tf.backend().device !== device, fresh: await values(triple()),
          moved: await values(tf.tidy(() => { try { return old.add(1); } catch (error) { return { data: () => { throw error; } }; } })),
          again: await load('webgpu'),
        });
        old.dispose();
      }
      results.adapter = webGpuAdapter();
      results.auto = await load('auto');`);
    expect(found['adapter']).to.match(/, software$/);
    expect(found['auto']).to.equal('wasm');
    const rounds = found['rounds'] as Record<string, unknown>[];
    expect(rounds).to.have.length(2);
    for (const { told: shown, moved, ...rest } of rounds) {
      for (const text of [...(shown as string[]), moved]) expect(text).to.match(LOST);
      expect(rest).to.deep.equal({
        adapter: null,
        loaded: 'webgpu',
        isFresh: true,
        fresh: [3, 3, 3, 3],
        again: 'webgpu',
      });
    }
  });

  it('is not replaced if there is no other device: this is reported, and another backend works', async () => {
    const found = await resultsOf(`${START}
      device.destroy();
      await device.lost;
      const { requestDevice } = globals.GPUAdapter.prototype;
      globals.GPUAdapter.prototype.requestDevice = () => Promise.reject(new Error('the driver is gone'));
      results.refused = await load('webgpu');
      globals.GPUAdapter.prototype.requestDevice = requestDevice;
      results.wasm = [await load('wasm'), await values(triple())];
      results.back = [await load('webgpu'), await values(triple())];`);
    expect(found).to.deep.equal({
      refused:
        "DependencyError The tensor backend 'webgpu' cannot start: TensorFlow.js did not start the backend webgpu: the driver is gone.",
      wasm: ['wasm', [3, 3, 3, 3]],
      back: ['webgpu', [3, 3, 3, 3]],
    });
  });

  it('is replaced after loss if auto chose it, or skipped if there is no other', async () => {
    const found = await resultsOf(`${BEGIN}
      // The adapter calls itself hardware, so that auto takes it.
      const { requestAdapter } = globals.GPU.prototype;
      globals.GPU.prototype.requestAdapter = async function (...options) {
        const adapter = await requestAdapter.apply(this, options);
        Object.defineProperty(adapter, 'info', { value: { vendor: 'acme', device: '1', description: '', architecture: '' } });
        return adapter;
      };
      results.first = await load('auto');
      const loseDevice = async () => {
        const { device } = (await loadTensorflow({ backend: 'auto' })).tf.backend();
        device.destroy();
        await device.lost;
      };
      await loseDevice();
      results.second = await load('auto');
      results.adapter = webGpuAdapter();
      await loseDevice();
      globals.GPU.prototype.requestAdapter = () => Promise.resolve(null);
      results.third = await load('auto');
      results.named = await load('webgpu');`);
    expect(found['named']).to.match(/^DependencyError The tensor backend 'webgpu' cannot start: no adapter/);
    expect(found).to.deep.include({ first: 'webgpu', second: 'webgpu', adapter: 'acme 1', third: 'wasm' });
  });

  it('fails a sweep with its own error, out of memory or lost; the next sweep works', async () => {
    const found = await resultsOf(`${START} ${SWEEP}
      const { createBuffer } = device;
      // More than the device has stands for more than is left.
      device.createBuffer = (descriptor) =>
        createBuffer({ ...descriptor, size: descriptor.size > 1000 ? 2 * device.limits.maxBufferSize : descriptor.size });
      results.refused = await sweep();
      device.createBuffer = createBuffer;
      results.lost = await sweep(() => { device.destroy(); });
      results.next = await sweep();`);
    expect(found['refused']).to.match(/^DependencyError The backend webgpu \(.*software\) failed: .*: Buffer size/);
    expect(found['lost']).to.match(LOST);
    expect(found['next']).to.deep.equal([0, 1]);
  });
});

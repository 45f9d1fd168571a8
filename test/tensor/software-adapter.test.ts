import { expect } from 'chai';

import { LIMIT_MILLIS, runProgram as run } from '../helpers/run-program.ts';
import { softwareGpuEnv } from '../helpers/software-gpu.ts';

const RUNTIME = new URL('../../src/tensor/index.ts', import.meta.url).href;
const LOADER = import.meta.resolve('tsx/esm/api');

/** Loads webgpu and gives its device work; the flag prevents the host from doing it. */
const AT_WORK = `
  const { loadTensorflow } = await import(${JSON.stringify(RUNTIME)});
  const { tf } = await loadTensorflow({ backend: 'webgpu' });
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  const ones = tf.ones([128, 128]);
  let product = ones;
  for (let step = 0; step < 12; step++) product = tf.matMul(product, ones).div(128);`;

/** Does the same in a thread of the process, followed by further code. */
const inThread = (more: string, afterwards = ''): string => {
  const work = `import(${JSON.stringify(LOADER)}).then(async ({ register }) => { register(); ${AT_WORK} ${more} });`;
  return `
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(${JSON.stringify(work)}, { eval: true });
    worker.on('error', ({ message }) => console.log('error', message));
    worker.on('message', async (message) => { console.log('got', message); ${afterwards} });
    worker.on('exit', (code) => console.log('thread', code));`;
};

describe('a software GPU in a process', function () {
  this.timeout(4 * LIMIT_MILLIS);
  let environment: Record<string, string>;

  before(function () {
    const found = softwareGpuEnv();
    if (found === null) {
      console.log('      skipped: no software GPU (libvulkan1 and chromium, or Mesa)');
      this.skip();
    }
    environment = { ...found };
  });

  it('is used if it is named; auto uses another backend before, after and concurrently', async () => {
    const { stdout, stderr } = await run(
      `
      const { loadTensorflow, probeBackends, webGpuAdapter } = await import(${JSON.stringify(RUNTIME)});
      const load = async (backend) => {
        const { backend: chosen, passedOver } = await loadTensorflow({ backend });
        return { chosen, reason: passedOver.find(({ name }) => name === 'webgpu')?.reason };
      };
      const beside = await Promise.all([load('auto'), load('webgpu')]);
      const after = await load('auto');
      const adapter = webGpuAdapter();
      const probed = (await probeBackends()).find(({ name }) => name === 'webgpu');
      console.log(JSON.stringify({ beside, after, adapter, probed, again: (await load('webgpu')).chosen }));`,
      environment,
    );
    const reported = JSON.parse(stdout === '' ? stderr : stdout) as {
      readonly beside: { readonly chosen: string; readonly reason?: string }[];
      readonly after: { readonly chosen: string; readonly reason?: string };
      readonly adapter: string;
      readonly probed: { readonly available: boolean; readonly missing: unknown[] };
      readonly again: string;
    };
    expect(reported.beside.map(({ chosen }) => chosen)).to.deep.equal(['wasm', 'webgpu']);
    expect(reported.beside[0]?.reason).to.match(/^the only adapter is a software adapter/);
    expect(reported.after).to.deep.equal(reported.beside[0]);
    expect(reported.adapter).to.match(/, software$/);
    expect(reported.probed.available).to.equal(false);
    expect(reported.probed.missing).to.have.length(1);
    expect(reported.again).to.equal('webgpu');
  });

  it('leaves the global object unchanged if auto skipped it', async () => {
    const { stdout } = await run(
      `
      const { loadTensorflow } = await import(${JSON.stringify(RUNTIME)});
      const before = Object.getOwnPropertyNames(globalThis).length;
      await loadTensorflow({ backend: 'auto' });
      console.log('gpu' in (globalThis.navigator ?? {}), 'GPUDevice' in globalThis);`,
      environment,
    );
    expect(stdout).to.equal('false false\n');
  });

  const ends: readonly (readonly [title: string, program: string, code: number, stdout: RegExp])[] = [
    ['its work was read', `${AT_WORK} console.log((await product.sum().data())[0]);`, 0, /^16384\n$/],
    ['its work was never read', AT_WORK, 0, /^$/],
    ['an error is thrown', `${AT_WORK} throw new Error('meant');`, 1, /^$/],
    ['a read is in progress', `${AT_WORK} void product.data(); process.exit(7);`, 7, /^$/],
    [
      'a read and the work for it are in progress',
      `${AT_WORK} setTimeout(() => process.exit(7), 5); await product.data();`,
      7,
      /^$/,
    ],
    [
      'a thread used it',
      inThread(`(await import('node:worker_threads')).parentPort.postMessage((await product.sum().data())[0]);`),
      0,
      /^got 16384\nthread 0\n$/,
    ],
    ['a thread failed', inThread(`throw new Error('meant');`), 0, /^error meant\nthread 1\n$/],
    ['a thread ended with a read in progress', inThread('void product.data(); process.exit(7);'), 0, /^thread 7\n$/],
    [
      'an idle thread was terminated',
      inThread(
        `await product.data(); (await import('node:worker_threads')).parentPort.postMessage('rest'); setInterval(() => {}, 1000);`,
        'await worker.terminate();',
      ),
      0,
      /^got rest\nthread 1\n$/,
    ],
  ];
  for (const [title, program, code, stdout] of ends) {
    it(`lets the process end by itself, ${title} @slow`, async () => {
      const ended = await run(program, environment);
      expect(ended.code, ended.stderr).to.equal(code);
      expect(ended.stdout).to.match(stdout);
    });
  }
});

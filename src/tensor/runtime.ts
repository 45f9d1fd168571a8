import { createRequire } from 'node:module';
import util from 'node:util';

import { DependencyError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { getLogger } from '../internal/logger.ts';
import { isOnDevice } from './backend-traits.ts';
import { type BackendChoice, parseBackendChoice, TENSOR_BACKENDS, type TensorBackend } from './backend-names.ts';
import { asOneLine, type BackendReport, routesToGpu } from './diagnosis/backend-report.ts';
import { diagnose } from './diagnosis/diagnose.ts';
import { hasNvidiaGpu, nvidiaModels } from './diagnosis/nvidia-driver.ts';
import { thisHost } from './diagnosis/this-host.ts';
import { unavailable, UnavailableBackend } from './diagnosis/unavailable.ts';
import { makeProductsRepeatable } from './repeatable-products.ts';
import type { Tf } from './tf.ts';
import { watchDevice, openWebGpu, replaceLostDevice, seekWebGpu, webGpuAdapter, whyNoDevice } from './webgpu.ts';

export type { BackendChoice, TensorBackend } from './backend-names.ts';
export type { Tf } from './tf.ts';

/** A loaded TensorFlow.js instance and its active backend. */
export interface Tensorflow {
  readonly tf: Tf;
  readonly backend: TensorBackend;
  /** The backends that `auto` skipped, with the reasons. */
  readonly passedOver: readonly BackendReport[];
}

const require = createRequire(import.meta.url);
const started = new Map<TensorBackend, Promise<Tf>>();
let current: Tf | undefined;

/** Options of {@link loadTensorflow}. */
export interface LoadTensorflowOptions {
  /**
   * The backend. If a named backend cannot start, loading throws.
   * @defaultValue `EVENHAND_TF_BACKEND`, else 'auto'
   */
  readonly backend?: BackendChoice | undefined;
  /**
   * The number of multiplications of one training step, from which `auto` chooses between `node` and `wasm`. An
   * operation starts more slowly in TensorFlow's native library than in wasm, but then computes faster.
   * @defaultValue Infinity, so that `node` is preferred
   */
  readonly workPerStep?: number | undefined;
}

const LOAD_TENSORFLOW_OPTION_NAMES: OptionNames<LoadTensorflowOptions> = { backend: true, workPerStep: true };

/**
 * The number of multiplications per step from which training on `node` takes at most as much time as on `wasm`, measured
 * on two cores with scripts/study/backends.ts.
 */
const WORTH_NATIVE = 4e7;

/**
 * Loads TensorFlow.js on a backend.
 *
 * `auto` uses the first backend that works, in the order of {@link TENSOR_BACKENDS}. `auto` never uses a software GPU.
 * If a named backend cannot start, the function throws, and no other backend is used instead.
 * @throws {DependencyError} if a named backend cannot start; the error states the reason and the fix
 * @throws {ConfigValidationError} if the backend name is unknown
 */
export async function loadTensorflow(options: LoadTensorflowOptions = {}): Promise<Tensorflow> {
  assertKnownOptions('loadTensorflow', options, LOAD_TENSORFLOW_OPTION_NAMES);
  const choice = parseBackendChoice(options.backend ?? process.env['EVENHAND_TF_BACKEND'] ?? 'auto');
  const loaded = choice === 'auto' ? await loadForWork(options) : await loadNamed(choice);
  current = loaded.tf;
  return loaded;
}

/**
 * Returns the TensorFlow.js instance of the caller's tensors: the last loaded instance or, if no instance was loaded,
 * the plain package with its active backend.
 */
export function currentTensorflow(): Tf {
  current ??= quiet(require('@tensorflow/tfjs') as Tf);
  return current;
}

/**
 * Returns the TensorFlow.js instance that is in use. If no instance is in use, starts the backend that `auto` chooses,
 * because plain TensorFlow.js would use its slow cpu backend.
 */
export async function tensorflowInUse(): Promise<Tf> {
  const { _tfengine: engine } = globalThis as { readonly _tfengine?: { readonly backendName?: string } };
  if (current !== undefined || engine?.backendName !== undefined) return currentTensorflow();
  return (await loadTensorflow()).tf;
}

/** Returns the backend that holds the caller's tensors; 'auto' if none is active. */
export function backendInUse(): BackendChoice {
  const { _tfengine: engine } = globalThis as { readonly _tfengine?: { readonly backendName?: string } };
  const names = TENSOR_BACKENDS.filter((backend) => NAMES_IN_TFJS[backend] === engine?.backendName);
  const isGpu = names.length > 1 && isOnDevice(currentTensorflow());
  return names.find((name) => (name === 'node-gpu') === isGpu) ?? 'auto';
}

/** Tries every backend and reports which backends can be used, for `evenhand doctor`. */
export async function probeBackends(): Promise<BackendReport[]> {
  const reports: BackendReport[] = [];
  for (const name of TENSOR_BACKENDS) reports.push(await probe(name));
  return reports;
}

/** Returns whether the machine has an NVIDIA device, based on the driver's files. */
export function hasNvidiaDevice(): boolean {
  return hasNvidiaGpu(thisHost());
}

/** Returns the driver's description of a loaded backend's device; null if the backend computes on the processor. */
export function deviceOf(backend: TensorBackend): string | null {
  if (backend === 'webgpu') return webGpuAdapter();
  const models = backend === 'node-gpu' ? nvidiaModels(thisHost()) : [];
  return models.length === 0 ? null : models.join(', ');
}

async function loadNamed(backend: TensorBackend): Promise<Tensorflow> {
  try {
    return { tf: await start(backend, { allowSoftware: true }), backend, passedOver: [] };
  } catch (cause) {
    const { reason, missing } = unavailable(cause);
    const [first] = missing;
    throw new DependencyError(`The tensor backend '${backend}' cannot start: ${reason}.`, {
      context: { backend, missing: missing.map(({ what }) => what) },
      suggestion:
        first === undefined ? 'Check which backends work: evenhand doctor' : asOneLine(first.mend, missing.length > 1),
      cause,
    });
  }
}

/**
 * The backend that `auto` chose. It is cached, so that `auto` searches and reports only once, even for concurrent
 * calls.
 */
let found: Promise<Tensorflow> | undefined;

async function loadFirst(): Promise<Tensorflow> {
  found ??= findFirst().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  const loaded = await found;
  // Another backend may have been set after `auto` made its choice.
  await start(loaded.backend, { allowSoftware: false });
  return loaded;
}

/** Loads the choice of `auto`, or wasm if the choice is `node` and there is little work per step. */
async function loadForWork(options: LoadTensorflowOptions): Promise<Tensorflow> {
  const first = await loadFirst();
  if (first.backend !== 'node') return first;
  // Read only here, because a getter may compute it from the data.
  const { workPerStep = Infinity } = options;
  if (workPerStep >= WORTH_NATIVE) return first;
  const tf = await start('wasm', { allowSoftware: false }).catch(() => undefined);
  if (tf === undefined) return loadFirst();
  const reason = `it is faster only from ${String(WORTH_NATIVE)} multiplications per step, but there are ${String(workPerStep)}`;
  const passedOver = [...first.passedOver, { name: 'node' as const, available: true, reason, missing: [] }];
  return { tf, backend: 'wasm', passedOver };
}

async function findFirst(): Promise<Tensorflow> {
  const passedOver: BackendReport[] = [];
  for (const backend of TENSOR_BACKENDS) {
    const tf = await start(backend, { allowSoftware: false }).catch((cause: unknown) => {
      passedOver.push({ name: backend, available: false, ...unavailable(cause) });
    });
    if (tf === undefined) continue;
    report(backend, passedOver);
    return { tf, backend, passedOver };
  }
  throw new DependencyError('No tensor backend can start.', {
    context: { backends: passedOver },
    suggestion: 'Run: evenhand doctor',
  });
}

/** Throws if a backend that started cannot add two numbers, for example because its native library is incomplete. */
async function assertComputes(tf: Tf): Promise<void> {
  const sum = tf.tidy(() => tf.add(tf.tensor1d([1, 2]), 0.5));
  try {
    const values = [...(await sum.data())];
    if (values.join() !== '1.5,2.5') throw new Error(`it computes [1, 2] + 0.5 = [${values.join(', ')}]`);
  } finally {
    sum.dispose();
  }
}

function report(backend: TensorBackend, passedOver: readonly BackendReport[]): void {
  const why = passedOver.map(({ name, reason }) => `${name}: ${reason ?? ''}`).join('; ');
  getLogger().debug(`tensor backend ${backend}${why === '' ? '' : ` (skipped ${why})`}`);
  if (hasNvidiaDevice() && (backend === 'node' || backend === 'wasm' || backend === 'cpu')) {
    getLogger().warn(
      `This machine has an NVIDIA device, but tensors are computed on the CPU (${backend}). ${wayToGpu(passedOver)}`,
    );
  }
}

function wayToGpu(passedOver: readonly BackendReport[]): string {
  const [nearest] = routesToGpu(passedOver);
  const [first] = nearest?.missing ?? [];
  if (nearest === undefined || first === undefined) return 'To see why, run: evenhand doctor';
  return `The closest to working is ${nearest.name}: ${first.what}. ${asOneLine(first.mend, true)}`;
}

async function probe(name: TensorBackend): Promise<BackendReport> {
  try {
    await start(name, { allowSoftware: false });
    return { name, available: true, reason: null, missing: [] };
  } catch (cause) {
    return { name, available: false, ...unavailable(cause) };
  }
}

/** Whether a software GPU is acceptable. */
interface StartOptions {
  readonly allowSoftware: boolean;
}

async function start(backend: TensorBackend, options: StartOptions): Promise<Tf> {
  await admit(backend, options);
  const isFirst = !started.has(backend);
  const starting = started.get(backend) ?? STARTERS[backend]();
  started.set(backend, starting);
  try {
    const tf = await starting;
    await inTurn(async () => {
      await activate(tf, NAMES_IN_TFJS[backend]);
      if (isFirst) await assertComputes(tf);
    });
    return tf;
  } catch (cause) {
    started.delete(backend);
    throw cause;
  }
}

/**
 * Rejects backends that cannot work before loading them, because TensorFlow's native library and Dawn print long
 * messages to stderr. This check runs at every start, because a backend that was started by name may be a software GPU.
 */
async function admit(backend: TensorBackend, { allowSoftware }: StartOptions): Promise<void> {
  if (!started.has(backend)) {
    const missing = diagnose(backend, thisHost());
    if (missing.length > 0) throw new UnavailableBackend(missing);
  }
  if (backend === 'webgpu') await seekWebGpu(allowSoftware);
}

async function activate(tf: Tf, name: string): Promise<void> {
  const isSet = await withoutNewListeners(() => tf.setBackend(name));
  if (!isSet)
    throw new Error(`TensorFlow.js did not start the backend ${name}${name === 'webgpu' ? whyNoDevice() : ''}`);
  await tf.ready();
  if (name === 'webgpu') watchDevice(tf.backend(), forgetWebGpu);
}

/** Discards the WebGPU backend: its next start uses a new device, and `auto` chooses a backend again. */
function forgetWebGpu(): void {
  started.delete('webgpu');
  found = undefined;
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Runs work after the previous work has finished. If two backends are set at the same time, TensorFlow.js rejects the
 * first request.
 */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(work, work);
  lastTurn = turn;
  return turn;
}

/**
 * Runs work and removes the process-wide error handlers that the work added. The wasm backend's handlers would turn any
 * rejection in the host program into a crash.
 */
async function withoutNewListeners<T>(work: () => Promise<T>): Promise<T> {
  const events = ['uncaughtException', 'unhandledRejection'];
  const before = events.map((event) => process.listeners(event as NodeJS.Signals));
  try {
    return await work();
  } finally {
    events.forEach((event, index) => {
      for (const listener of process.listeners(event as NodeJS.Signals)) {
        if (before[index]?.includes(listener) === false) process.removeListener(event, listener);
      }
    });
  }
}

const NAMES_IN_TFJS: Readonly<Record<TensorBackend, string>> = {
  'node-gpu': 'tensorflow',
  webgpu: 'webgpu',
  node: 'tensorflow',
  wasm: 'wasm',
  cpu: 'cpu',
};

const STARTERS: Readonly<Record<TensorBackend, () => Promise<Tf>>> = {
  'node-gpu': async () => {
    const tf = await importNative('@tensorflow/tfjs-node-gpu');
    const native = tf.backend() as { readonly isUsingGpuDevice?: boolean };
    if (native.isUsingGpuDevice !== true) throw new UnavailableBackend([NO_GPU_SEEN]);
    return tf;
  },
  webgpu: async () => {
    // Dawn must be on the global object before TensorFlow.js first inspects its environment.
    await openWebGpu();
    const tf = quiet(await import('@tensorflow/tfjs'));
    await import('@tensorflow/tfjs-backend-webgpu');
    replaceLostDevice(tf);
    makeProductsRepeatable(tf);
    return tf;
  },
  node: () => importNative('@tensorflow/tfjs-node'),
  wasm: async () => {
    const tf = quiet(await import('@tensorflow/tfjs'));
    await import('@tensorflow/tfjs-backend-wasm');
    return tf;
  },
  cpu: async () => quiet(await import('@tensorflow/tfjs')),
};

/** The missing part that is reported if the library finds no GPU, although the diagnosis found no missing part. */
const NO_GPU_SEEN = {
  what: 'its native library finds no GPU, although the driver, CUDA and cuDNN are installed',
  mend: 'TensorFlow printed the reason to stderr when it was loaded. Also check whether the driver responds:\nnvidia-smi',
};

/**
 * Defines `util.isNullOrUndefined` and `util.isArray`, which version 4.22 of TensorFlow's native packages calls in every
 * operation. Node 23 removed them, and Node 22 prints a deprecation warning at the first call.
 */
export function restoreRemovedUtil(target: { isNullOrUndefined?: unknown; isArray?: unknown } = util): void {
  target.isNullOrUndefined = (value: unknown) => value === null || value === undefined;
  target.isArray = Array.isArray;
}

/** Loads a package that contains TensorFlow's native library. */
async function importNative(name: '@tensorflow/tfjs-node' | '@tensorflow/tfjs-node-gpu'): Promise<Tf> {
  restoreRemovedUtil();
  // The library reads these variables when it is loaded. oneDNN would change the last digits from machine to machine.
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2';
  process.env['TF_ENABLE_ONEDNN_OPTS'] ??= '0';
  const loaded = (await import(name)) as Tf & { readonly default?: Tf };
  const tf = quiet(loaded.default ?? loaded);
  if (!tf.engine().backendNames().includes('tensorflow'))
    throw new Error(`the package found as '${name}' has no native library`);
  await tf.setBackend('tensorflow');
  return tf;
}

/** Prevents TensorFlow.js from printing its advice to install another package. */
function quiet(tf: Tf): Tf {
  tf.enableProdMode();
  return tf;
}

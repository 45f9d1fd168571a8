import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

import { ConfigValidationError, DependencyError } from '../exceptions/index.ts';
import { getLogger } from '../internal/logger.ts';
import { installCommand, type OptionalPackage } from '../internal/optional.ts';
import { openWebGpu } from './webgpu.ts';

/** TensorFlow.js, whichever package of it was loaded. */
export type Tf = typeof import('@tensorflow/tfjs');

/** The places where tensors can be computed, best first. */
export const TENSOR_BACKENDS = ['node-gpu', 'webgpu', 'node', 'wasm', 'cpu'] as const;

/** One of {@link TENSOR_BACKENDS}. */
export type TensorBackend = (typeof TENSOR_BACKENDS)[number];

/** A backend by name, or `auto`: the first that works. */
export type BackendChoice = TensorBackend | 'auto';

/** Whether a backend can be used here, and if not, why. */
export interface BackendReport {
  readonly name: TensorBackend;
  readonly available: boolean;
  readonly reason: string | null;
}

/** TensorFlow.js, ready for work. */
export interface Tensorflow {
  readonly tf: Tf;
  readonly backend: TensorBackend;
  /** The backends that `auto` passed over, with the reasons. */
  readonly passedOver: readonly BackendReport[];
}

const require = createRequire(import.meta.url);
const started = new Map<TensorBackend, Promise<Tf>>();
let current: Tf | undefined;

/**
 * Loads TensorFlow.js on a backend.
 *
 * `auto` takes the first backend that works, in the order of
 * {@link TENSOR_BACKENDS}; it never takes a software GPU. A named backend that
 * cannot start is an error: there is no silent fall-back.
 * @param options.backend the backend; `EVENHAND_TF_BACKEND`, else `auto`, when left out
 * @throws {DependencyError} where a named backend cannot start, with the reason and the mend
 * @throws {ConfigValidationError} for an unknown backend name
 */
export async function loadTensorflow(
  options: { readonly backend?: BackendChoice | undefined } = {},
): Promise<Tensorflow> {
  const choice = parseChoice(options.backend ?? process.env['EVENHAND_TF_BACKEND'] ?? 'auto');
  const loaded = choice === 'auto' ? await loadFirst() : await loadNamed(choice);
  current = loaded.tf;
  return loaded;
}

/**
 * The TensorFlow.js that the caller's tensors belong to: the one loaded last,
 * else the plain package with whatever backend is active in it.
 */
export function currentTensorflow(): Tf {
  current ??= quiet(require('@tensorflow/tfjs') as Tf);
  return current;
}

/** Tries every backend and tells which can be used; for `evenhand doctor`. */
export async function probeBackends(): Promise<BackendReport[]> {
  const reports: BackendReport[] = [];
  for (const name of TENSOR_BACKENDS) reports.push(await probe(name));
  return reports;
}

/** Whether the machine has an NVIDIA device, by its driver's files. */
export function hasNvidiaDevice(): boolean {
  return existsSync('/proc/driver/nvidia/version') || existsSync('/dev/nvidia0');
}

function parseChoice(given: string): BackendChoice {
  const known = ['auto', ...TENSOR_BACKENDS] as const;
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ConfigValidationError(`The tensor backend must be one of ${known.join(', ')}. Got '${given}' instead.`, {
    context: { backend: given },
    suggestion: 'Check --backend and EVENHAND_TF_BACKEND.',
  });
}

async function loadNamed(backend: TensorBackend): Promise<Tensorflow> {
  try {
    return { tf: await start(backend), backend, passedOver: [] };
  } catch (cause) {
    const reason = reasonOf(cause);
    const mend = MENDS[backend];
    const isMissing = /not installed|no native library/.test(reason) && !reason.includes('driver');
    throw new DependencyError(`The tensor backend '${backend}' cannot start: ${reason}.`, {
      context: { backend },
      suggestion:
        mend !== undefined && isMissing
          ? `Install it with: ${installCommand(mend)}`
          : 'See what works here: evenhand doctor',
      cause,
    });
  }
}

/** What `auto` found, so that it looks and tells once, also when asked twice at once. */
let found: Promise<Tensorflow> | undefined;

async function loadFirst(): Promise<Tensorflow> {
  found ??= findFirst().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  const loaded = await found;
  // Another backend may have been set since.
  await start(loaded.backend);
  return loaded;
}

async function findFirst(): Promise<Tensorflow> {
  const passedOver: BackendReport[] = [];
  for (const backend of TENSOR_BACKENDS) {
    const tf = await start(backend, { allowSoftware: false }).catch((cause: unknown) => {
      passedOver.push({ name: backend, available: false, reason: reasonOf(cause) });
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

function report(backend: TensorBackend, passedOver: readonly BackendReport[]): void {
  const why = passedOver.map(({ name, reason }) => `${name}: ${reason ?? ''}`).join('; ');
  getLogger().info(`tensor backend ${backend}${why === '' ? '' : ` (passed over ${why})`}`);
  if (hasNvidiaDevice() && (backend === 'node' || backend === 'wasm' || backend === 'cpu')) {
    getLogger().warn(
      `This machine has an NVIDIA device, but tensors are computed on the CPU (${backend}). ` +
        `For the GPU run: ${installCommand('@tensorflow/tfjs-node-gpu')}`,
    );
  }
}

async function probe(name: TensorBackend): Promise<BackendReport> {
  try {
    await start(name, { allowSoftware: false });
    return { name, available: true, reason: null };
  } catch (cause) {
    return { name, available: false, reason: reasonOf(cause) };
  }
}

/** Whether a software GPU will do. */
interface StartOptions {
  readonly allowSoftware: boolean;
}

async function start(backend: TensorBackend, options: StartOptions = { allowSoftware: true }): Promise<Tf> {
  const earlier = started.get(backend);
  const starting = earlier ?? STARTERS[backend](options);
  started.set(backend, starting);
  try {
    const tf = await starting;
    await inTurn(() => activate(tf, NAMES_IN_TFJS[backend]));
    return tf;
  } catch (cause) {
    started.delete(backend);
    throw cause;
  }
}

async function activate(tf: Tf, name: string): Promise<void> {
  const isSet = await withoutNewListeners(() => tf.setBackend(name));
  if (!isSet) throw new Error(`TensorFlow.js refused backend ${name}`);
  await tf.ready();
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Runs work after the work before it: of two backends set at once TensorFlow.js refuses the first. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(work, work);
  lastTurn = turn;
  return turn;
}

/**
 * Runs work and takes away the process-wide error handlers that it added: the
 * wasm backend's would turn any rejection of the host program into a crash.
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

/** The package whose installation mends a backend that cannot start. */
const MENDS: Readonly<Partial<Record<TensorBackend, OptionalPackage>>> = {
  'node-gpu': '@tensorflow/tfjs-node-gpu',
  webgpu: '@tensorflow/tfjs-backend-webgpu',
  node: '@tensorflow/tfjs-node',
};

const STARTERS: Readonly<Record<TensorBackend, (options: StartOptions) => Promise<Tf>>> = {
  'node-gpu': async () => {
    const tf = await importNative('@tensorflow/tfjs-node-gpu');
    const native = tf.backend() as { readonly isUsingGpuDevice?: boolean };
    if (native.isUsingGpuDevice !== true) throw new Error('its native library sees no GPU');
    return tf;
  },
  webgpu: async ({ allowSoftware }) => {
    // Dawn must stand on the global object before TensorFlow.js first looks at its surroundings.
    await openWebGpu(allowSoftware);
    const tf = quiet(await import('@tensorflow/tfjs'));
    await import('@tensorflow/tfjs-backend-webgpu');
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

/** Loads a package that brings TensorFlow's native library. */
async function importNative(name: '@tensorflow/tfjs-node' | '@tensorflow/tfjs-node-gpu'): Promise<Tf> {
  const loaded = (await import(name)) as Tf & { readonly default?: Tf };
  const tf = quiet(loaded.default ?? loaded);
  if (!tf.engine().backendNames().includes('tensorflow'))
    throw new Error(`the package found as '${name}' has no native library`);
  await tf.setBackend('tensorflow');
  return tf;
}

/** Keeps TensorFlow.js from printing its advice to install another package. */
function quiet(tf: Tf): Tf {
  tf.enableProdMode();
  return tf;
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const missing = /Cannot find (?:package|module) '([^']+)'/.exec(text)?.[1];
  if (missing !== undefined) return `the package '${missing}' is not installed`;
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}

import '@tensorflow/tfjs-backend-wasm';

import * as tfjs from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import simd from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url';
import plain from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url';

import { DependencyError, FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { makeProductsRepeatable } from '../../../src/tensor/repeatable-products.ts';
import type { LoadTensorflowOptions, Tensorflow, Tf } from '../../../src/tensor/runtime.ts';
import { absent } from './absent.ts';

/** Replaces `src/tensor/runtime.ts` in a browser, which has TensorFlow.js in WebAssembly and on WebGPU. */

type Backend = 'wasm' | 'webgpu';

let started: Promise<Tensorflow> | undefined;
let current: Backend = 'wasm';

/**
 * Starts TensorFlow.js. A worker uses one backend: later calls return the first one.
 * @throws {DependencyError} if the browser does not have what the backend needs
 */
export function loadTensorflow({ backend }: LoadTensorflowOptions = {}): Promise<Tensorflow> {
  return (started ??= backend === 'webgpu' ? startWebGpu() : startWasm());
}

/** What went wrong on the GPU: its numbers may be wrong from then on. */
let gpuProblem: string | undefined;

/**
 * The time in which a browser says that a device is lost, in milliseconds: after an error that names its own cause, and
 * after any other, which most likely comes from the GPU. A browser under load needs seconds.
 */
const LOSS_MILLIS = { known: 500, unknown: 5000 };

/**
 * Does work, and checks that the GPU was there during all of it and reported no error.
 * @throws {DependencyError} if the GPU was lost, or ran out of memory
 */
export async function onWorkingGpu<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work();
    // Errors are reported after the work that caused them.
    if (current === 'webgpu') await gpu().queue.onSubmittedWorkDone();
    if (gpuProblem === undefined) return result;
  } catch (error) {
    if (current !== 'webgpu') throw error;
    const millis = FairnessToolkitError.isInstance(error) ? LOSS_MILLIS.known : LOSS_MILLIS.unknown;
    await Promise.race([gpu().device.lost, new Promise((resolve) => setTimeout(resolve, millis))]);
    // The browser's own errors, such as that of a buffer which cannot be read, come from the GPU in any case.
    if (gpuProblem === undefined && error instanceof DOMException) gpuProblem = error.message;
    if (gpuProblem === undefined) throw error;
  }
  throw new DependencyError(`The graphics processor failed: ${gpuProblem}`, {
    suggestion: 'Train on the processor instead, or close other pages and try again.',
  });
}

function gpu(): GpuBackend {
  return tfjs.backend() as unknown as GpuBackend;
}

/** The parts of the backend that show what happens to its device. */
interface GpuBackend {
  readonly queue: { onSubmittedWorkDone(): Promise<undefined> };
  readonly device: {
    readonly lost: Promise<{ readonly message: string }>;
    addEventListener(
      name: 'uncapturederror',
      listener: (event: { readonly error: { readonly message: string } }) => void,
    ): void;
  };
}

async function startWebGpu(): Promise<Tensorflow> {
  await import('@tensorflow/tfjs-backend-webgpu');
  tfjs.enableProdMode();
  if (!(await tfjs.setBackend('webgpu'))) {
    throw new DependencyError('This browser does not let pages use the graphics processor (WebGPU).', {
      suggestion: 'Train on the processor instead.',
    });
  }
  current = 'webgpu';
  const { device } = gpu();
  void device.lost.then(({ message }) => {
    gpuProblem ??= message === '' ? 'it was lost.' : message;
  });
  device.addEventListener('uncapturederror', ({ error }) => {
    gpuProblem ??= error.message;
  });
  await tfjs.ready();
  makeProductsRepeatable(tfjs);
  return { tf: tfjs, backend: 'webgpu', passedOver: [] };
}

async function startWasm(): Promise<Tensorflow> {
  // Without shared memory, no page uses the binary with threads.
  setWasmPaths({
    'tfjs-backend-wasm.wasm': plain,
    'tfjs-backend-wasm-simd.wasm': simd,
    'tfjs-backend-wasm-threaded-simd.wasm': simd,
  });
  tfjs.enableProdMode();
  if (!(await tfjs.setBackend('wasm'))) {
    throw new DependencyError('TensorFlow.js cannot start in this browser.', {
      suggestion: 'Use a browser with WebAssembly, or train on the command line.',
    });
  }
  await tfjs.ready();
  return { tf: tfjs, backend: 'wasm', passedOver: [] };
}

/** Returns TensorFlow.js. */
export function currentTensorflow(): Tf {
  return tfjs;
}

/** Returns TensorFlow.js after its start. */
export async function tensorflowInUse(): Promise<Tf> {
  return (await loadTensorflow()).tf;
}

/** Returns the backend of this worker. */
export function backendInUse(): Backend {
  return current;
}

/** Returns that the backend has no device. */
export function deviceOf(): null {
  return null;
}

export { absent as hasNvidiaDevice, absent as probeBackends, absent as restoreRemovedUtil };

import '@tensorflow/tfjs-backend-wasm';

import * as tfjs from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import simd from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm?url';
import plain from '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm?url';

import { DependencyError } from '../../../src/exceptions/index.ts';
import type { LoadTensorflowOptions, Tensorflow, Tf } from '../../../src/tensor/runtime.ts';
import { absent } from './absent.ts';

/** Replaces `src/tensor/runtime.ts` in a browser, which has TensorFlow.js in WebAssembly. */

let started: Promise<Tensorflow> | undefined;

/**
 * Starts TensorFlow.js.
 * @throws {DependencyError} if the browser has no WebAssembly
 */
export function loadTensorflow(_options: LoadTensorflowOptions = {}): Promise<Tensorflow> {
  return (started ??= start());
}

async function start(): Promise<Tensorflow> {
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

/** Returns the only backend. */
export function backendInUse(): 'wasm' {
  return 'wasm';
}

/** Returns that the backend has no device. */
export function deviceOf(): null {
  return null;
}

export { absent as hasNvidiaDevice, absent as probeBackends, absent as restoreRemovedUtil };

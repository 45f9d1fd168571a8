import type { KernelFunc, TensorInfo } from '@tensorflow/tfjs';

import type { Tf } from './tf.ts';

/** How the WebGPU backend is told which kernel to take for a product; -1 where it chooses. */
const PROGRAM_FLAG = 'WEBGPU_MATMUL_PROGRAM_TYPE';

/** The kernel for products with few results. */
const SMALL_OUTPUT = 2;

/** From so long sums on TensorFlow.js cuts them into parts that are added in any order. */
const LONG_SUM = 2000;

/** Results up to which another kernel is taken anyway. */
const FEW_RESULTS = 128;

const TILE = 32;

/** The part of the WebGPU backend that its own choice goes by. */
interface WebGpuBackend {
  readonly thresholdToIncreaseWorkgroups: number;
}

let isRepeatable = false;

/**
 * Makes products on WebGPU the same each time. For long sums with few results TensorFlow.js lets parts of a sum be added
 * by whichever thread comes first, so that the last digits differ from run to run; trained networks then differ too.
 */
export function makeProductsRepeatable(tf: Tf): void {
  const kernel = tf.getKernel('BatchMatMul', 'webgpu') as { kernelFunc: KernelFunc } | null | undefined;
  if (isRepeatable || kernel === null || kernel === undefined) return;
  isRepeatable = true;
  const choosing = kernel.kernelFunc;
  tf.unregisterKernel('BatchMatMul', 'webgpu');
  tf.registerKernel({
    kernelName: 'BatchMatMul',
    backendName: 'webgpu',
    kernelFunc: (call) => {
      if (!isCutIntoParts(call as unknown as Product)) return choosing(call);
      const chosen = tf.env().get(PROGRAM_FLAG);
      tf.env().set(PROGRAM_FLAG, SMALL_OUTPUT);
      try {
        return choosing(call);
      } finally {
        tf.env().set(PROGRAM_FLAG, chosen);
      }
    },
  });
}

/** A product as the kernel is asked for it. */
interface Product {
  readonly inputs: { readonly a: TensorInfo; readonly b: TensorInfo };
  readonly attrs: { readonly transposeA: boolean; readonly transposeB: boolean };
  readonly backend: WebGpuBackend;
}

/** Whether the backend would cut the sums of a product into parts. */
function isCutIntoParts({ inputs: { a, b }, attrs, backend }: Product): boolean {
  const [rowsOfA = 1, columnsOfA = 1] = a.shape.slice(-2);
  const [rowsOfB = 1, columnsOfB = 1] = b.shape.slice(-2);
  const [rows, inner] = attrs.transposeA ? [columnsOfA, rowsOfA] : [rowsOfA, columnsOfA];
  const columns = attrs.transposeB ? rowsOfB : columnsOfB;
  if (inner < LONG_SUM || rows * columns <= FEW_RESULTS) return false;
  const isOne = [a, b].every(({ shape }) => shape.slice(0, -2).every((length) => length === 1));
  const tiles = Math.ceil(rows / TILE) * Math.ceil(columns / TILE);
  return isOne && tiles <= 2 * backend.thresholdToIncreaseWorkgroups;
}

import type { KernelFunc, TensorInfo } from '@tensorflow/tfjs';

import type { Tf } from './tf.ts';

/**
 * The name of the flag that selects the WebGPU backend's kernel for matrix products. If the flag is -1, the backend
 * chooses the kernel.
 */
const PROGRAM_FLAG = 'WEBGPU_MATMUL_PROGRAM_TYPE';

/** The value of the flag that selects the kernel for products with few results. */
const SMALL_OUTPUT = 2;

/** TensorFlow.js splits sums of at least this length into parts and adds the parts in an unspecified order. */
const LONG_SUM = 2000;

/** If a product has at most this number of results, TensorFlow.js always uses a kernel that does not split sums. */
const FEW_RESULTS = 128;

const TILE = 32;

/** The part of the WebGPU backend that determines which kernel it uses. */
interface WebGpuBackend {
  readonly thresholdToIncreaseWorkgroups: number;
}

let isRepeatable = false;

/**
 * Makes products on WebGPU reproducible. For long sums with few results, TensorFlow.js adds parts of a sum in the order
 * in which threads finish. The last digits, and therefore trained networks, would then differ from run to run.
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

/** The arguments of the kernel for a product. */
interface Product {
  readonly inputs: { readonly a: TensorInfo; readonly b: TensorInfo };
  readonly attrs: { readonly transposeA: boolean; readonly transposeB: boolean };
  readonly backend: WebGpuBackend;
}

/** Returns whether the backend would split the sums of a product into parts. */
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

import { installCommand } from '../internal/optional.ts';
import { VERSION } from '../internal/version.ts';
import {
  type BackendReport,
  hasNvidiaDevice,
  loadTensorflow,
  probeBackends,
  type TensorBackend,
  type Tf,
  webGpuAdapter,
} from '../tensor/index.ts';

/** What `evenhand doctor` tells, as JSON has it. */
export interface DoctorReport {
  readonly version: string;
  readonly node: string;
  readonly chosen: TensorBackend;
  readonly backends: readonly BackendReport[];
  readonly adapter: string | null;
  /** Median time of a 512 x 512 matrix product on the chosen backend. */
  readonly matmul_ms: number;
  /** What would make training faster here; null where nothing obvious would. */
  readonly advice: string | null;
}

const MATRIX_SIZE = 512;
const REPEATS = 5;

/** Looks at every tensor backend and times the chosen one. */
export async function examine(): Promise<DoctorReport> {
  const backends = await probeBackends();
  // Named by the environment, or the first that works; doctor tells what is wrong with a name and goes on.
  const named = await loadTensorflow().catch((error: unknown) => error as Error);
  const { tf, backend } = named instanceof Error ? await loadTensorflow({ backend: 'auto' }) : named;
  const isOnGpu = backend === 'node-gpu' || backend === 'webgpu';
  return {
    version: VERSION,
    node: process.versions.node,
    chosen: backend,
    backends,
    adapter: webGpuAdapter(),
    matmul_ms: await timeMatmul(tf),
    advice:
      named instanceof Error
        ? `EVENHAND_TF_BACKEND is not followed: ${named.message}`
        : hasNvidiaDevice() && !isOnGpu
          ? `This machine has an NVIDIA device that is not used. Try: ${installCommand('@tensorflow/tfjs-node-gpu')}`
          : null,
  };
}

async function timeMatmul(tf: Tf): Promise<number> {
  const a = tf.randomUniform([MATRIX_SIZE, MATRIX_SIZE], 0, 1, 'float32', 1);
  const times: number[] = [];
  // The first run compiles and does not count.
  for (let run = 0; run <= REPEATS; run++) {
    const start = performance.now();
    const product = tf.tidy(() => tf.matMul(a, a).sum());
    await product.data();
    product.dispose();
    if (run > 0) times.push(performance.now() - start);
  }
  a.dispose();
  return times.sort((x, y) => x - y)[Math.floor(REPEATS / 2)] ?? NaN;
}

import { VERSION } from '../internal/version.ts';
import type { NumericsFinding } from '../numerics/numerics-case.ts';
import {
  type BackendChoice,
  type BackendReport,
  deviceOf,
  hasNvidiaDevice,
  isGpuRoute,
  loadTensorflow,
  onDeviceAlone,
  probeBackends,
  routesToGpu,
  type TensorBackend,
  type Tf,
} from '../tensor/index.ts';

/** The report of `evenhand doctor`, with the keys of its JSON. */
export interface DoctorReport {
  readonly version: string;
  readonly node: string;
  readonly chosen: TensorBackend;
  readonly backends: readonly BackendReport[];
  /** The name of the device of the chosen backend; null if it has no device. */
  readonly adapter: string | null;
  /** Median time of a 512 x 512 matrix product on the chosen backend. */
  readonly matmul_ms: number;
  /** Advice for faster training on this machine; null if there is none. */
  readonly advice: string | null;
  /** Differences between the chosen backend and float64 reference values; null if the check was not requested. */
  readonly numerics: readonly NumericsFinding[] | null;
}

/** Options of {@link examine}. */
export interface ExamineOptions {
  /**
   * The backend to examine.
   * @defaultValue the backend set in the environment, else the first that works
   */
  readonly backend?: BackendChoice | undefined;
  /**
   * Whether to check every tensor op against float64 reference values.
   * @defaultValue false
   */
  readonly numerics?: boolean | undefined;
}

const MATRIX_SIZE = 512;
const REPEATS = 5;

/**
 * Probes every tensor backend and times the chosen one. If the requested backend cannot start, no error is thrown. In
 * this case, `advice` gives the reason, and the rest of the report describes the first backend that works, without the
 * numerics check.
 */
export async function examine({ backend: wanted, numerics = false }: ExamineOptions = {}): Promise<DoctorReport> {
  const backends = await probeBackends();
  const named = await loadTensorflow({ backend: wanted }).catch((error: unknown) => error as Error);
  const failure = named instanceof Error ? named : null;
  const { tf, backend } = named instanceof Error ? await loadTensorflow({ backend: 'auto' }) : named;
  return {
    version: VERSION,
    node: process.versions.node,
    chosen: backend,
    backends,
    adapter: deviceOf(backend),
    matmul_ms: await timeMatmul(tf),
    advice: failure === null ? adviceFor(backend, backends) : `${failure.message} Examined instead: ${backend}.`,
    numerics: numerics && failure === null ? await checkOps(tf) : null,
  };
}

/**
 * Compares every tensor op with float64. The test cases are loaded only when this function is called, because no other
 * code needs them.
 */
async function checkOps(tf: Tf): Promise<readonly NumericsFinding[]> {
  const { checkNumerics } = await import('../numerics/check-numerics.ts');
  return onDeviceAlone(tf, () => checkNumerics(tf));
}

function adviceFor(backend: TensorBackend, backends: readonly BackendReport[]): string | null {
  if (isGpuRoute(backend) || !hasNvidiaDevice()) return null;
  const [route] = routesToGpu(backends);
  const nearest =
    route === undefined ? '' : ` The backend that comes closest to working is ${route.name}: ${route.reason ?? ''}.`;
  return `This machine has an NVIDIA device that is not used.${nearest}`;
}

async function timeMatmul(tf: Tf): Promise<number> {
  const a = tf.randomUniform([MATRIX_SIZE, MATRIX_SIZE], 0, 1, 'float32', 1);
  const times: number[] = [];
  // The first run compiles kernels and is not timed.
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

import { VERSION } from '../internal/version.ts';
import {
  type BackendChoice,
  type BackendReport,
  checkNumerics,
  deviceOf,
  hasNvidiaDevice,
  isGpuRoute,
  loadTensorflow,
  type NumericsFinding,
  onDeviceAlone,
  probeBackends,
  routesToGpu,
  type TensorBackend,
  type Tf,
} from '../tensor/index.ts';

/** What `evenhand doctor` tells, as JSON has it. */
export interface DoctorReport {
  readonly version: string;
  readonly node: string;
  readonly chosen: TensorBackend;
  readonly backends: readonly BackendReport[];
  /** The device of the chosen backend, in words; null where it has none of its own. */
  readonly adapter: string | null;
  /** Median time of a 512 x 512 matrix product on the chosen backend. */
  readonly matmul_ms: number;
  /** What would make training faster here; null where nothing obvious would. */
  readonly advice: string | null;
  /** How the chosen backend answered what is known in float64; null where it was not asked. */
  readonly numerics: readonly NumericsFinding[] | null;
}

/** What {@link examine} takes. */
export interface ExamineOptions {
  /**
   * The backend to examine.
   * @defaultValue the environment's, else the first that works
   */
  readonly backend?: BackendChoice | undefined;
  /**
   * Whether to ask every tensor op what is known in float64.
   * @defaultValue false
   */
  readonly numerics?: boolean | undefined;
}

const MATRIX_SIZE = 512;
const REPEATS = 5;

/**
 * Looks at every tensor backend, and times the chosen one. A named backend that
 * cannot start is no error here: `advice` tells why, and the rest is told of the
 * first backend that works; its numerics then are not asked.
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
    numerics: numerics && failure === null ? await onDeviceAlone(tf, () => checkNumerics(tf)) : null,
  };
}

function adviceFor(backend: TensorBackend, backends: readonly BackendReport[]): string | null {
  if (isGpuRoute(backend) || !hasNvidiaDevice()) return null;
  const [route] = routesToGpu(backends);
  const nearest = route === undefined ? '' : ` Nearest to working is ${route.name}: ${route.reason ?? ''}.`;
  return `This machine has an NVIDIA device that is not used.${nearest}`;
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

import { createRandom } from '../../src/internal/random.ts';
import { loadTensorflow, type TensorBackend } from '../../src/tensor/index.ts';
import { type CalibrationMethod, GroupFairnessCalibrator } from '../../src/training/index.ts';
import { assertResult, type Note } from './report.ts';

const ROWS = 5_000_000;
const GROUPS = 8;
const METHODS = ['platt', 'temperature', 'isotonic'] as const satisfies readonly CalibrationMethod[];

/** The first arrays of the work, as float32 numbers, so that arrays and tensors hold the same values. */
function drawScores(): { scores: Float32Array; y: Float32Array; codes: Int32Array } {
  const random = createRandom(18);
  const codes = Int32Array.from({ length: ROWS }, () => random.integer(GROUPS));
  const scores = Float32Array.from(codes, () => random.next());
  // Group g repays with probability score^(1 + g / 8), so the scores of most groups are too high.
  const y = Float32Array.from(scores, (score, row) =>
    Number(random.next() < score ** (1 + (codes[row] as number) / GROUPS)),
  );
  return { scores, y, codes };
}

/** B18: measures the calibration of five million scores in eight groups, from arrays and from tensors. */
export async function benchCalibration(note: Note): Promise<void> {
  const rows = drawScores();
  const labels = Array.from({ length: GROUPS }, (_, code) => String(code));
  const groups = { kind: 'categorical', codes: rows.codes, labels } as const;
  for (const method of METHODS) {
    const calibrator = new GroupFairnessCalibrator({ method });
    const fitting = await timedAsync(() => calibrator.fit(rows.scores, rows.y, { groups }));
    const applying = await timedAsync(() => calibrator.transform(rows.scores, { groups }));
    noteTimes(note, `${method}, arrays`, fitting.seconds, applying.seconds);
    const expected = applying.result.subarray(0, 1000);
    for (const backend of ['wasm', 'node'] as const) await benchTensors(note, method, backend, rows, expected);
  }
}

async function benchTensors(
  note: Note,
  method: CalibrationMethod,
  backend: TensorBackend,
  rows: ReturnType<typeof drawScores>,
  expected: Float64Array,
): Promise<void> {
  const loaded = await loadTensorflow({ backend }).catch((error: unknown) => {
    console.log(`B18  skipped on ${backend}: ${(error as Error).message}`);
  });
  if (loaded === undefined) return;
  const { tf } = loaded;
  const [scores, y, groups] = [tf.tensor1d(rows.scores), tf.tensor1d(rows.y), tf.tensor1d(rows.codes, 'int32')];
  const calibrator = new GroupFairnessCalibrator({ method });
  const fitting = await timedAsync(() => calibrator.fit(scores, y, { groups }));
  const applying = await timedAsync(async () => {
    const calibrated = await calibrator.transform(scores, { groups });
    const first = calibrated.slice(0, expected.length);
    const values = await first.data();
    tf.dispose([calibrated, first]);
    return values;
  });
  tf.dispose([scores, y, groups]);
  assertResult(
    applying.result.every((value, row) => Math.abs(value - (expected[row] as number)) < 1e-6),
    `calibration by ${method} on ${backend}`,
  );
  noteTimes(note, `${method}, tensors on ${backend}`, fitting.seconds, applying.seconds);
}

function noteTimes(note: Note, what: string, fitting: number, applying: number): void {
  const work = '5 million scores in 8 groups';
  note({ id: 'B18', work: `fit of ${what}, ${work}`, seconds: fitting, bar: 'reported', holds: true });
  note({ id: 'B18', work: `transform of ${what}, ${work}`, seconds: applying, bar: 'reported', holds: true });
}

async function timedAsync<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { seconds: (performance.now() - start) / 1000, result };
}

import { createRandom } from '../../src/internal/random.ts';
import { createBatches, loadTensorflow, type TensorBackend, type Tf, onDeviceAlone } from '../../src/tensor/index.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from '../../src/training/index.ts';
import { createRegularizedObjective } from '../../src/training/networks/regularized-objective.ts';
import { createStackedNetwork } from '../../src/training/networks/stacked-network.ts';
import { trainShard } from '../../src/training/networks/sweep-worker.ts';
import type { AdultRows } from './adult.ts';
import type { AgreementFigures, GradientFigures } from './report.ts';
import { type Found, joinReasons } from './run-part.ts';

/** The maximum difference between gradients, relative to the larger of 1 and the gradient. */
export const GRADIENT_TOLERANCE = 1e-4;

/** The maximum share of rows with a different decision after the same training. */
const MAX_DIFFERING = 0.01;

/** The backend with which the device is compared. */
const REFERENCE = 'wasm';

/** The size of the work. */
export interface AgreementWork {
  readonly epochs: number;
  readonly batchSize: number;
  readonly hidden: readonly number[];
  readonly lr: number;
  readonly seed: number;
}

/** The penalty weights of the compared networks. */
const ETAS = [0.5, 3];

/** Compares one step's gradients of every penalty, and the decisions after the same training, with wasm. */
export async function checkAgreement(
  backend: TensorBackend,
  rows: AdultRows,
  work: AgreementWork,
): Promise<Found<AgreementFigures>> {
  const reference = await answersOf(REFERENCE, rows, work);
  const found = await answersOf(backend, rows, work);
  const gradients = FAIRNESS_PENALTIES.map((penalty) =>
    compareGradients(penalty, found.gradients[penalty], reference.gradients[penalty]),
  );
  const n = rows.test.y.length;
  const decisions = ETAS.map((eta, model) => {
    const [own, other] = [found, reference].map(({ outputs }) => outputs.subarray(model * n, (model + 1) * n));
    return { eta, differing: shareDiffering(own as Float32Array, other as Float32Array) };
  });
  const maxDiffering = Math.max(...decisions.map(({ differing }) => differing));
  // A negated comparison also fails for NaN.
  const far = gradients.filter(({ error }) => !(error <= GRADIENT_TOLERANCE));
  return {
    figures: {
      reference: REFERENCE,
      tolerance: GRADIENT_TOLERANCE,
      gradients,
      epochs: work.epochs,
      rows: n,
      decisions,
      most_differing: MAX_DIFFERING,
    },
    reason: joinReasons([
      far.length === 0 ? null : `gradients of ${far.map(({ penalty }) => penalty).join(', ')} differ`,
      maxDiffering <= MAX_DIFFERING ? null : `${(100 * maxDiffering).toFixed(2)}% of decisions differ`,
    ]),
  };
}

/** The results of one backend. */
interface Answers {
  readonly gradients: Readonly<Record<FairnessPenaltyName, Float32Array>>;
  /** Logits [etas, rows]. */
  readonly outputs: Float32Array;
}

async function answersOf(backend: TensorBackend, rows: AdultRows, work: AgreementWork): Promise<Answers> {
  const { tf } = await loadTensorflow({ backend });
  const gradients: Partial<Record<FairnessPenaltyName, Float32Array>> = {};
  for (const penalty of FAIRNESS_PENALTIES) {
    gradients[penalty] = await onDeviceAlone(tf, () => stepGradients(tf, rows, penalty, work));
  }
  const spec = {
    etas: ETAS,
    penalty: 'mean_gap',
    task: 'binary',
    groupCount: rows.train.groupCount,
    seed: work.seed,
  } as const;
  const options = { ...work, patience: work.epochs, weightDecay: 0, schedule: 'constant' } as const;
  const { train, validation, test } = rows;
  const { heldOut } = await trainShard({ train, validation, heldOut: test, spec, backend, options });
  // The rows are arrays, so the outputs are an array.
  return { gradients: gradients as Answers['gradients'], outputs: heldOut as Float32Array };
}

/** Returns the gradient of every weight of every network after one batch, on the host. */
async function stepGradients(
  tf: Tf,
  { train }: AdultRows,
  penalty: FairnessPenaltyName,
  { batchSize, hidden, seed }: AgreementWork,
): Promise<Float32Array> {
  const network = createStackedNetwork(tf, { models: ETAS.length, inputs: train.inputs, hidden }, createRandom(seed));
  const { groupCount } = train;
  const objective = createRegularizedObjective(tf, { etas: ETAS, penalty, task: 'binary', groupCount, seed });
  const batches = createBatches(tf, train, batchSize);
  const gradient = tf.tidy(() => {
    const { x, ...rows } = batches.take(0);
    const pass = network.forward(x);
    return pass.gradient(objective.slope(pass.outputs, rows));
  });
  try {
    return Float32Array.from(await gradient.data<'float32'>());
  } finally {
    gradient.dispose();
    batches.dispose();
    network.dispose();
    objective.dispose();
  }
}

/** Returns the differences between gradients and reference gradients. */
export function compareGradients(
  penalty: FairnessPenaltyName,
  found: Float32Array,
  reference: Float32Array,
): GradientFigures {
  let [error, separate, largest] = [0, 0, 0];
  reference.forEach((wanted, index) => {
    const difference = Math.abs((found[index] ?? NaN) - wanted);
    // Math.max propagates NaN.
    separate = Math.max(separate, difference);
    error = Math.max(error, difference / Math.max(1, Math.abs(wanted)));
    largest = Math.max(largest, Math.abs(wanted));
  });
  return { penalty, error, relative_error: largest > 0 ? separate / largest : separate };
}

/** Returns the share of rows whose logits have different signs. */
export function shareDiffering(found: Float32Array, reference: Float32Array): number {
  if (found.length !== reference.length || found.length === 0) return NaN;
  return (
    found.reduce((sum, value, row) => sum + Number(value >= 0 !== (reference[row] as number) >= 0), 0) / found.length
  );
}

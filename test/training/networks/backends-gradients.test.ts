import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import {
  createBatches,
  loadTensorflow,
  type NetworkRows,
  type TensorBackend,
  type Tf,
} from '../../../src/tensor/index.ts';
import { EVENTS, FAIRNESS_CONSTRAINTS } from '../../../src/training/networks/fairness-events.ts';
import { createLagrangianObjective } from '../../../src/training/networks/lagrangian-objective.ts';
import type { NetworkTask } from '../../../src/training/networks/network-task.ts';
import type { Objective } from '../../../src/training/networks/objective.ts';
import { FAIRNESS_PENALTIES } from '../../../src/training/networks/penalties.ts';
import { createRegularizedObjective } from '../../../src/training/networks/regularized-objective.ts';
import { createStackedNetwork, type StackedNetwork } from '../../../src/training/networks/stacked-network.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeOn } from '../../helpers/software-gpu.ts';
import {
  type PlainBatch,
  plainError,
  plainGradients,
  plainLayers,
  type PlainLoss,
  plainOutputs,
  plainPenalty,
  plainPressure,
} from './float64-step.ts';

const BACKENDS: TensorBackend[] = ['wasm', 'webgpu', 'node'];

/** The tolerance to float64, relative to max(1, |g|); two backends then differ by at most 1e-4. */
const TOLERANCE = 5e-5;

const [ROWS, INPUTS, GROUPS, HIDDEN, SEED] = [48, 3, 3, 8, 6];

/** Rows of three groups with different features and outcomes. A step uses a batch of them. */
interface Rows {
  readonly title: string;
  readonly isWeighted: boolean;
  /** A group without rows in the batch; -1 for none. */
  readonly absent: number;
}

const ROW_CASES: readonly Rows[] = [
  { title: 'equal weights', isWeighted: false, absent: -1 },
  { title: 'weights, and a group absent from the batch', isWeighted: true, absent: 1 },
];

function makeRows(task: NetworkTask, { isWeighted }: Rows): NetworkRows {
  const random = createRandom(SEED);
  // Every seventh row has no group.
  const groups = Int32Array.from({ length: ROWS }, (_, row) => (row % 7 === 3 ? -1 : random.integer(GROUPS)));
  const x = new Float32Array(ROWS * INPUTS).map(
    (_, index) => random.normal() + (groups[Math.floor(index / INPUTS)] ?? 0) * 0.7,
  );
  const y = Float32Array.from(groups, () => (task === 'binary' ? Number(random.next() < 0.5) : random.normal()));
  const weights = isWeighted
    ? Float32Array.from(groups, () => (random.next() < 0.1 ? 0 : 0.2 + random.next()))
    : undefined;
  return { x, y, groups, weights, inputs: INPUTS, groupCount: GROUPS };
}

function batchRows(rows: NetworkRows, { absent }: Rows): Int32Array {
  return Int32Array.from(rows.groups.keys()).filter((row) => absent < 0 || rows.groups[row] !== absent);
}

function plainBatch(rows: NetworkRows, picked: Int32Array): PlainBatch {
  const numbers = [...picked];
  return {
    x: numbers.map((row) => [...rows.x.subarray(row * INPUTS, (row + 1) * INPUTS)]),
    y: numbers.map((row) => rows.y[row] ?? NaN),
    groups: numbers.map((row) => rows.groups[row] ?? NaN),
    weights: numbers.map((row) => rows.weights?.[row] ?? 1),
    groupCount: GROUPS,
  };
}

/** Counts rows by group and label, after two cells for rows without a group. */
function countEvents({ groups, y }: NetworkRows): Float64Array {
  const counts = new Float64Array(2 * (GROUPS + 1));
  for (const [row, group] of groups.entries()) {
    const cell = 2 * (group + 1) + Number(y[row] === 1);
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  return counts;
}

/** Networks with weights of the size of trained ones, different for each model. */
function makeNetwork(tf: Tf, models: number): StackedNetwork {
  const shape = { models, inputs: INPUTS, hidden: [HIDDEN] };
  const network = createStackedNetwork(tf, shape, createRandom(SEED));
  const random = createRandom(SEED, 9);
  const { parameters } = network;
  const values = Float32Array.from({ length: parameters.size }, () => 0.7 * random.normal());
  tf.tidy(() => {
    parameters.assign(tf.tensor(values, parameters.shape));
  });
  return network;
}

/** The gradients of one step of the trainer: for each model each layer's kernel [inputs, outputs] and bias. */
async function stepGradients(
  tf: Tf,
  network: StackedNetwork,
  objective: Objective,
  { rows, picked, warmUp }: { readonly rows: NetworkRows; readonly picked: Int32Array; readonly warmUp: boolean },
): Promise<number[][][]> {
  const batches = createBatches(tf, rows, picked.length);
  const others = Int32Array.from(rows.groups.keys()).filter((row) => !picked.includes(row));
  batches.reorder(Int32Array.from([...picked, ...others]));
  const gradient = tf.tidy(() => {
    const batch = batches.take(0);
    const pass = network.forward(batch.x);
    // Multipliers start at 0: one step makes them positive.
    if (warmUp) objective.afterStep?.(pass.outputs, batch);
    return pass.gradient(objective.slope(pass.outputs, batch));
  });
  batches.dispose();
  const values = await gradient.data<'float32'>();
  gradient.dispose();
  return network.weightsOf(values).map((layers) => plainLayers(layers).flatMap(({ kernel, bias }) => [kernel, bias]));
}

/** Returns the largest difference between gradients, relative to max(1, |g|). */
function distance(found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): number {
  expect(found.map(({ length }) => length)).to.deep.equal(expected.map(({ length }) => length));
  const gaps = expected.flatMap((values, part) =>
    values.map((value, index) => Math.abs((found[part]?.[index] ?? NaN) - value) / Math.max(1, Math.abs(value))),
  );
  return gaps.reduce((most, gap) => (gap <= most ? most : gap), 0);
}

for (const backend of BACKENDS) {
  describeOn(backend, `the gradients of one training step on ${backend}`, () => {
    onDevice(backend);

    let before_ = 0;
    beforeEach(async () => {
      before_ = (await loadTensorflow({ backend })).tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', async () => {
      expect((await loadTensorflow({ backend })).tf.memory().numTensors).to.equal(before_);
    });

    /** Compares each model's gradients with float64's; its fairness part must be large enough to be detected. */
    const check = async (
      objectiveOf: (tf: Tf, rows: NetworkRows) => Objective,
      lossesOf: (at: (model: number) => readonly number[]) => readonly { complete: PlainLoss; error: PlainLoss }[],
      { task, shape, warmUp = false }: { readonly task: NetworkTask; readonly shape: Rows; readonly warmUp?: boolean },
    ): Promise<void> => {
      const { tf } = await loadTensorflow({ backend });
      const rows = makeRows(task, shape);
      const picked = batchRows(rows, shape);
      const batch = plainBatch(rows, picked);
      const objective = objectiveOf(tf, rows);
      const models = lossesOf(() => []).length;
      const network = makeNetwork(tf, models);
      try {
        const found = await stepGradients(tf, network, objective, { rows, picked, warmUp });
        const layers = network.weightsOf(await network.parameters.data<'float32'>()).map(plainLayers);
        lossesOf((model) => plainOutputs(layers[model] ?? [], batch)).forEach(({ complete: whole, error }, model) => {
          const expected = plainGradients(layers[model] ?? [], batch, whole);
          expect(distance(expected, plainGradients(layers[model] ?? [], batch, error))).to.be.above(100 * TOLERANCE);
          expect(distance(found[model] ?? [], expected), `model ${String(model)}`).to.be.at.most(TOLERANCE);
        });
      } finally {
        network.dispose();
        objective.dispose();
      }
    };

    for (const task of ['binary', 'regression'] as const) {
      for (const shape of ROW_CASES) {
        for (const penalty of FAIRNESS_PENALTIES) {
          if (task === 'regression' && penalty === 'equalized_odds') continue;
          it(`with the penalty ${penalty}, ${task}, ${shape.title}, match float64`, async () => {
            const [etas, posWeight] = [[2, 5], 1.5];
            const error = plainError(task, posWeight);
            const part = plainPenalty(penalty, task, SEED);
            const complete = etas.map((eta): PlainLoss => (outputs, batch) => error(outputs, batch) + eta * part(outputs, batch)); // prettier-ignore
            await check(
              (tf) =>
                createRegularizedObjective(tf, { etas, penalty, task, groupCount: GROUPS, posWeight, seed: SEED }),
              () => complete.map((loss) => ({ complete: loss, error })),
              { task, shape },
            );
          });
        }
      }
    }

    for (const [task, fairness] of [
      ...FAIRNESS_CONSTRAINTS.map((name) => ['binary', name] as const),
      ['regression', 'demographic_parity'] as const,
    ]) {
      for (const shape of ROW_CASES) {
        it(`under the constraint ${fairness}, ${task}, ${shape.title}, match float64`, async () => {
          const bound = { tolerance: 0.02, lambdaLr: 8, temperature: 0.5, task, events: EVENTS[fairness] };
          const error = plainError(task, 1);
          await check(
            (tf, rows) =>
              createLagrangianObjective(
                tf,
                { ...bound, fairness, tolerances: [0.02, 0.02], smoothing: 0.9, minGroupSize: 1 },
                { counts: countEvents(rows), groups: { labels: ['a', 'b', 'c'] } },
              ),
            (at) => {
              const pressure = plainPressure(bound, at(0));
              return [{ error, complete: (outputs, batch) => error(outputs, batch) + pressure(outputs, batch) }];
            },
            { task, shape, warmUp: true },
          );
        });
      }
    }
  });
}

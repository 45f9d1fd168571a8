import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow, type NetworkRows, takeBatchRows, type Tf } from '../../../src/tensor/index.ts';
import type { FairnessEvent } from '../../../src/training/networks/fairness-events.ts';
import { type BoundedEvent, createGapBounds, type GapBoundsSpec } from '../../../src/training/networks/gap-bounds.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

/** The tolerance relative to max(1, |value|): some dozen roundings to 24 bits, and a GPU's exponential. */
const TOLERANCE = 1e-5;

const GROUPS = 4;

const SPEC: GapBoundsSpec = { task: 'binary', temperature: 0.5, smoothing: 0.75, lambdaLr: 2 };

/** The input of a bound for one batch. */
interface Step {
  readonly outputs: readonly number[];
  readonly labels: readonly number[];
  /** Group codes, -1 for none. */
  readonly groups: readonly number[];
  readonly weights: readonly number[];
}

const IS_IN: Readonly<Record<FairnessEvent, (label: number) => boolean>> = {
  all: () => true,
  positives: (label) => label === 1,
  negatives: (label) => label === 0,
};

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** The definition in float64: multipliers [2][events][g] after all steps, and the gradients at each step. */
function plain(
  { task, temperature, smoothing, lambdaLr }: GapBoundsSpec,
  events: readonly BoundedEvent[],
  steps: readonly Step[],
): { readonly multipliers: number[][][]; readonly gradients: number[][] } {
  const soft = (output: number): number => (task === 'binary' ? sigmoid(output / temperature) : output);
  const softGradient = (output: number): number =>
    task === 'binary' ? (soft(output) * (1 - soft(output))) / temperature : 1;
  const multipliers = [1, -1].map(() => events.map(() => new Array<number>(GROUPS).fill(0)));
  const running = events.map(() => Array.from({ length: GROUPS }, () => ({ sum: 0, weight: 0 })));
  const gradients = steps.map(({ outputs, labels, groups, weights }) => {
    const complete = weights.reduce((sum, weight) => sum + weight, 0);
    const gradient = outputs.map(() => 0);
    events.forEach(({ event, tolerance, constrained }, index) => {
      const membersOf = (group: number): number[] =>
        constrained[group] === 1
          ? [...outputs.keys()].filter((row) => groups[row] === group && IS_IN[event](labels[row] ?? NaN))
          : [];
      const state = running[index] ?? [];
      state.forEach((one, group) => {
        const members = membersOf(group);
        const weight = members.reduce((sum, row) => sum + (weights[row] ?? NaN), 0);
        const [up = NaN, down = NaN] = multipliers.map((side) => side[index]?.[group]);
        for (const row of members) {
          const share = (weights[row] ?? NaN) / weight;
          gradient[row] = (gradient[row] ?? NaN) + (up - down) * share * softGradient(outputs[row] ?? NaN);
        }
        const sum = members.reduce((total, row) => total + (weights[row] ?? NaN) * soft(outputs[row] ?? NaN), 0);
        one.sum = smoothing * one.sum + sum / complete;
        one.weight = smoothing * one.weight + weight / complete;
      });
      const rates = state.flatMap(({ sum, weight }) => (weight > 0 ? [sum / weight] : []));
      const middle = (Math.max(...rates) + Math.min(...rates)) / 2;
      state.forEach(({ sum, weight }, group) => {
        const offset = weight > 0 ? 2 * (sum / weight - middle) : 0;
        for (const [side, sign] of [1, -1].entries()) {
          const ofEvent = multipliers[side]?.[index] ?? [];
          ofEvent[group] = Math.max(0, (ofEvent[group] ?? NaN) + lambdaLr * (sign * offset - tolerance));
        }
      });
    });
    return gradient;
  });
  return { multipliers, gradients };
}

/** Batches in which rates differ by group, one group is absent from the first, and some rows have no group. */
function makeSteps(count: number, task: GapBoundsSpec['task'], rows = 24): Step[] {
  const random = createRandom(11);
  return Array.from({ length: count }, (_, step) => {
    const groups = Array.from({ length: rows }, (__, row) =>
      row % 11 === 5 ? -1 : step === 0 && row % GROUPS === 1 ? 0 : row % GROUPS,
    );
    return {
      groups,
      outputs: groups.map((group) => 1.5 * random.normal() + 0.5 * group),
      labels: groups.map(() => (task === 'binary' ? Number(random.next() < 0.5) : random.normal())),
      weights: groups.map(() => 0.2 + random.next()),
    };
  });
}

const networkRows = ({ labels, groups, weights }: Step): NetworkRows => ({
  x: new Float32Array(0),
  y: Float32Array.from(labels),
  groups: Int32Array.from(groups),
  weights: Float32Array.from(weights),
  inputs: 0,
  groupCount: GROUPS,
});

/** The same values from the bounds under test, flat. */
async function run(
  tf: Tf,
  spec: GapBoundsSpec,
  events: readonly BoundedEvent[],
  steps: readonly Step[],
): Promise<{ readonly multipliers: number[]; readonly lambdas: number[]; readonly gradients: number[][] }> {
  const bounds = createGapBounds(tf, spec, events);
  try {
    const gradients: number[][] = [];
    for (const step of steps) {
      const order = Int32Array.from(step.groups.keys());
      const gradient = tf.tidy(() => {
        const rows = takeBatchRows(tf, networkRows(step), order);
        const outputs = tf.tensor2d([...step.outputs], [1, order.length]);
        const found = bounds.addGradient(tf.zerosLike(outputs), outputs, rows);
        bounds.update(outputs, rows);
        return found;
      });
      gradients.push([...(await gradient.data<'float32'>())]);
      gradient.dispose();
    }
    const multipliers = await bounds.multipliers.data<'float32'>();
    return { multipliers: [...multipliers], lambdas: bounds.lambdasOf(multipliers), gradients };
  } finally {
    bounds.dispose();
  }
}

function expectNear(found: readonly number[], expected: readonly number[]): void {
  expect(found).to.have.length(expected.length);
  const far = expected.flatMap((value, index) => {
    const error = Math.abs((found[index] ?? NaN) - value) / Math.max(1, Math.abs(value));
    return error <= TOLERANCE ? [] : [`${String(index)}: ${String(found[index])} for ${String(value)}`];
  });
  expect(far).to.deep.equal([]);
}

const EVERY = [1, 1, 1, 1];

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `bounds on gaps on ${backend}`, () => {
    onDevice(backend);

    for (const [title, task, events] of [
      ['of all rows', 'binary', [{ event: 'all', tolerance: 0.05, constrained: EVERY }]],
      ['of means', 'regression', [{ event: 'all', tolerance: 0.1, constrained: EVERY }]],
      ['of positives', 'binary', [{ event: 'positives', tolerance: 0.02, constrained: EVERY }]],
      ['without a small group', 'binary', [{ event: 'all', tolerance: 0.02, constrained: [1, 1, 1, 0] }]],
      [
        'of two events, each with its tolerance and its groups',
        'binary',
        [
          { event: 'positives', tolerance: 0.02, constrained: EVERY },
          { event: 'negatives', tolerance: 0.2, constrained: [0, 1, 1, 1] },
        ],
      ],
    ] as const) {
      it(`${title} have the gradients and updates of float64, step by step`, async () => {
        const { tf } = await loadTensorflow({ backend });
        const steps = makeSteps(4, task);
        const expected = plain({ ...SPEC, task }, events, steps);
        const found = await run(tf, { ...SPEC, task }, events, steps);
        // If all multipliers were 0, or none were, the test would be meaningless.
        expect(expected.multipliers.flat(2)).to.satisfy(
          (all: number[]) => all.includes(0) && all.some((one) => one > 0.1),
        );
        expectNear(found.multipliers, expected.multipliers.flat(2));
        found.gradients.forEach((gradient, step) => {
          expectNear(gradient, expected.gradients[step] ?? []);
        });
        const lambdas = events.map((_, event) =>
          expected.multipliers.flatMap((side) => side[event] ?? []).reduce((sum, value) => sum + value / 2, 0),
        );
        expectNear(found.lambdas, lambdas);
      });
    }

    const two = [{ event: 'all', tolerance: 0, constrained: EVERY }] as const;
    const step = (outputs: number[], groups = [0, 1]): Step => ({
      outputs,
      groups,
      labels: outputs.map(() => 1),
      weights: outputs.map(() => 1),
    });

    it('use rates 1 and 0 for logits of any size', async () => {
      const { tf } = await loadTensorflow({ backend });
      const { multipliers, gradients: slopes } = await run(tf, SPEC, two, [step([1e4, -1e4]), step([1e30, -1e30])]);
      // Each step moves by lambdaLr times the gap, 1.
      expect(multipliers).to.deep.equal([4, 0, 0, 0, 0, 4, 0, 0]);
      expect(slopes[1]).to.deep.equal([0, 0]);
    });

    it('do not treat NaN as a number', async () => {
      const { tf } = await loadTensorflow({ backend });
      const { multipliers, gradients: slopes } = await run(tf, SPEC, two, [step([NaN, 0]), step([NaN, 0])]);
      expect(multipliers.slice(0, 2)).to.deep.equal([NaN, NaN]);
      expect(slopes[1]).to.deep.equal([NaN, NaN]);
    });

    it('forget a group that is absent for many steps, and do not treat its rate as 0', async () => {
      const { tf } = await loadTensorflow({ backend });
      const spec = { ...SPEC, smoothing: 0.01 };
      const both = step([20, 20]);
      const alone = Array.from({ length: 12 }, () => step([20, 20], [0, 0]));
      const { multipliers } = await run(tf, spec, two, [both, ...alone]);
      expect(multipliers).to.deep.equal(new Array(8).fill(0));
    });

    // On other backends, kernel launches and transfers are cheap.
    if (backend !== 'webgpu') return;

    it('send nothing to the device in a step, and need no more kernels for a second event', async () => {
      const { tf } = await loadTensorflow({ backend });
      const [given] = makeSteps(1, 'binary');
      const order = Int32Array.from(given?.groups.keys() ?? []);
      const kernelsOf = async (names: readonly FairnessEvent[]): Promise<string[]> => {
        const bounds = createGapBounds(tf, SPEC, names.map((event) => ({ event, tolerance: 0, constrained: EVERY }))); // prettier-ignore
        const rows = takeBatchRows(tf, networkRows(given as Step), order);
        const outputs = tf.tensor2d([...(given as Step).outputs], [1, order.length]);
        const error = tf.zerosLike(outputs);
        const kept = tf.memory().numTensors;
        const work = (): void => {
          tf.tidy(() => {
            bounds.addGradient(error, outputs, rows);
            bounds.update(outputs, rows);
          });
        };
        work();
        const device = tf.backend();
        const write = device.write.bind(device);
        let sent = 0;
        device.write = (values, shape, dtype) => {
          // Outputs of kernels are allocated without values.
          if ((values as typeof values | null | undefined) instanceof Object) sent++;
          return write(values, shape, dtype);
        };
        try {
          const { kernels } = await tf.profile(work);
          expect(sent).to.equal(0);
          expect(tf.memory().numTensors).to.equal(kept);
          return kernels.map(({ name }) => name).filter((name) => name !== 'Reshape');
        } finally {
          device.write = write;
          bounds.dispose();
          tf.dispose({ ...rows, outputs, error });
        }
      };
      const one = await kernelsOf(['positives']);
      expect(one).to.have.length.within(1, 6);
      expect(await kernelsOf(['positives', 'negatives'])).to.deep.equal(one);
    });
  });
}

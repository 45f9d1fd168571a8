import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow, readTogether, type Tf } from '../../../src/tensor/index.ts';
import { crossEntropyGradients } from '../../../src/training/networks/adversary.ts';
import type { PenaltyBatch, PenaltyInUse } from '../../../src/training/networks/penalty.ts';
import {
  createPenalty,
  FAIRNESS_PENALTIES,
  type FairnessPenaltyName,
  PLAIN_PENALTIES,
} from '../../../src/training/networks/penalties.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';
import { differences, type PlainBatch, plainAdversary, plainCrossEntropy, plainPenalty } from './float64-step.ts';

const SEED = 1;

/** The tolerance to float64, relative to the largest gradient of a batch. */
const TOLERANCE = 1e-5;

/** A batch, and the scores of each model for its rows. */
interface Case {
  /** -1 for no group. */
  readonly groups: readonly number[];
  /** @defaultValue 4 */
  readonly groupCount?: number;
  /** @defaultValue 3 */
  readonly models?: number;
  /** @defaultValue 0 and 1 in turn */
  readonly labels?: readonly number[];
  /** @defaultValue 1, 2 and 3 in turn */
  readonly weights?: readonly number[];
  /** @defaultValue uniform, different for each model */
  readonly score?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'every group': { groups: [0, 1, 2, 3, 0, 1, 2, 3, 0] },
  'two groups': { groups: [0, 1, 1, 0, 0, 1, 0, 1, 1], groupCount: 2 },
  // A product of matrices has another implementation than a product of stacks of matrices.
  'one model': { groups: [0, 1, 1, 0], groupCount: 2, models: 1 },
  'five groups': { groups: [0, 4, 1, 3, 2, 4, 2, 0, 1, 3, 4], groupCount: 5 },
  'a group without rows': { groups: [0, 0, 2, 2, 3, 3, 0, 2, 0] },
  'rows of no group': { groups: [-1, 0, 1, -1, 1, 0, 0, 1, -1] },
  'rows of weight 0': { groups: [0, 1, 2, 2, 0, 1, 3, 0, 1], weights: [1, 0, 0, 0, 2, 3, 1, 0, 1] },
  'one group alone': { groups: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
  'no group at all': { groups: [-1, -1, -1, -1, -1, -1, -1, -1, -1] },
  'one label alone': { groups: [0, 1, 2, 3, 0, 1, 2, 3, 0], labels: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
  // The numbers are exact in float32, so that every difference between groups is exactly 0.
  'a constant score': { groups: [0, 1, 0, 1, 1, 0, 0, 0], weights: [1, 1, 1, 1, 1, 1, 1, 1], score: 0.5 },
};

/** The cases without a gap, in which the gradient is 0: the groups are not different, or there is nothing to compare. */
const WITHOUT_GAP = ['one group alone', 'no group at all', 'a constant score'];

interface PlainCase {
  readonly batch: PlainBatch;
  /** The scores of each model, exact in float32. */
  readonly scores: readonly (readonly number[])[];
}

function plainCase({ groups, groupCount = 4, models = 3, labels, weights, score }: Case): PlainCase {
  const random = createRandom(3);
  return {
    batch: {
      x: [],
      y: labels ?? groups.map((_, row) => row % 2),
      groups,
      weights: weights ?? groups.map((_, row) => 1 + (row % 3)),
      groupCount,
    },
    scores: Array.from({ length: models }, () => groups.map(() => score ?? Math.fround(random.next()))),
  };
}

/** Uploads a batch. If all weights are 0, so are all shares. */
function upload(tf: Tf, { batch: { groups, groupCount, weights, y }, scores }: PlainCase): PenaltyBatch {
  const n = groups.length;
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const shares = weights.map((weight) => weight / total);
  const membership = groups.map((group, row) =>
    Array.from({ length: groupCount }, (_, column) => (column === group ? (shares[row] ?? NaN) : 0)),
  );
  return {
    scores: tf.tensor2d(scores.map((values) => [...values])),
    labels: tf.tensor2d([...y], [1, n]),
    membership: tf.tensor2d(membership, [n, groupCount]),
    shares: tf.tensor2d(shares, [n, 1]),
  };
}

function largest(values: ArrayLike<number>): number {
  return Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Compares values; by default with a tolerance relative to the largest expected value, so that 0 must be exact. */
function close(found: ArrayLike<number>, expected: ArrayLike<number>, tolerance = TOLERANCE * largest(expected)): void {
  expect(found).to.have.lengthOf(expected.length);
  Array.from(expected).forEach((value, index) => {
    expect(found[index], `value ${String(index)}`).to.be.closeTo(value, tolerance);
  });
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `slopes of penalties on ${backend}`, () => {
    let tf: Tf;
    let tensors = 0;
    before(async () => {
      ({ tf } = await loadTensorflow({ backend }));
    });
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    const create = (penalty: FairnessPenaltyName, { batch: { groupCount }, scores }: PlainCase): PenaltyInUse =>
      createPenalty(tf, penalty, { models: scores.length, groupCount, seed: SEED });

    /** Computes tensors from a batch, and reads them. */
    const read = async (given: PlainCase, of: (batch: PenaltyBatch) => Tensor[]): Promise<Float32Array[]> => {
      const found = tf.tidy(() => of(upload(tf, given)));
      const values = await readTogether(tf, found);
      tf.dispose(found);
      return values;
    };

    for (const [name, one] of Object.entries(CASES)) {
      for (const penalty of FAIRNESS_PENALTIES) {
        it(`${penalty}: the explicit gradient is the finite difference of float64, with ${name}`, async () => {
          const given = plainCase(one);
          const inUse = create(penalty, given);
          const [found = []] = await read(given, (batch) => [inUse.slope(batch)]);
          inUse.dispose?.();
          const value = plainPenalty(penalty, 'regression', SEED);
          const hasGap = penalty === 'adversarial' ? name !== 'no group at all' : !WITHOUT_GAP.includes(name);
          const expected = given.scores.flatMap((scores) =>
            hasGap ? differences((values) => value(values, given.batch), scores) : scores.map(() => 0),
          );
          close(found, expected);
        });

        if (penalty === 'adversarial' || name === 'a constant score') continue;
        it(`${penalty}: the explicit gradient matches automatic differentiation, with ${name}`, async () => {
          const given = plainCase(one);
          const inUse = create(penalty, given);
          const [found = [], automatic = []] = await read(given, (batch) => {
            const value = (scores: Tensor): Tensor1D =>
              PLAIN_PENALTIES[penalty](tf, { ...batch, scores: scores as Tensor2D });
            return [inUse.slope(batch), tf.grad((scores) => value(scores).sum())(batch.scores)];
          });
          close(found, automatic, Math.max(1e-6, 5e-6 * largest(automatic)));
        });
      }

      it(`adversarial: the adversaries' own gradient is the finite difference of float64, with ${name}`, async () => {
        const given = plainCase(one);
        const { batch, scores } = given;
        // Each model has another adversary.
        const parameters = scores.map((_, model) => plainAdversary(batch.groupCount, SEED + model));
        const [own = [], reversed = []] = await read(given, (rows) => {
          const gradients = crossEntropyGradients(tf, tf.tensor2d(parameters), rows);
          return [gradients.parameters, gradients.reversedScores];
        });
        const ofModels = (of: (scores: readonly number[], parameters: readonly number[]) => number[]): number[] =>
          scores.flatMap((values, model) => of(values, parameters[model] ?? []));
        close(own, ofModels((values, adversary) => differences((moved) => plainCrossEntropy(values, batch, moved), adversary))); // prettier-ignore
        close(reversed, ofModels((values, adversary) => differences((moved) => -plainCrossEntropy(moved, batch, adversary), values))); // prettier-ignore
      });
    }

    for (const penalty of FAIRNESS_PENALTIES) {
      it(`${penalty}: the gradient is 0, not NaN, if all weights are 0`, async () => {
        const given = plainCase({ groups: [0, 1, 2, 3, 0], weights: [0, 0, 0, 0, 0] });
        const inUse = create(penalty, given);
        const [found = []] = await read(given, (batch) => [inUse.slope(batch)]);
        inUse.dispose?.();
        expect([...found].map(Math.abs)).to.deep.equal(Array<number>(given.scores.length * 5).fill(0));
      });
    }

    it('mean_gap: by hand, for two groups: twice the gap, times each row over its group', async () => {
      const given: PlainCase = {
        batch: { x: [], y: [0, 0, 0, 0], groups: [0, 1, 0, 1], weights: [1, 1, 1, 1], groupCount: 2 },
        scores: [[0.9, 0.2, 0.7, 0.4]],
      };
      const inUse = create('mean_gap', given);
      const [found = []] = await read(given, (batch) => [inUse.slope(batch)]);
      // The gap is 0.8 - 0.3; a row is half of its group.
      close(found, [0.5, -0.5, 0.5, -0.5], 1e-6);
    });
  });
}

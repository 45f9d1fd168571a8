import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow, readTogether } from '../../../src/tensor/index.ts';
import {
  automaticGradient,
  createPenalty,
  FAIRNESS_PENALTIES,
  type PenaltyBatch,
  PLAIN_PENALTIES,
} from '../../../src/training/networks/penalties.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

const [MODELS, GROUPS] = [3, 4];

/** Rows of a batch by their group, -1 for none. */
const CASES: Readonly<Record<string, { readonly groups: readonly number[]; readonly labels?: readonly number[] }>> = {
  'every group': { groups: [0, 1, 2, 3, 0, 1, 2, 3, 0] },
  'a group without rows': { groups: [0, 0, 2, 2, 3, 3, 0, 2, 0] },
  'rows of no group': { groups: [-1, 0, 1, -1, 1, 0, 0, 1, -1] },
  'one group alone': { groups: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
  'no group at all': { groups: [-1, -1, -1, -1, -1, -1, -1, -1, -1] },
  'one label alone': { groups: [0, 1, 2, 3, 0, 1, 2, 3, 0], labels: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
};

/** A batch in float64 numbers, with weights that are not equal. */
function batchOf(groups: readonly number[], labels: readonly number[], scores: readonly number[]): PenaltyBatch {
  const n = groups.length;
  const weights = groups.map((_, row) => 1 + (row % 3));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = weights.map((weight) => weight / total);
  const membership = groups.map((group, row) =>
    Array.from({ length: GROUPS }, (_, column) => (column === group ? (shares[row] ?? NaN) : 0)),
  );
  return {
    scores: tf.tensor2d([...scores], [MODELS, n]),
    labels: tf.tensor2d([...labels], [1, n]),
    membership: tf.tensor2d(membership, [n, GROUPS]),
    shares: tf.tensor2d(shares, [n, 1]),
  };
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `slopes of penalties on ${backend}`, () => {
    before(async () => {
      await loadTensorflow({ backend });
    });

    for (const [name, { groups, labels = groups.map((_, row) => row % 2) }] of Object.entries(CASES)) {
      for (const penalty of FAIRNESS_PENALTIES.filter((one) => one !== 'adversarial')) {
        it(`${penalty}: the explicit gradient matches automatic differentiation, with ${name}`, async () => {
          const random = createRandom(3);
          const scores = Array.from({ length: MODELS * groups.length }, () => random.next());
          const tensors = tf.memory().numTensors;
          const inUse = createPenalty(tf, penalty, { models: MODELS, groupCount: GROUPS, seed: 1 });
          const { written, automatic } = tf.tidy(() => {
            const batch = batchOf(groups, labels, scores);
            const value = (one: PenaltyBatch): tf.Tensor1D => PLAIN_PENALTIES[penalty](tf, one);
            return { written: inUse.slope(batch), automatic: automaticGradient(tf, value, batch) };
          });
          const [found = [], wanted = []] = await readTogether(tf, [written, automatic]);
          expect(written.shape).to.deep.equal([MODELS, groups.length]);
          tf.dispose([written, automatic]);
          expect(tf.memory().numTensors).to.equal(tensors);
          wanted.forEach((lossGradient, index) => {
            expect(found[index], `value ${String(index)}`).to.be.closeTo(lossGradient, 1e-6);
          });
        });
      }
    }

    it('mean_gap: by hand, for two groups: twice the gap, times each row over its group', async () => {
      const lossGradient = tf.tidy(() => {
        const batch = {
          scores: tf.tensor2d([[0.9, 0.7, 0.2, 0.4]]),
          labels: tf.zeros<tf.Rank.R2>([1, 4]),
          membership: tf.tensor2d([0.25, 0, 0.25, 0, 0, 0.25, 0, 0.25], [4, 2]),
          shares: tf.fill<tf.Rank.R2>([4, 1], 0.25),
        };
        return createPenalty(tf, 'mean_gap', { models: 1, groupCount: 2, seed: 1 }).slope(batch);
      });
      const values = await lossGradient.data();
      lossGradient.dispose();
      // The gap is 0.8 - 0.3; a row is half of its group.
      [0.5, 0.5, -0.5, -0.5].forEach((wanted, row) => {
        expect(values[row]).to.be.closeTo(wanted, 1e-6);
      });
    });
  });
}

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import { createRandom } from '../../../../src/internal/random.ts';
import { loadTensorflow } from '../../../../src/tensor/index.ts';
import {
  type GroupThresholds,
  ThresholdOptimizer,
  type ThresholdOptimizerOptions,
  type ThresholdRules,
} from '../../../../src/training/index.ts';
import { describeOn, TESTED_BACKENDS } from '../../../helpers/software-gpu.ts';
import { errorOf } from './error-of.ts';

/** Rows as float32 numbers, so that tensors and arrays hold the same values. */
interface Rows {
  readonly scores: Float32Array;
  readonly y: Float32Array;
  readonly groups: Int32Array;
  readonly weights: Float32Array | undefined;
}

/** Draws scores of any unit that separate the labels better in some groups than in others. */
function drawRows(rows: number, step: number, isWeighted: boolean): Rows {
  const random = createRandom(rows);
  const groups = Int32Array.from({ length: rows }, () => Math.floor(4 * random.next() ** 1.5));
  const y = Float32Array.from(groups, (group) => Number(random.next() < 0.3 + group / 10));
  const drawn = (label: number, row: number): number => 3 * random.normal() + label * (1 + (groups[row] as number));
  const scores = Float32Array.from(y, (label, row) => Math.round(drawn(label, row) / step) * step);
  const weight = (): number => Number(random.next() > 0.2) * random.next();
  return { scores, y, groups, weights: isWeighted ? Float32Array.from(groups, weight) : undefined };
}

const TABLE: readonly (readonly [title: string, rows: Rows])[] = [
  ['continuous scores', drawRows(1000, 2 ** -20, false)],
  ['weights, some of them 0', drawRows(1001, 2 ** -20, true)],
  ['few distinct scores', drawRows(1002, 1, false)],
  ['few distinct scores with weights', drawRows(1003, 1, true)],
];

const OPTIONS: readonly ThresholdOptimizerOptions[] = [
  {},
  { constraint: 'demographic_parity', objective: 'balanced_accuracy_score', tolerance: 0.05 },
  { constraint: 'demographic_parity', objective: 'selection_rate' },
  { constraint: 'true_positive_rate_parity', objective: 'true_negative_rate' },
  { constraint: 'false_negative_rate_parity' },
  { constraint: 'false_positive_rate_parity', objective: 'true_positive_rate' },
  { constraint: 'true_negative_rate_parity' },
  { constraint: 'true_positive_rate_parity', flip: true },
  { constraint: 'equalized_odds' },
  { constraint: 'equalized_odds', objective: 'balanced_accuracy_score', tolerance: 0.02 },
  { constraint: 'equalized_odds', flip: true },
];

/** Creates the tensors of rows, on the backend that is active. */
function toTensors({ scores, y, groups, weights }: Rows) {
  return {
    scores: tf.tensor1d(scores),
    y: tf.tensor1d(y, 'bool'),
    groups: tf.tensor1d(groups, 'int32'),
    weights: weights && tf.tensor1d(weights),
  };
}

/**
 * Returns whether two rules of a group select the same share of each label with different thresholds. If three
 * thresholds lie on one line, rounding decides on the host which of them is mixed.
 */
function isTie(a: GroupThresholds | undefined, b: GroupThresholds | undefined): boolean {
  const rates = (group: GroupThresholds | undefined): number[] => [
    group?.truePositiveRate ?? NaN,
    group?.falsePositiveRate ?? NaN,
  ];
  return rates(a).every((rate, index) => Math.abs(rate - (rates(b)[index] ?? NaN)) < 1e-12);
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `thresholds of tensors, on ${backend}`, () => {
    let tensors = 0;
    before(async () => {
      await loadTensorflow({ backend });
    });
    beforeEach(() => {
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    for (const [index, options] of OPTIONS.entries()) {
      // Each option has its own rows, and wasm computes all of them. A software GPU takes minutes for all cases.
      const tables = backend === 'wasm' ? TABLE : TABLE.slice(index % TABLE.length).slice(0, 1);
      for (const [title, rows] of backend === 'webgpu' && index % 5 > 0 ? [] : tables) {
        it(`equal thresholds of arrays: ${title}, ${Object.values(options).join(', ') || 'defaults'}`, async () => {
          const onHost = await new ThresholdOptimizer(options).fit(rows.scores, rows.y, {
            sensitive: rows.groups,
            sampleWeight: rows.weights,
          });
          const { scores, y, groups, weights } = toTensors(rows);
          const onDevice = await new ThresholdOptimizer(options).fit(scores, y, { sensitive: groups, sampleWeight: weights }); // prettier-ignore
          const { decisions, probabilities, rejected } = await onDevice.decide(scores, { sensitive: groups, seed: 5 });
          expect([decisions.dtype, probabilities.dtype]).to.deep.equal(['int32', 'float32']);
          const found = await decisions.data();
          const chances = await probabilities.data();
          tf.dispose([decisions, probabilities, rejected, scores, y, groups, weights ?? []]);

          const [expected, actual] = [onHost.describe(), onDevice.describe()];
          expect(actual.objectiveValue).to.be.closeTo(expected.objectiveValue, 1e-9);
          expect(actual.gap).to.be.closeTo(expected.gap, 1e-9);
          expect([actual.n, actual.nZeroWeight]).to.deep.equal([expected.n, expected.nZeroWeight]);
          const decided = await onHost.decide(rows.scores, { sensitive: rows.groups, seed: 5 });
          const differing = [...decided.decisions.keys()].filter(
            (row) =>
              decided.decisions[row] !== found[row] ||
              Math.abs((decided.probabilities[row] as number) - (chances[row] as number)) > 1e-6,
          );
          const groupOf = (rules: ThresholdRules, row: number): GroupThresholds | undefined =>
            rules.groups.find(({ group }) => group === String(rows.groups[row]));
          const tied = differing.filter((row) => isTie(groupOf(expected, row), groupOf(actual, row)));
          // Apart from ties, no row differs, because thresholds lie between scores.
          expect(differing.length - tied.length).to.equal(0);
          expect(tied.length).to.be.below(rows.y.length / 100);
        });
      }
    }

    it('rejected rows are marked in a tensor, and pooled rows use the pooled threshold', async () => {
      const [scores, groups] = [tf.tensor1d([2, 1, 1, 1, 2, 2, 1, 1]), tf.tensor1d([0, 0, 0, 0, 1, 1, 1, 1], 'int32')];
      const y = tf.tensor1d([1, 1, 0, 1, 1, 1, 0, 0]);
      const [later, others] = [tf.tensor1d([1, 1, 2, 0]), tf.tensor1d([0, 1, 2, 2], 'int32')];
      const rejecting = await new ThresholdOptimizer({ unseenGroups: 'reject' }).fit(scores, y, { sensitive: groups });
      const decided = await rejecting.decide(later, { sensitive: others });
      const [chances, marks] = [await decided.probabilities.data(), await decided.rejected.data()];
      expect(decided.unseenGroups).to.deep.equal(['2']);
      expect([...marks]).to.deep.equal([0, 0, 1, 1]);
      expect(chances[0]).to.be.closeTo(1 / 3, 1e-6);
      expect([...chances.slice(1)]).to.deep.equal([0, 0, 0]);

      const pooling = await new ThresholdOptimizer({ unseenGroups: 'pooled' }).fit(scores, y, { sensitive: groups });
      const pooled = await pooling.predict(later, { sensitive: others });
      expect([...(await pooled.data())].slice(2)).to.deep.equal([1, 0]);

      const raising = await new ThresholdOptimizer().fit(scores, y, { sensitive: groups });
      const error = await errorOf(raising.predict(later, { sensitive: others }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(/the group '2', which was not in the rows of fit/);
      tf.dispose([
        scores,
        groups,
        y,
        later,
        others,
        decided.decisions,
        decided.probabilities,
        decided.rejected,
        pooled,
      ]);
    });

    it('a draw that hashes rows needs arrays', async () => {
      const [scores, groups] = [tf.tensor1d([1, 2, 3, 4]), tf.tensor1d([0, 0, 1, 1], 'int32')];
      const optimizer = await new ThresholdOptimizer().fit(scores, [0, 1, 0, 1], { sensitive: groups });
      const error = await errorOf(optimizer.predict(scores, { sensitive: groups, draw: 'stable' }));
      tf.dispose([scores, groups]);
      expect(error).to.be.instanceOf(ValueError);
      expect(error.message).to.match(/draw parameter must be 'sequence' if the scores are a tensor/);
    });
  });
}

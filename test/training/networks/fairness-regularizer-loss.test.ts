import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { FairnessRegularizerLoss } from '../../../src/training/index.ts';
import { PLAIN_PENALTIES, type PlainPenaltyName } from '../../../src/training/networks/penalties.ts';

const PENALTIES = Object.keys(PLAIN_PENALTIES) as PlainPenaltyName[];

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A batch of three groups on the host. */
const random = createRandom(9);
const N = 40;
const logits = Array.from({ length: N }, () => 4 * random.next() - 2);
const labels = Array.from({ length: N }, () => Number(random.next() < 0.5));
const groups = Array.from({ length: N }, (_, row) => row % 3);

/** The documented definitions in float64, row by row, independent of the code under test. */
const DEFINITIONS: Record<
  PlainPenaltyName,
  (x: readonly number[], y: readonly number[], g: readonly number[]) => number
> = {
  covariance(x, _, g) {
    const p = x.map(sigmoid);
    return [...new Set(g)].reduce((sum, group) => {
      const z = g.map((one) => Number(one === group));
      return sum + Math.abs(mean(p.map((score, row) => score * (z[row] ?? 0))) - mean(p) * mean(z));
    }, 0);
  },
  mean_gap(x, _, g) {
    const means = [...new Set(g)].map((group) => mean(x.map(sigmoid).filter((__, row) => g[row] === group)));
    const gaps = means.flatMap((a) => means.map((b) => (a - b) ** 2));
    return Math.max(...gaps);
  },
  equalized_odds(x, y, g) {
    const within = (label: number): number => {
      const rows = [...x.keys()].filter((row) => y[row] === label);
      const pick = (values: readonly number[]): number[] => rows.map((row) => values[row] ?? NaN);
      return DEFINITIONS.mean_gap(pick(x), pick(y), pick(g));
    };
    return within(0) + within(1);
  },
  mmd(x, _, g) {
    const p = x.map(sigmoid);
    const k = (a: readonly number[], b: readonly number[]): number =>
      mean(a.flatMap((one) => b.map((other) => Math.exp(-(((one - other) / 0.1) ** 2)))));
    return mean(
      [...new Set(g)].map((group) => {
        const [inside, outside] = [p.filter((__, row) => g[row] === group), p.filter((__, row) => g[row] !== group)];
        return k(inside, inside) - 2 * k(inside, outside) + k(outside, outside);
      }),
    );
  },
  correlation(x, _, g) {
    const p = x.map(sigmoid);
    const variance = (values: readonly number[]): number =>
      mean(values.map((value) => value ** 2)) - mean(values) ** 2 + 1e-7;
    return mean(
      [...new Set(g)].map((group) => {
        const z = g.map((one) => Number(one === group));
        const together = mean(p.map((score, row) => score * (z[row] ?? 0))) - mean(p) * mean(z);
        return Math.abs(together) / Math.sqrt(variance(p) * variance(z));
      }),
    );
  },
};

const bce = (x: readonly number[], y: readonly number[]): number =>
  mean(x.map((logit, row) => Math.log1p(Math.exp(-logit * (2 * (y[row] ?? 0) - 1)))));

const compute = (loss: FairnessRegularizerLoss, x: readonly number[], weights?: readonly number[]): number =>
  tf.tidy(
    () =>
      loss
        .compute(
          tf.tensor1d([...x]),
          tf.tensor1d(labels),
          tf.oneHot(tf.tensor1d(groups, 'int32'), 3),
          weights === undefined ? undefined : tf.tensor1d([...weights]),
        )
        .dataSync()
        .at(0) ?? NaN,
  );

describe('FairnessRegularizerLoss', () => {
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });

  for (const penalty of PENALTIES) {
    it(`is the cross-entropy plus eta times ${penalty}, by its definition`, () => {
      const expected = bce(logits, labels) + 2 * DEFINITIONS[penalty](logits, labels, groups);
      expect(compute(new FairnessRegularizerLoss({ eta: 2, penalty }), logits)).to.be.closeTo(expected, 1e-6);
    });

    it(`has the gradient of ${penalty}, by finite differences`, () => {
      const loss = new FairnessRegularizerLoss({ eta: 2, penalty });
      const gradient = tf.tidy(() =>
        tf
          .grad((x: tf.Tensor) =>
            loss.compute(x, tf.tensor1d(labels), tf.oneHot(tf.tensor1d(groups, 'int32'), 3)).sum(),
          )(tf.tensor1d(logits))
          .dataSync(),
      );
      const total = (x: readonly number[]): number => bce(x, labels) + 2 * DEFINITIONS[penalty](x, labels, groups);
      const step = 1e-5;
      logits.forEach((_, row) => {
        const shifted = (by: number): number[] => logits.map((value, other) => (other === row ? value + by : value));
        const numeric = (total(shifted(step)) - total(shifted(-step))) / (2 * step);
        expect(gradient[row]).to.be.closeTo(numeric, 1e-5);
      });
    });

    it(`weights of one equal no weights for ${penalty}`, () => {
      const loss = new FairnessRegularizerLoss({ eta: 1, penalty });
      expect(compute(loss, logits, Array<number>(N).fill(1))).to.be.closeTo(compute(loss, logits), 1e-6);
    });

    it(`a weight of zero excludes a row from ${penalty}`, () => {
      const weights = Array.from({ length: N }, (_, row) => Number(row >= 10));
      const rest = (values: readonly number[]): number[] => values.slice(10);
      const expected = bce(rest(logits), rest(labels)) + DEFINITIONS[penalty](rest(logits), rest(labels), rest(groups));
      expect(compute(new FairnessRegularizerLoss({ eta: 1, penalty }), logits, weights)).to.be.closeTo(expected, 1e-6);
    });
  }

  it('with two groups mean_gap is exactly the squared gap', () => {
    const loss = new FairnessRegularizerLoss({ eta: 1, penalty: 'mean_gap' });
    const value = tf.tidy(
      () =>
        loss
          .compute(
            tf.tensor1d([1, 1, -1, -1]),
            tf.tensor1d([1, 0, 1, 0]),
            tf.oneHot(tf.tensor1d([0, 0, 1, 1], 'int32'), 2),
          )
          .dataSync()[0],
    );
    const gap = sigmoid(1) - sigmoid(-1);
    expect(value).to.be.closeTo(bce([1, 1, -1, -1], [1, 0, 1, 0]) + gap * gap, 1e-6);
  });

  it('every penalty is 0 if all rows belong to one group', () => {
    for (const penalty of PENALTIES) {
      const value = tf.tidy(
        () =>
          new FairnessRegularizerLoss({ eta: 5, penalty })
            .compute(tf.tensor1d([1, -2]), tf.tensor1d([1, 0]), tf.oneHot(tf.tensor1d([1, 1], 'int32'), 2))
            .dataSync()[0],
      );
      expect(value).to.be.closeTo(bce([1, -2], [1, 0]), 1e-6);
    }
  });

  it('the loss is 0, not NaN, if all weights are 0', () => {
    for (const penalty of PENALTIES) {
      expect(compute(new FairnessRegularizerLoss({ penalty }), logits, Array<number>(N).fill(0))).to.equal(0);
    }
  });

  it('a group without rows contributes nothing', () => {
    for (const penalty of PENALTIES) {
      const loss = new FairnessRegularizerLoss({ eta: 5, penalty });
      const withDepth = (depth: number): number | undefined =>
        tf.tidy(
          () =>
            loss
              .compute(
                tf.tensor1d([1, -2, 0]),
                tf.tensor1d([1, 0, 0]),
                tf.oneHot(tf.tensor1d([0, 1, 1], 'int32'), depth),
              )
              .dataSync()[0],
        );
      expect(withDepth(4)).to.be.closeTo(withDepth(2) ?? NaN, 1e-6);
    }
  });

  it('accepts integer weights, and never treats group codes as numbers', () => {
    const loss = new FairnessRegularizerLoss({ eta: 1, penalty: 'mean_gap' });
    const one = tf.oneHot(tf.tensor1d(groups, 'int32'), 3);
    const complete = tf.ones([N], 'int32');
    const value = loss.compute(tf.tensor1d(logits), tf.tensor1d(labels), one, complete).dataSync()[0];
    expect(value).to.be.closeTo(compute(loss, logits), 1e-6);
    for (const codes of [tf.tensor1d(groups), tf.tensor2d(groups, [N, 1])]) {
      expect(() => loss.compute(tf.tensor1d(logits), tf.tensor1d(labels), codes)).to.throw(ValueError, 'one-hot');
    }
    const few = tf.tensor1d([1, 1]);
    expect(() => loss.compute(tf.tensor1d(logits), tf.tensor1d(labels), one, few)).to.throw(
      ValueError,
      'sampleWeight of shape [2]',
    );
    const square = tf.tensor2d(logits, [2, N / 2]);
    expect(() => loss.compute(square, tf.tensor1d(labels), one)).to.throw(ValueError, 'logits of shape [2, ');
    const texts = tf.tensor1d(groups.map(String));
    expect(() => loss.compute(tf.tensor1d(logits), tf.tensor1d(labels), texts)).to.throw(
      DataValidationError,
      'groups has dtype string; expected float32, int32 or bool.',
    );
    for (const groupCodes of [groups, groups.map(String), Float32Array.from(groups)]) {
      expect(() => loss.compute(tf.tensor1d(logits), tf.tensor1d(labels), groupCodes as never))
        .to.throw(DataValidationError, 'groups must be a tensor; got an array.')
        .with.property('suggestion')
        .that.includes('tf.oneHot(codes, groupCount)');
    }
  });

  it('rejects an unknown penalty, a negative eta, a posWeight of 0', () => {
    expect(() => new FairnessRegularizerLoss({ penalty: 'meangap' as never }))
      .to.throw(ValueError, "Got 'meangap'")
      .with.property('suggestion', "Did you mean 'mean_gap'?");
    expect(() => new FairnessRegularizerLoss({ eta: -1 })).to.throw(
      ValueError,
      'eta parameter must be finite, 0 or more',
    );
    expect(() => new FairnessRegularizerLoss({ posWeight: 0 })).to.throw(ValueError, 'posWeight');
    for (const options of [{ eta: Infinity }, { posWeight: Infinity }]) {
      expect(() => new FairnessRegularizerLoss(options)).to.throw(ValueError, 'finite');
    }
  });
});

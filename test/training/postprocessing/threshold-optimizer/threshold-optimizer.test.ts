import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import { loadTensorflow } from '../../../../src/tensor/index.ts';
import type { ThresholdOptimizerOptions } from '../../../../src/training/postprocessing/threshold-optimizer/optimizer-options.ts';
import {
  ThresholdOptimizer,
  type ThresholdFitOptions,
} from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { errorOf } from './error-of.ts';

/** Scores that separate the labels of group a, and those of group b except for one pair. */
const ROWS = {
  scores: [0.9, 0.7, 0.4, 0.2, 0.8, 0.5, 0.3, 0.1],
  y: [1, 1, 0, 0, 1, 0, 1, 0],
  sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
};

async function fitted(options: ThresholdOptimizerOptions = {}): Promise<ThresholdOptimizer> {
  return new ThresholdOptimizer(options).fit(ROWS.scores, ROWS.y, { sensitive: ROWS.sensitive });
}

describe('ThresholdOptimizer, options', () => {
  const refusals: [string, object, RegExp][] = [
    [
      'a grid without steps',
      { gridSize: 0 },
      /gridSize parameter must be a whole number from 1 to 1000000. Got 0 instead/,
    ],
    ['half a step', { gridSize: 2.5 }, /gridSize.*2\.5/],
    ['a grid that exceeds memory', { gridSize: 1e12 }, /gridSize parameter must be a whole number from 1 to 1000000/],
    ['a negative tolerance', { tolerance: -0.1 }, /tolerance parameter must be in \[0, 1\]. Got -0\.1 instead/],
    ['a tolerance of NaN', { tolerance: NaN }, /tolerance.*NaN/],
    ['an unknown policy for unseen groups', { unseenGroups: 'guess' }, /must be one of raise, pooled, reject/],
    ['a seed that is not a whole number', { seed: 0.5 }, /seed parameter must be a whole number/],
    ['prefit without an estimator', { prefit: true }, /prefit/],
    [
      'an objective that equalized odds does not support',
      { constraint: 'equalized_odds', objective: 'selection_rate' },
      /For equalized_odds only the following objectives are supported: accuracy_score, balanced_accuracy_score\. Got 'selection_rate'/,
    ],
  ];
  for (const [title, options, message] of refusals) {
    it(`rejects ${title}`, () => {
      expect(() => new ThresholdOptimizer(options)).to.throw(ValueError, message);
    });
  }

  it('suggests the intended name', () => {
    const thrown = (() => {
      try {
        return new ThresholdOptimizer({ constraint: 'equalised_odds' as 'equalized_odds' });
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).to.have.property('suggestion', "Did you mean 'equalized_odds'?");
  });

  it('treats the two names of demographic parity as the same', async () => {
    const one = await fitted({ constraint: 'demographic_parity' });
    const other = await fitted({ constraint: 'selection_rate_parity' });
    expect(other.interpolation).to.deep.equal(one.interpolation);
  });
});

describe('ThresholdOptimizer, data', () => {
  const fit = async (
    change: Partial<Record<'scores' | 'y' | 'sensitive' | 'sampleWeight', unknown>>,
  ): Promise<unknown> => {
    const { scores, y, ...options } = { ...ROWS, ...change };
    return new ThresholdOptimizer().fit(scores as number[], y as number[], options as ThresholdFitOptions);
  };
  const refusals: [string, Parameters<typeof fit>[0], RegExp][] = [
    [
      'text scores',
      { scores: ['low', 'high'] },
      /scores must hold numbers, but holds 'high' at index 1|'low' at index 0/,
    ],
    [
      'an infinite score',
      { scores: [Infinity, 1, 1, 1, 1, 1, 1, 1] },
      /scores must be finite, but holds Infinity at index 0/,
    ],
    ['a missing score', { scores: [1, NaN, 1, 1, 1, 1, 1, 1] }, /scores is missing at index 1/],
    ['scores of two columns', { scores: [[1], [2]] }, /scores holds a list at index 0/],
    ['a label of 2', { y: [2, 1, 0, 0, 1, 0, 1, 0] }, /y must be 0 or 1, but holds 2 at index 0/],
    ['a missing label', { y: [null, 1, 0, 0, 1, 0, 1, 0] }, /y is missing at index 0/],
    ['labels of another length', { y: [1, 0] }, /scores and y differ in length: 8 and 2/],
    ['groups of another length', { sensitive: ['a'] }, /scores and sensitive differ in length: 8 and 1/],
    ['a missing group', { sensitive: ['a', 'a', null, 'a', 'b', 'b', 'b', 'b'] }, /sensitive is missing at index 2/],
    ['a negative weight', { sampleWeight: [1, 1, 1, -1, 1, 1, 1, 1] }, /sampleWeight must be 0 or more.*index 3/],
    ['a missing weight', { sampleWeight: [1, 1, 1, NaN, 1, 1, 1, 1] }, /sampleWeight is missing at index 3/],
    ['weights that are all 0', { sampleWeight: [0, 0, 0, 0, 0, 0, 0, 0] }, /sampleWeight is 0 in every row/],
    [
      'weights whose sum is infinite',
      { sampleWeight: Array<number>(8).fill(1e308) },
      /sum of the weights in sampleWeight is too large/,
    ],
    [
      'a weight too near 0 for its products',
      { sampleWeight: [1, 1, 1, 5e-324, 1, 1, 1, 1] },
      /sampleWeight must be 0 or at least 2\.0\d*e-292, but holds 5e-324 at index 3/,
    ],
    ['no rows', { scores: [], y: [], sensitive: [] }, /no rows to choose thresholds from/],
  ];
  for (const [title, change, message] of refusals) {
    it(`rejects ${title}`, async () => {
      const error = await errorOf(fit(change));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(message);
    });
  }

  for (const unit of [2 ** -960, 2 ** 1000]) {
    it(`the unit of weights affects only the reported weights: ${String(unit)}`, async () => {
      const weights = [1, 2, 3, 1, 2, 1, 1, 2];
      const run = async (sampleWeight: number[]) => {
        const { scores, y, sensitive } = ROWS;
        const options = { constraint: 'equalized_odds', objective: 'balanced_accuracy_score' } as const;
        const optimizer = await new ThresholdOptimizer(options).fit(scores, y, { sensitive, sampleWeight });
        return ThresholdOptimizer.fromJSON(JSON.parse(JSON.stringify(optimizer))).describe();
      };
      const plain = await run(weights);
      const scaled = await run(weights.map((weight) => weight * unit));
      expect(scaled.groups.map(({ weight, ...rest }) => ({ ...rest, weight: weight / unit }))).to.deep.equal(
        plain.groups,
      );
      expect([scaled.objectiveValue, scaled.gap]).to.deep.equal([plain.objectiveValue, plain.gap]);
    });
  }

  it('suggests to map text labels, and not an option that does not exist', async () => {
    for (const y of [ROWS.y.map((label) => (label === 1 ? 'yes' : 'no')), ROWS.y.map((label) => label + 1)]) {
      const error = await errorOf(fit({ y }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(error.message).to.match(/y must be 0 or 1, but holds ('yes'|2) at index 0/);
      expect(error.context['argument']).to.equal('y');
      expect(error.suggestion).to.equal('Map the positive label to 1 and the others to 0.');
    }
  });

  it('names a group without the label that a rate needs, and the label', async () => {
    const y = [1, 1, 0, 0, 1, 1, 1, 1];
    for (const constraint of ['equalized_odds', 'false_positive_rate_parity'] as const) {
      const optimizer = new ThresholdOptimizer({ constraint });
      const error = await errorOf(optimizer.fit(ROWS.scores, y, { sensitive: ROWS.sensitive }));
      expect(error.message).to.match(/The group 'b' has no row labelled 0/);
      expect(error.context).to.include({ group: 'b', label: 0 });
      expect(error.suggestion).to.match(/demographic_parity with accuracy_score/);
    }
  });

  it('accepts a group of one label if no rate needs the other', async () => {
    const y = [1, 1, 0, 0, 1, 1, 1, 1];
    for (const constraint of ['demographic_parity', 'true_positive_rate_parity'] as const) {
      const optimizer = await new ThresholdOptimizer({ constraint }).fit(ROWS.scores, y, { sensitive: ROWS.sensitive });
      const [, group] = optimizer.describe().groups;
      expect(group?.falsePositiveRate).to.equal(null);
      expect(optimizer.describe().gap).to.be.at.most(1e-12);
    }
  });

  it('ignores a group whose rows all have weight 0', async () => {
    const sampleWeight = ROWS.sensitive.map((group) => Number(group === 'b'));
    const optimizer = new ThresholdOptimizer();
    await optimizer.fit(ROWS.scores, ROWS.y, { sensitive: ROWS.sensitive, sampleWeight });
    expect(optimizer.describe().groups.map(({ group, n }) => [group, n])).to.deep.equal([['b', 4]]);
    expect(optimizer.describe().nZeroWeight).to.equal(4);
  });

  it('decides all rows equally for one row, one group, one label or one score', async () => {
    const optimizer = await new ThresholdOptimizer().fit([0.3], [1], { sensitive: ['a'] });
    expect([...(await optimizer.predictProba([0.3], { sensitive: ['a'] }))]).to.deep.equal([1]);
    expect(optimizer.describe()).to.include({ objectiveValue: 1, gap: 0, n: 1 });
  });

  it('decides by chance if all scores are equal, with one rate per group', async () => {
    // Without separation, accuracy is the share of 0s minus 2 x (1/4) times the rate, so selecting no row is best.
    const y = [1, 0, 0, 0, 1, 0, 0, 0];
    const optimizer = new ThresholdOptimizer();
    await optimizer.fit(new Float32Array(8).fill(0.5), y, { sensitive: ROWS.sensitive });
    expect([...(await optimizer.predictProba([0.5], { sensitive: ['a'] }))]).to.deep.equal([0]);
    expect(optimizer.describe().objectiveValue).to.equal(0.75);
  });

  it('distinguishes adjacent float64 scores, on both sides', async () => {
    const upper = 1 + Number.EPSILON;
    for (const [scores, y, flip] of [
      [[1, upper], [0, 1], false],
      [[1, 1 - Number.EPSILON / 2], [1, 0], false],
      [[1, upper], [1, 0], true],
      [[1, 1 - Number.EPSILON / 2], [0, 1], true],
      [[-1.7e308, 1.7e308], [0, 1], false],
      [[1.6e308, 1.7e308], [1, 0], true],
    ] as const) {
      const optimizer = await new ThresholdOptimizer({ flip }).fit(scores, y, { sensitive: ['a', 'a'] });
      const probabilities = await optimizer.predictProba(scores, { sensitive: ['a', 'a'] });
      expect([...probabilities], JSON.stringify({ scores, y })).to.deep.equal(y);
    }
  });

  it('accepts any group label, also names of inherited properties', async () => {
    const sensitive = ROWS.sensitive.map((group) => (group === 'a' ? '__proto__' : 'constructor'));
    const optimizer = await new ThresholdOptimizer().fit(ROWS.scores, ROWS.y, { sensitive });
    expect(Object.keys(optimizer.interpolation)).to.deep.equal(['__proto__', 'constructor']);
    expect(await optimizer.predictProba(ROWS.scores, { sensitive })).to.deep.equal(
      await (await fitted()).predictProba(ROWS.scores, { sensitive: ROWS.sensitive }),
    );
  });

  it('combines several attributes', async () => {
    const sensitive = { sex: ROWS.sensitive, old: [0, 0, 0, 0, 0, 0, 1, 1] };
    const optimizer = await new ThresholdOptimizer().fit(ROWS.scores, ROWS.y, { sensitive });
    expect(Object.keys(optimizer.interpolation)).to.deep.equal(['a||0', 'b||0', 'b||1']);
  });

  it('reads tensors, columns and texts of 0 and 1 like arrays', async () => {
    await loadTensorflow({ backend: 'cpu' });
    const rows = { sensitive: tf.tensor1d([0, 0, 0, 0, 1, 1, 1, 1], 'int32') };
    const scores = tf.tensor1d(ROWS.scores.map((score) => 10 * score));
    const optimizer = await new ThresholdOptimizer().fit(scores, ROWS.y.map(String), rows);
    const expected = await (await fitted()).predictProba(ROWS.scores, { sensitive: ROWS.sensitive });
    const probabilities = await optimizer.predictProba(scores, rows);
    expect([...(await probabilities.data())]).to.deep.equal([...expected]);
    tf.dispose([rows, scores, probabilities]);
  });
});

describe('ThresholdOptimizer, rules', () => {
  it('reports that it is not fitted', async () => {
    const optimizer = new ThresholdOptimizer();
    expect(() => optimizer.describe()).to.throw(ValueError, 'not fitted yet');
    expect(() => optimizer.interpolation).to.throw(ValueError, 'not fitted yet');
    expect(() => optimizer.toMarkdown()).to.throw(ValueError, 'not fitted yet');
    expect((await errorOf(optimizer.predict([1], { sensitive: ['a'] }))).message).to.match(/not fitted yet/);
  });

  it('returns frozen results', async () => {
    const optimizer = await fitted();
    const rules = optimizer.describe();
    for (const part of [
      optimizer,
      rules,
      rules.groups,
      rules.groups[0],
      rules.pooled,
      rules.groups[0]?.interpolation.operation0,
      optimizer.interpolation,
    ]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('the rules contain the settings that produced them', async () => {
    const rules = (await fitted({ constraint: 'equalized_odds', gridSize: 10, flip: true, tolerance: 0.5 })).describe();
    expect(rules).to.include({
      constraint: 'equalized_odds',
      objective: 'accuracy_score',
      gridSize: 10,
      flip: true,
      tolerance: 0.5,
      n: 8,
      nZeroWeight: 0,
    });
  });

  it('a second fit discards the first', async () => {
    const optimizer = await fitted();
    await optimizer.fit([1, 2], [0, 1], { sensitive: ['z', 'z'] });
    expect(Object.keys(optimizer.interpolation)).to.deep.equal(['z']);
  });
});

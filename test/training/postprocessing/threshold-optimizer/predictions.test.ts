import { expect } from 'chai';

import { DataValidationError } from '../../../../src/exceptions/index.ts';
import { createRandom } from '../../../../src/internal/random.ts';
import type { ThresholdOptimizerOptions } from '../../../../src/training/postprocessing/threshold-optimizer/optimizer-options.ts';
import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { errorOf } from './error-of.ts';

const ROWS = {
  scores: [0.9, 0.7, 0.4, 0.2, 0.8, 0.5, 0.3, 0.1],
  y: [1, 1, 0, 0, 1, 0, 1, 0],
  sensitive: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'],
};

async function fitted(options: ThresholdOptimizerOptions = {}): Promise<ThresholdOptimizer> {
  return new ThresholdOptimizer(options).fit(ROWS.scores, ROWS.y, { sensitive: ROWS.sensitive });
}

describe('ThresholdOptimizer, predictions', () => {
  /** Half of the rows of group a with a score of 1 are positive, so that its rule is randomised. */
  const drawn = {
    scores: [1, 1, 1, 1, 2, 1, 1, 1],
    y: [1, 1, 0, 0, 1, 0, 0, 0],
    sensitive: ROWS.sensitive,
  };
  const many = 4000;
  const asked = { scores: Array<number>(many).fill(1), sensitive: Array<string>(many).fill('a') };

  async function drawing(options: ThresholdOptimizerOptions = {}): Promise<ThresholdOptimizer> {
    const { scores, y, sensitive } = drawn;
    return new ThresholdOptimizer(options).fit(scores, y, { sensitive });
  }

  it('decisions occur as often as their probability states', async () => {
    const optimizer = await drawing();
    const [probability = NaN] = await optimizer.predictProba([1], { sensitive: ['a'] });
    expect(probability).to.be.within(0.1, 0.9);
    const rowIds = asked.scores.map((_, row) => row);
    for (const options of [{ draw: 'sequence' }, { draw: 'stable', rowIds }] as const) {
      const decisions = await optimizer.predict(asked.scores, { sensitive: asked.sensitive, ...options });
      const share = decisions.reduce((sum, decision) => sum + decision, 0) / many;
      // Five standard errors.
      expect(share).to.be.closeTo(probability, 5 * Math.sqrt((probability * (1 - probability)) / many));
    }
  });

  it('the same seed gives the same decisions, another seed other decisions', async () => {
    const optimizer = await drawing();
    for (const draw of ['sequence', 'stable'] as const) {
      const rowIds = asked.scores.map((_, row) => `person ${row}`);
      const decide = async (seed: number) =>
        [...(await optimizer.predict(asked.scores, { sensitive: asked.sensitive, draw, rowIds, seed }))].join('');
      expect(await decide(1)).to.equal(await decide(1));
      expect(await decide(1)).to.not.equal(await decide(2));
    }
  });

  it('stable decisions do not depend on the other rows', async () => {
    const optimizer = await fitted({ constraint: 'equalized_odds', gridSize: 7 });
    const random = createRandom(5);
    const scores = Array.from({ length: 300 }, () => random.next());
    const sensitive = scores.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const all = await optimizer.predict(scores, { sensitive, draw: 'stable' });
    for (const row of [0, 17, 299]) {
      const alone = await optimizer.predict([scores[row] ?? NaN], { sensitive: [sensitive[row]], draw: 'stable' });
      expect(alone[0]).to.equal(all[row]);
    }
    const reversed = await optimizer.predict([...scores].reverse(), {
      sensitive: [...sensitive].reverse(),
      draw: 'stable',
    });
    expect([...reversed].reverse()).to.deep.equal([...all]);
  });

  it('stable decisions of equal rows are equal, unless ids distinguish them', async () => {
    const optimizer = await drawing();
    const count = async (rowIds?: readonly number[]): Promise<number> =>
      new Set(await optimizer.predict(asked.scores, { sensitive: asked.sensitive, draw: 'stable', rowIds })).size;
    expect(await count()).to.equal(1);
    expect(await count(asked.scores.map((_, row) => row))).to.equal(2);
  });

  it('decide returns decisions with their probabilities and the settings of the draw', async () => {
    const optimizer = await drawing({ seed: 7 });
    const { decisions, probabilities, ...rest } = await optimizer.decide(asked.scores, { sensitive: asked.sensitive });
    expect(rest).to.deep.equal({ rejected: [], unseenGroups: [], seed: 7, draw: 'sequence' });
    expect(decisions).to.deep.equal(await optimizer.predict(asked.scores, { sensitive: asked.sensitive }));
    expect(probabilities).to.deep.equal(await optimizer.predictProba(asked.scores, { sensitive: asked.sensitive }));
  });

  it('returns no decisions for no rows', async () => {
    const optimizer = await fitted();
    expect(await optimizer.predict([], { sensitive: [] })).to.have.length(0);
  });

  const refusals: [string, object, RegExp][] = [
    ['an unknown draw mode', { draw: 'coin' }, /draw parameter must be one of sequence, stable/],
    ['ids of another length', { draw: 'stable', rowIds: [1, 2] }, /scores and rowIds differ in length: 1 and 2/],
    ['a seed of NaN', { seed: NaN }, /seed parameter must be a whole number/],
    ['groups of another length', { sensitive: ['a', 'b'] }, /scores and sensitive differ in length/],
  ];
  for (const [title, options, message] of refusals) {
    it(`rejects ${title}`, async () => {
      const optimizer = await fitted();
      expect((await errorOf(optimizer.predict([1], { sensitive: ['a'], ...options }))).message).to.match(message);
    });
  }
});

describe('ThresholdOptimizer, groups that were not in the rows of fit', () => {
  const asked = { scores: [0.95, 0.95, 0.05, 0.95], sensitive: ['a', 'new', 'new', 'newer'] };

  it('raise: names the group, its index, and the options', async () => {
    const error = await errorOf((await fitted()).predictProba(asked.scores, { sensitive: asked.sensitive }));
    expect(error).to.be.instanceOf(DataValidationError);
    expect(error.message).to.match(
      /the group 'new' at index 1 \(and 1 more groups\), which was not in the rows of fit/,
    );
    expect(error.context).to.deep.include({ index: 1, groups: ['new', 'newer'] });
    expect(error.suggestion).to.match(/'pooled'.*'reject'/);
  });

  it('pooled: applies the one threshold that is best for all rows', async () => {
    const optimizer = await fitted({ unseenGroups: 'pooled' });
    // By descending score the labels are 1 1 1 0 0 1 0 0: selecting only the three highest leaves one error.
    const { interpolation, objectiveValue } = optimizer.describe().pooled;
    expect(objectiveValue).to.equal(7 / 8);
    expect(interpolation.operation0).to.deep.equal({ operator: '>', threshold: 0.6 });
    expect([...(await optimizer.predictProba(asked.scores, { sensitive: asked.sensitive }))].slice(1)).to.deep.equal([
      1, 0, 1,
    ]);
    expect((await optimizer.decide(asked.scores, { sensitive: asked.sensitive })).unseenGroups).to.deep.equal([
      'new',
      'newer',
    ]);
  });

  it('pooled with flip: selects low scores if the scores are reversed', async () => {
    const optimizer = new ThresholdOptimizer({ flip: true });
    await optimizer.fit([1, 2, 3, 4], [1, 1, 0, 0], { sensitive: ['a', 'a', 'a', 'a'] });
    expect(optimizer.describe().pooled).to.deep.include({ objectiveValue: 1 });
    expect(optimizer.describe().pooled.interpolation.operation0).to.deep.equal({ operator: '<', threshold: 2.5 });
  });

  it('pooled, equally good thresholds: the one that selects fewest rows', async () => {
    // Three rows are correct below 1.5 and below 3.5, and, with the signs reversed, above.
    for (const [scores, operator, threshold] of [
      [[1, 2, 3, 4], '<', 1.5],
      [[4, 3, 2, 1], '>', 3.5],
    ] as const) {
      const optimizer = new ThresholdOptimizer({ flip: true });
      await optimizer.fit(scores, [1, 0, 1, 0], { sensitive: ['a', 'a', 'a', 'a'] });
      expect(optimizer.describe().pooled.interpolation.operation0).to.deep.equal({ operator, threshold });
    }
  });

  it('reject: decides 0 and lists the rows, and no probability is NaN', async () => {
    const optimizer = await fitted({ unseenGroups: 'reject' });
    const { decisions, probabilities, rejected, unseenGroups } = await optimizer.decide(asked.scores, {
      sensitive: asked.sensitive,
    });
    expect(rejected).to.deep.equal([1, 2, 3]);
    expect(unseenGroups).to.deep.equal(['new', 'newer']);
    expect([...decisions].slice(1)).to.deep.equal([0, 0, 0]);
    expect([...probabilities].slice(1)).to.deep.equal([0, 0, 0]);
  });

  it('a label that no row of the column has does not count as unseen', async () => {
    const sensitive = { kind: 'categorical', codes: Int32Array.of(0), labels: ['a', 'absent'] } as const;
    expect(await (await fitted()).predictProba([0.9], { sensitive })).to.have.length(1);
  });
});

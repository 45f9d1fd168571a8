import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import type { Answered, DimensionAnswers } from '../../../src/llm-evals/scoring/dimension-answers.ts';
import { type AnswerFeature, pairedGap } from '../../../src/llm-evals/scoring/paired-gap.ts';
import { scoreSettings } from '../../../src/llm-evals/scoring/score-settings.ts';

const GROUPS = Array.from({ length: 12 }, (_, index) => `group ${String(index)}`);
const PAIRS = 66;
const ITEMS = 30;
const RUNS = 200;

/** Answers that are numbers, for 12 groups in 30 items. Each item has its own mean. */
function answersOf(seed: number, shiftOf: (group: number) => number): DimensionAnswers {
  const random = createRandom(seed);
  const items = Array.from({ length: ITEMS }, (_, index) => {
    const mean = random.next();
    const answerOf = (at: number): Answered =>
      ({ text: String(mean + random.next() + shiftOf(at)), details: {} }) as unknown as Answered;
    const byGroup = new Map(GROUPS.map((group, at) => [group, [answerOf(at)]]));
    return { item: `item ${String(index)}`, template: 't', unit: `item ${String(index)}`, byGroup };
  });
  return { dimension: 'gender*origin', groups: GROUPS, items, exclusions: {} };
}

const NUMBER: AnswerFeature = { metric: 'gap', measure: 'mean', isRate: false, of: ({ text }) => Number(text) };

describe('a comparison of 12 groups in 66 pairs @study', function () {
  this.timeout(600_000);

  it('reports an effect, and misses a true difference with an interval, in at most 5% of the runs without an effect', () => {
    let called = 0;
    let missed = 0;
    for (let seed = 0; seed < RUNS; seed++) {
      const result = pairedGap('e', answersOf(seed, () => 0), NUMBER, scoreSettings({ seed })); // prettier-ignore
      expect(result.pairs).to.have.length(PAIRS);
      if ((result.pValue ?? 1) <= 0.05) called++;
      if (result.pairs.some(({ ci }) => ci === null || ci[0] > 0 || ci[1] < 0)) missed++;
    }
    console.log(
      `      called an effect in ${String(called)} of ${String(RUNS)} runs; an interval missed 0 in ${String(missed)}`,
    );
    // 17 of 200 is above 5% by two standard errors.
    expect(called).to.be.at.most(16);
    expect(missed).to.be.at.most(16);
  });

  it('finds the one group that differs, with p-values of pairs that are not adjusted', () => {
    const result = pairedGap('e', answersOf(1, (group) => (group === 3 ? 1 : 0)), NUMBER, scoreSettings()); // prettier-ignore
    const own = result.pairs.filter(({ first, second }) => [first, second].includes('group 3'));
    expect(own).to.have.length(11);
    // The smallest p-value of 4,999 permutations.
    expect(own.every(({ pValue }) => (pValue ?? 1) < 0.01)).to.equal(true);
    expect([result.first, result.second]).to.include('group 3');
    expect(result.pValue).to.be.closeTo(66 / 5000, 1e-12);
    // The intervals have the level 1 - 0.05 / 66, with 29 degrees of freedom. The factor is from scipy.stats.t.ppf(1 - 0.05 / 66 / 2, 29).
    const [low, high] = result.ci ?? [NaN, NaN];
    expect((high - low) / 2 / (result.standardError ?? NaN)).to.be.closeTo(3.76337, 0.01);
  });
});

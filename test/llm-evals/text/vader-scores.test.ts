import { expect } from 'chai';

import { roundHalfEven, type VaderScores, vaderScores } from '../../../src/llm-evals/text/sentiment/vader-scores.ts';
import { wassersteinDistance } from '../../../src/stats/distances/wasserstein-distance.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

/** vaderSentiment 3.3.2 in CPython 3.11: neg, neu, pos, compound. */
const CASES: [title: string, text: string, scores: [number, number, number, number]][] = [
  ['a rated word', 'The food is good here today', [0, 0.633, 0.367, 0.4404]],
  ['a booster', 'The food is extremely good', [0, 0.556, 0.444, 0.4927]],
  ['a dampener', 'The food is slightly good', [0, 0.605, 0.395, 0.3832]],
  ['a dampener of two words', 'The food is sort of good', [0, 0.657, 0.343, 0.3832]],
  ['capitals among small letters', 'The food is GOOD', [0, 0.452, 0.548, 0.5622]],
  ['capitals throughout mean nothing', 'THE FOOD IS GOOD', [0, 0.508, 0.492, 0.4404]],
  ['a booster in capitals', 'The food is VERY good', [0, 0.505, 0.495, 0.6028]],
  ['negation right before', 'The food is not good', [0.376, 0.624, 0, -0.3412]],
  ['negation three words before', "The food isn't that very good", [0.344, 0.656, 0, -0.3865]],
  ['"never so" strengthens', 'It was never so good', [0, 0.475, 0.525, 0.6626]],
  ['"without doubt" does not negate', 'Without doubt a good book', [0, 0.375, 0.625, 0.6136]],
  ['"no" before a rated word', 'There is no good food', [0.376, 0.624, 0, -0.3412]],
  ['"no" by itself', 'No, thank you', [0, 0.444, 0.556, 0.3612]],
  ['"no ... nor"', 'There is no joy nor love', [0.313, 0.407, 0.28, -0.0823]],
  [
    '"but" shifts the weight to what follows',
    'The food is good, but the staff is rude',
    [0.309, 0.541, 0.151, -0.4678],
  ],
  ['"but" among equal ratings', 'good good but good bad good', [0.274, 0.058, 0.669, 0.705]],
  ['"least" negates', 'The least good of all', [0.376, 0.624, 0, -0.3412]],
  ['"at least" does not', 'At least good food', [0, 0.508, 0.492, 0.4404]],
  ['an idiom', 'On the other hand, it is quite bad ass', [0, 0.423, 0.577, 0.802]],
  ['exclamation marks, no more than four', 'Good!!!!!!', [0, 0, 1.0, 0.6209]],
  ['question marks', 'Is that good???? Really??', [0, 0.437, 0.563, 0.594]],
  ['emoji', 'Good day 😀💘', [0, 0.294, 0.706, 0.8625]],
  ['emoji glued to words', 'good😢day', [0.443, 0.143, 0.414, -0.0516]],
  ['an emoticon keeps its signs', 'Well :-( and <3', [0.294, 0.118, 0.588, 0.3612]],
  ['a word of two letters keeps its signs', '(ok) ok!', [0, 1.0, 0, 0]],
  ['another language', 'Das Essen war köstlich', [0.565, 0.435, 0, -0.5994]],
  ['letters of other scripts in capitals', 'ŒUVRE Straße GOOD book', [0, 0.452, 0.548, 0.5622]],
];

describe('vaderScores', () => {
  for (const [title, text, scores] of CASES) {
    it(title, () => {
      const { neg, neu, pos, compound } = vaderScores(text);
      expect([neg, neu, pos, compound]).to.deep.equal(scores);
    });
  }

  it('gives zeros for a text of spaces', () => {
    expect(vaderScores(' \n\t\u00a0')).to.deep.equal({ neg: 0, neu: 0, pos: 0, compound: 0 });
  });

  it('ignores spaces around and between words', () => {
    expect(vaderScores('  not \n a  good\tbook ')).to.deep.equal(vaderScores('not a good book'));
  });

  it('gives shares in [0, 1] that add up to one, and a compound in [-1, 1]', () => {
    for (const [, text] of CASES) {
      const { neg, neu, pos, compound } = vaderScores(text);
      expect(neg + neu + pos).to.be.closeTo(1, 0.0016);
      for (const share of [neg, neu, pos]) expect(share).to.be.within(0, 1);
      expect(compound).to.be.within(-1, 1);
    }
    expect(vaderScores('good '.repeat(10_000)).compound).to.equal(1);
  });

  it('returns frozen results', () => {
    expect(vaderScores('good')).to.be.frozen;
    expect(vaderScores('')).to.be.frozen;
  });

  describeWithReference('of the published texts', () => {
    const { cases } = readVectors('vader.json') as { cases: { text: string; scores: VaderScores }[] };
    it('contains all 36', () => {
      expect(cases).to.have.length(36);
    });
    cases.forEach(({ text, scores }, index) => {
      it(`${index}: ${JSON.stringify(text.slice(0, 60))}`, () => {
        expect(vaderScores(text)).to.deep.equal(scores);
      });
    });

    it('gives the published distance between the negative shares of two groups of answers', () => {
      const { counterfactual } = readVectors('langfair_metrics.json') as {
        counterfactual: { text1: string[]; text2: string[]; sentiment_w1_vader_neg: number };
      };
      const [first, second] = [counterfactual.text1, counterfactual.text2].map((texts) =>
        texts.map((text) => vaderScores(text).neg),
      ) as [number[], number[]];
      expect(wassersteinDistance(first, second)).to.equal(counterfactual.sentiment_w1_vader_neg);
    });
  });
});

describe('roundHalfEven', () => {
  // Python 3.11: round(value, decimals).
  const cases: [value: number, decimals: number, rounded: number][] = [
    [0.0625, 3, 0.062],
    [0.1875, 3, 0.188],
    [0.3125, 3, 0.312],
    [-0.0625, 3, -0.062],
    [0.0005, 3, 0.001],
    [0.0015, 3, 0.002],
    [2.5, 0, 2],
    [3.5, 0, 4],
    [-2.5, 0, -2],
    [0.03125, 4, 0.0312],
    [0.44043357, 4, 0.4404],
    [-0.00001, 4, 0],
    [1, 4, 1],
  ];
  for (const [value, decimals, rounded] of cases) {
    it(`${value} to ${decimals} decimals is ${rounded}`, () => {
      expect(roundHalfEven(value, decimals)).to.equal(rounded);
    });
  }
});

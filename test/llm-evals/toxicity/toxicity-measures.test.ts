import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  expectedMaximumToxicity,
  toxicFraction,
  toxicityProbability,
} from '../../../src/llm-evals/toxicity/toxicity-measures.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface ToxicityVectors {
  readonly toxicity: {
    readonly threshold: number;
    readonly prompts: readonly string[];
    readonly scores: readonly number[];
    readonly toxic_fraction_all: number;
    readonly toxic_fraction_by_prompt: number;
    readonly expected_max: number;
    readonly toxicity_probability: number;
  };
}

describeWithReference('measures of toxicity, as LangFair computes them', () => {
  const { toxicity } = readVectors('langfair_metrics.json') as ToxicityVectors;
  const byPrompt = [...new Set(toxicity.prompts)].map((prompt) =>
    toxicity.scores.filter((_, index) => toxicity.prompts[index] === prompt),
  );

  it('toxicFraction covers all answers, and its mean over prompts', () => {
    expect(toxicFraction(toxicity.scores, toxicity.threshold)).to.equal(toxicity.toxic_fraction_all);
    const perPrompt = byPrompt.map((scores) => toxicFraction(scores));
    expect(perPrompt.reduce((sum, share) => sum + share, 0) / perPrompt.length).to.equal(
      toxicity.toxic_fraction_by_prompt,
    );
  });

  it('expectedMaximumToxicity', () => {
    expect(expectedMaximumToxicity(byPrompt)).to.equal(toxicity.expected_max);
  });

  it('toxicityProbability', () => {
    expect(toxicityProbability(byPrompt, toxicity.threshold)).to.equal(toxicity.toxicity_probability);
  });
});

describe('measures of toxicity', () => {
  it('do not count a score equal to the threshold', () => {
    expect(toxicFraction([0.3, 0.30000001])).to.equal(0.5);
    expect(toxicFraction([1], 1)).to.equal(0);
    expect(toxicFraction([0], 0)).to.equal(0);
    expect(toxicityProbability([[0.3], [0.31]])).to.equal(0.5);
  });

  it('are NaN without scores', () => {
    expect(toxicFraction([])).to.be.NaN;
    expect(expectedMaximumToxicity([])).to.be.NaN;
    expect(expectedMaximumToxicity([[], []])).to.be.NaN;
    expect(toxicityProbability([[]])).to.be.NaN;
  });

  it('exclude a prompt without answers', () => {
    expect(expectedMaximumToxicity([[], [0.5], [0.1, 0.7]])).to.equal(0.6);
    expect(toxicityProbability([[], [0.5], [0.1]])).to.equal(0.5);
  });

  it('agree with one answer per prompt: the expected maximum is the mean, and the probability is the fraction', () => {
    const scores = [0.125, 0.25, 0.5, 0.75];
    const byPrompt = scores.map((score) => [score]);
    expect(expectedMaximumToxicity(byPrompt)).to.equal(0.40625);
    expect(toxicityProbability(byPrompt)).to.equal(toxicFraction(scores));
  });

  it('do not depend on the order of answers or prompts', () => {
    const byPrompt = [
      [0.125, 0.5],
      [0.25, 0.75, 0.5],
    ];
    const turned = byPrompt.map((scores) => [...scores].reverse()).reverse();
    expect(expectedMaximumToxicity(turned)).to.equal(expectedMaximumToxicity(byPrompt));
    expect(toxicityProbability(turned)).to.equal(toxicityProbability(byPrompt));
  });

  it('accept typed arrays, and many scores', () => {
    const many = new Float32Array(300_000).fill(0.5);
    expect(toxicFraction(many)).to.equal(1);
    expect(expectedMaximumToxicity([many])).to.equal(0.5);
  });

  const broken: readonly (readonly [string, unknown])[] = [
    ['NaN', NaN],
    ['a negative score', -0.1],
    ['a score above 1', 1.1],
    ['Infinity', Infinity],
    ['text', '0.5'],
    ['null', null],
    ['a hole', undefined],
  ];
  for (const [title, score] of broken) {
    it(`${title} is rejected with its index`, () => {
      const scores = [0.5, score] as number[];
      expect(() => toxicFraction(scores)).to.throw(DataValidationError, 'scores[1] must be a number from 0 to 1');
      expect(() => expectedMaximumToxicity([[0.1], scores])).to.throw(DataValidationError, 'scoresByPrompt[1][1]');
    });
  }

  for (const threshold of [-0.1, 1.1, NaN]) {
    it(`a threshold of ${threshold} is rejected`, () => {
      expect(() => toxicFraction([0.5], threshold)).to.throw(ValueError, 'threshold');
      expect(() => toxicityProbability([[0.5]], threshold)).to.throw(ValueError, 'threshold');
    });
  }
});

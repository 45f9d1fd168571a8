import { expect } from 'chai';

import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { ToxicitySentimentEvaluator } from '../../../src/llm-evals/evaluators/toxicity-sentiment-evaluator.ts';
import { answersOf, transcript } from '../../helpers/llm-transcripts.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface ToxicityVector {
  readonly toxicity: {
    readonly threshold: number;
    readonly prompts: readonly string[];
    readonly scores: readonly number[];
    readonly toxic_fraction_by_prompt: number;
    readonly expected_max: number;
    readonly toxicity_probability: number;
  };
}

/** A scorer for texts that contain their own score. */
const scorer = (texts: readonly string[]): number[] => texts.map(Number);

describe('ToxicitySentimentEvaluator', () => {
  it('compares values of a dimension, and scores each text once', async () => {
    const seen: string[] = [];
    const evaluator = new ToxicitySentimentEvaluator({
      scorer: (texts) => {
        seen.push(...texts);
        return Promise.resolve(scorer(texts));
      },
    });
    const rows = Array<Record<string, string[]>>(6).fill({ woman: ['0.9', '0.1'], man: ['0.3', '0.1'] });
    const results = await evaluator.score(answersOf(rows));
    const values = Object.fromEntries(results.map(({ key, value }) => [key, value]));
    expect(values['toxicity_gap.gender']).to.be.closeTo(0.3, 1e-12);
    expect(values['toxic_fraction_difference.gender']).to.be.closeTo(0.5, 1e-12);
    expect(seen.sort()).to.deep.equal(['0.1', '0.3', '0.9']);
    expect(results.flatMap(({ warnings }) => warnings).join()).not.to.match(/lexicon/);
  });

  it('warns on every toxicity metric that the lexicon is not a classifier', async () => {
    const results = await new ToxicitySentimentEvaluator().score(answersOf([{ woman: ['Hello.'], man: ['Hello.'] }]));
    for (const { key, warnings } of results) {
      expect(warnings.join(), key).to.match(key.startsWith('negative') ? /^$/ : /lexicon, not a classifier/);
    }
  });

  it('rejects invalid scores', async () => {
    for (const wrong of [[], [2], [NaN], ['0.5']]) {
      const evaluator = new ToxicitySentimentEvaluator({ scorer: () => wrong as number[] });
      const problem = await evaluator.score([transcript({ text: 'a' })]).catch((error: unknown) => error);
      expect(FairnessToolkitError.isInstance(problem), String(wrong)).to.equal(true);
    }
  });

  it('rejects an invalid threshold', () => {
    expect(() => new ToxicitySentimentEvaluator({ threshold: 30 })).to.throw('threshold');
  });
});

describeWithReference('ToxicitySentimentEvaluator against the shared vectors', () => {
  it("matches LangFair's fraction, expected maximum and probability", async () => {
    const { toxicity } = readVectors('langfair_metrics.json') as ToxicityVector;
    const transcripts = toxicity.scores.map((score, index) =>
      transcript({ prompt: toxicity.prompts[index] ?? '', repeat: index, text: String(score) }),
    );
    const evaluator = new ToxicitySentimentEvaluator({ scorer, threshold: toxicity.threshold });
    const results = await evaluator.score(transcripts, { allowSmallSamples: true });
    const values = Object.fromEntries(results.map(({ key, value }) => [key, value]));
    expect(values['toxic_fraction']).to.be.closeTo(toxicity.toxic_fraction_by_prompt, 1e-12);
    expect(values['expected_maximum_toxicity']).to.be.closeTo(toxicity.expected_max, 1e-12);
    expect(values['toxicity_probability']).to.be.closeTo(toxicity.toxicity_probability, 1e-12);
  });
});

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import type { ToxicityScorer } from '../../../src/llm-evals/toxicity/lexicon-toxicity.ts';
import { scoreToxicity, toxicityLabel } from '../../../src/llm-evals/toxicity/score-toxicity.ts';

/** A scorer from untyped JavaScript. */
function untyped(result: unknown): ToxicityScorer {
  return (() => result) as ToxicityScorer;
}

describe('scoreToxicity', () => {
  const accepted: readonly (readonly [string, unknown])[] = [
    ['an array', [0, 1]],
    ['a promise', Promise.resolve([0, 1])],
    ['a typed array', Float32Array.of(0, 1)],
  ];
  for (const [title, result] of accepted) {
    it(`accepts ${title}`, async () => {
      expect(await scoreToxicity(['a', 'b'], untyped(result))).to.deep.equal([0, 1]);
    });
  }

  const refused: readonly (readonly [string, unknown, string])[] = [
    ['too few scores', [0], 'it returned 1 scores for 2 texts'],
    ['too many scores', [0, 0, 0], 'it returned 3 scores for 2 texts'],
    ['a number', 0.5, 'it returned 0.5 for 2 texts'],
    ['nothing', undefined, 'it returned undefined for 2 texts'],
    ['an object', { scores: [0, 0] }, 'it returned an object for 2 texts'],
    ['NaN', [0, NaN], 'score 1 is NaN'],
    ['a score below 0', [-0.01, 0], 'score 0 is -0.01'],
    ['a score above 1', [0, 1.01], 'score 1 is 1.01'],
    ['text', [0, '0.5'], "score 1 is '0.5'"],
    ['null', [null, 0], 'score 0 is null'],
    ['a list of lists', [[0], [0]], 'score 0 is an object'],
  ];
  for (const [title, result, reason] of refused) {
    it(`rejects ${title}`, async () => {
      const error = await scoreToxicity(['a', 'b'], untyped(result)).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(DataValidationError).with.property('message').that.includes(reason);
    });
  }

  it("passes on the scorer's errors", async () => {
    const problem = new Error('no service');
    const failing = () => Promise.reject(problem);
    expect(await scoreToxicity(['a'], failing).catch((thrown: unknown) => thrown)).to.equal(problem);
  });

  it('does not call the scorer without texts', async () => {
    const never: ToxicityScorer = () => {
      throw new Error('asked');
    };
    expect(await scoreToxicity([], never)).to.deep.equal([]);
  });

  it('uses the lexicon by default, and says so', async () => {
    expect((await scoreToxicity(['a gay man', 'what sh1t'])).map((score) => Math.round(score * 10) / 10)).to.deep.equal(
      [0, 0.7],
    );
    expect(toxicityLabel()).to.equal('lexicon, not a classifier');
    expect(toxicityLabel(() => [])).to.equal('own scorer');
    expect(toxicityLabel(Object.assign(() => [], { label: 'a service' }))).to.equal('a service');
  });
});

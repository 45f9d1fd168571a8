import { expect } from 'chai';

import { RefusalRateEvaluator } from '../../../src/llm-evals/evaluators/refusal-rate-evaluator.ts';
import { answersOf, transcript } from '../../helpers/llm-transcripts.ts';

const FULL = "I can't help with that request.";
const PARTIAL = "I won't write that, but I can explain how the law works: ...";
const NONE = 'Sorry for the delay. Here is the list you asked for: 1) ...';
const UNCLEAR = 'No.';

function score(transcripts: Parameters<RefusalRateEvaluator['score']>[0], options = {}) {
  return new Map(new RefusalRateEvaluator().score(transcripts, options).map((result) => [result.key, result]));
}

describe('RefusalRateEvaluator', () => {
  it('returns shares of all answers, including unclear ones', () => {
    const texts = [FULL, FULL, PARTIAL, NONE, NONE, NONE, UNCLEAR, ''];
    const results = score(texts.map((text, index) => transcript({ item: `item ${String(index)}`, text })));
    expect(results.get('refusal_rate')?.value).to.equal(2 / 8);
    expect(results.get('partial_refusal_rate')?.value).to.equal(1 / 8);
    // Wilson for 2 of 8 (statsmodels proportion_confint): 0.0715 to 0.5907.
    expect(results.get('refusal_rate')?.ci?.[0]).to.be.closeTo(0.0715, 5e-5);
    expect(results.get('refusal_rate')?.ci?.[1]).to.be.closeTo(0.5907, 5e-5);
  });

  it('compares values of a dimension within items', () => {
    const rows = [
      ...Array<Record<string, string[]>>(6).fill({ woman: [FULL], man: [NONE] }),
      ...Array<Record<string, string[]>>(2).fill({ woman: [NONE], man: [FULL] }),
      ...Array<Record<string, string[]>>(12).fill({ woman: [NONE], man: [UNCLEAR] }),
    ];
    const gap = score(answersOf(rows)).get('refusal_rate_difference.gender');
    expect(gap?.value).to.be.closeTo(4 / 20, 1e-12);
    // Of eight items that differ, six go in one direction: 2 x (28 + 8 + 1) / 256 sign patterns are at least as far
    // from 0.
    expect(gap?.pValue).to.be.closeTo(74 / 256, 0.03);
    const [p12, p21] = [7 / 22, 3 / 22];
    const margin = 1.959963984540054 * Math.sqrt((p12 + p21 - (p12 - p21) ** 2) / 22);
    expect(gap?.ci?.[0]).to.be.closeTo(p12 - p21 - margin, 1e-12);
    expect(gap?.perGroup['woman']).to.deep.equal({
      full_rate: 6 / 20,
      partial_rate: 0,
      none_rate: 14 / 20,
      unclear_rate: 0,
    });
    expect(gap?.perGroup['man']?.['unclear_rate']).to.equal(12 / 20);
  });

  it('follows the refusal flag of the provider', () => {
    const results = score(
      Array.from({ length: 5 }, (_, index) => transcript({ item: `i${String(index)}`, text: 'Hm.', isRefusal: true })),
    );
    expect(results.get('refusal_rate')?.value).to.equal(1);
  });

  it('counts a prompt once, for any number of repeats', () => {
    const asked = [FULL, NONE, NONE, NONE].map((text, repeat) => transcript({ item: 'a', repeat, text }));
    const others = ['b', 'c', 'd', 'e'].map((item) => transcript({ item, text: FULL }));
    const rate = score([...asked, ...others]).get('refusal_rate');
    expect(rate?.value).to.equal((1 / 4 + 4) / 5);
    expect(rate?.n).to.equal(5);
  });

  it('is undefined for too few prompts, and for none', () => {
    expect(score([transcript({ text: FULL })]).get('refusal_rate')?.undefinedReason).to.match(
      /1 prompt was answered, fewer than 5/,
    );
    const none = score([transcript({ text: null })]).get('refusal_rate');
    expect(none?.undefinedReason).to.equal('no prompt was answered');
    expect(none?.exclusions).to.deep.equal({ server: 1 });
  });
});

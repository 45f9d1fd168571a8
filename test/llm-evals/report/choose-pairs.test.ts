import { expect } from 'chai';

import type { Transcript } from '../../../src/llm-evals/client/transcript.ts';
import { choosePairs, MAX_DIFFERENT, TYPICAL } from '../../../src/llm-evals/report/llm-eval-document.ts';
import { llmMetric } from '../../../src/llm-evals/scoring/llm-metric-result.ts';
import { answerOf, byName } from './made-results.ts';

/** Items whose two answers have `common` of ten words in common and differ in the rest. */
function items(commons: readonly number[]): Transcript[] {
  return commons.flatMap((common, item) => {
    const words = (own: string): string =>
      Array.from({ length: 10 }, (_, index) => `${index < common ? 'both' : own}${String(index)}`).join(' ');
    return [answerOf(`item ${String(item)}`, 'woman', words('w')), answerOf(`item ${String(item)}`, 'man', words('m'))];
  });
}

const GIVEN = { metric: 'sentiment_gap', evaluator: 'counterfactual', dimension: 'gender', value: 0.1 } as const;
const metric = llmMetric(GIVEN);

describe('choosePairs', () => {
  it('chooses the pairs that share the fewest words, and some from the middle of the rest', () => {
    const commons = Array.from({ length: 30 }, (_, item) => item % 10);
    const chosen = choosePairs({ metrics: byName([metric]), transcripts: items(commons) });
    expect(chosen?.total).to.equal(30);
    // Three items each share 0, 1, 2 … of ten words. The order of the plan breaks ties.
    expect(chosen?.different.map(({ item }) => item)).to.deep.equal(
      [0, 10, 20, 1, 11, 21].map((item) => `item ${String(item)}`),
    );
    // The four in the middle of the 24 others, in order: three that share 5 words and one that shares 6, from the 11th
    // on.
    expect(chosen?.typical).to.have.length(TYPICAL);
    expect(chosen?.typical.map(({ item }) => item)).to.deep.equal(
      [15, 25, 6, 16].map((item) => `item ${String(item)}`),
    );
    expect(chosen?.different[3]?.difference).to.be.closeTo(1 - 1 / 19, 1e-12);
  });

  for (const count of [1, 2, 6, 7, 10]) {
    it(`shows all of ${String(count)} pairs, each once`, () => {
      const chosen = choosePairs({ metrics: {}, transcripts: items(Array.from({ length: count }, (_, n) => n)) });
      expect(chosen?.different).to.have.length(Math.min(count, MAX_DIFFERENT));
      const all = [...(chosen?.different ?? []), ...(chosen?.typical ?? [])].map(({ item }) => item);
      expect(new Set(all).size).to.equal(count);
    });
  }

  it('chooses the dimension and the values with the smallest p-value, then the largest size', () => {
    const weekday = (item: string, group: string): Transcript =>
      answerOf(item, group, 'same', { dimension: 'weekday' });
    const transcripts = [
      ...items([1, 2]),
      ...['Monday', 'Friday', 'Sunday'].flatMap((group) => [weekday('item 0', group), weekday('item 1', group)]),
    ];
    const pair = { ci: null, n: 2, undefinedReason: null };
    const clear = llmMetric({
      ...GIVEN,
      metric: 'length_gap',
      dimension: 'weekday',
      value: 0.01,
      adjustedPValue: 0.001,
      pairs: [
        { ...pair, first: 'Monday', second: 'Friday', value: 0.9, pValue: 0.5 },
        { ...pair, first: 'Friday', second: 'Sunday', value: -0.2, pValue: 0.01 },
        { ...pair, first: 'Monday', second: 'Sunday', value: NaN, pValue: null },
      ],
    });
    const chosen = choosePairs({ metrics: byName([metric, clear]), transcripts });
    expect([chosen?.dimension, chosen?.values]).to.deep.equal(['weekday', ['Friday', 'Sunday']]);
  });

  it('uses the control only if there is no other dimension', () => {
    const weekday = (item: string, group: string): Transcript => answerOf(item, group, group, { dimension: 'weekday' });
    const control = [weekday('i', 'Monday'), weekday('i', 'Friday')];
    const metrics = byName([llmMetric({ ...GIVEN, dimension: 'weekday', pValue: 0.001 }), metric]);
    const both = choosePairs({ metrics, transcripts: [...control, ...items([1, 2])] }, 'weekday');
    expect(both?.dimension).to.equal('gender');
    expect(choosePairs({ metrics, transcripts: control }, 'weekday')?.dimension).to.equal('weekday');
  });

  it('uses an answer that two evaluators asked for once, and excludes unanswered prompts', () => {
    const transcripts = items([1, 2]).flatMap((transcript) => [
      transcript,
      { ...transcript, evaluator: 'refusal' as const },
      { ...transcript, repeat: 1, text: transcript.group === 'man' ? null : transcript.text },
    ]);
    expect(choosePairs({ metrics: {}, transcripts })?.total).to.equal(2);
  });

  it('returns null without two answered groups of a dimension', () => {
    expect(choosePairs({ metrics: {}, transcripts: [] })).to.equal(null);
    expect(
      choosePairs({ metrics: {}, transcripts: [answerOf('i', 'woman', 'a'), answerOf('j', 'man', 'b')] }),
    ).to.equal(null);
    const plain = items([1]).map((transcript) => ({ ...transcript, dimension: null, group: null }));
    expect(choosePairs({ metrics: {}, transcripts: plain })).to.equal(null);
  });

  it('treats two empty answers as equal', () => {
    const transcripts = [answerOf('i', 'woman', ''), answerOf('i', 'man', '...')];
    expect(choosePairs({ metrics: {}, transcripts })?.different[0]?.difference).to.equal(0);
  });
});

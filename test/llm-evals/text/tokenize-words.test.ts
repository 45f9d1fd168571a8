import { expect } from 'chai';

import { tokenizeWords } from '../../../src/llm-evals/text/words.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

describe('tokenizeWords', () => {
  const cases: [title: string, text: string, tokens: string[]][] = [
    ['nothing in nothing', '', []],
    ['punctuation is no word', '... -- !? ’ \' "', []],
    ['case does not count', 'Ada LOVELACE', ['ada', 'lovelace']],
    ['apostrophes stay inside a word', "don't o'clock", ["don't", "o'clock"]],
    ['curly apostrophes are straight ones', 'don’t donʼt', ["don't", "don't"]],
    ['quotation marks are no part of a word', "'quoted' the dogs' bowls", ['quoted', 'the', 'dogs', 'bowls']],
    ['hyphens and dashes separate', 'well-paid—so it is', ['well', 'paid', 'so', 'it', 'is']],
    ['numbers keep points and commas inside', 'Pay 1,000.50, or 3.', ['pay', '1,000.50', 'or', '3']],
    ['letters and digits make one word', 'gpt4 2nd 3.5turbo', ['gpt4', '2nd', '3', '5turbo']],
    ['letters of any script', 'Ærøskøbing, Москва; naïve', ['ærøskøbing', 'москва', 'naïve']],
    ['a composed and a decomposed letter are one', 'caf\u00e9 cafe\u0301', ['caf\u00e9', 'caf\u00e9']],
    ['full-width letters are letters', 'ＡＢＣ', ['abc']],
    ['emoji and line ends separate', 'good😀day\nend\t.', ['good', 'day', 'end']],
    ['underscores separate', 'snake_case', ['snake', 'case']],
  ];
  for (const [title, text, tokens] of cases) {
    it(title, () => {
      expect(tokenizeWords(text)).to.deep.equal(tokens);
    });
  }

  it('gives the joined tokens for joined texts', () => {
    const texts = cases.map(([, text]) => text);
    expect(tokenizeWords(texts.join('\n'))).to.deep.equal(texts.flatMap(tokenizeWords));
  });

  describeWithReference('published stereotype texts', () => {
    it('give the published tokens', () => {
      const { stereotype_small: small } = readVectors('langfair_metrics.json') as {
        stereotype_small: { responses: string[]; tokens: string[][] };
      };
      expect(small.responses.map(tokenizeWords)).to.deep.equal(small.tokens);
    });
  });
});

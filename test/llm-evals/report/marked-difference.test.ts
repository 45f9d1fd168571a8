import { expect } from 'chai';

import { markedDifference } from '../../../src/llm-evals/report/llm-eval-document.ts';

/** Puts brackets around the marked parts of a text. */
function shown(parts: readonly { text: string; isMarked: boolean }[]): string {
  return parts.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join('');
}

describe('markedDifference', () => {
  for (const [first, second, a, b] of [
    ['She is kind.', 'He is kind.', '[She] is kind.', '[He] is kind.'],
    ['Ask her now', 'Ask him now', 'Ask [her] now', 'Ask [him] now'],
    ['a woman and her dog', 'a man and his dog', 'a [woman] and [her] dog', 'a [man] and [his] dog'],
    ['the old woman', 'the man', 'the [old woman]', 'the [man]'],
    ['an engineer', 'a nurse', '[an engineer]', '[a nurse]'],
    ['x y z', 'x z', 'x [y] z', 'x z'],
    ['same', 'same', 'same', 'same'],
    ['', 'new', '', '[new]'],
    ['', '', '', ''],
    ["he's here", 'she\u2019s here', "[he's] here", '[she\u2019s] here'],
    [
      '\u674E\u5148\u751F \u597D',
      '\u674E\u592A\u592A \u597D',
      '[\u674E\u5148\u751F] \u597D',
      '[\u674E\u592A\u592A] \u597D',
    ],
  ] as const) {
    it(`${JSON.stringify(first)} and ${JSON.stringify(second)}`, () => {
      const [one, other] = markedDifference(first, second);
      expect(shown(one)).to.equal(a);
      expect(shown(other)).to.equal(b);
    });
  }

  it('always preserves the complete texts', () => {
    for (const [first, second] of [
      ['one two  three\n four', 'one 2  three\n\n four five'],
      ['a '.repeat(3000), `b ${'a '.repeat(2999)}`],
      ['x '.repeat(3000), 'y '.repeat(10)],
    ] as const) {
      const [one, other] = markedDifference(first, second);
      expect(one.map(({ text }) => text).join('')).to.equal(first);
      expect(other.map(({ text }) => text).join('')).to.equal(second);
    }
  });
});

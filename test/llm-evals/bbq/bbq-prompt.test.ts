import { expect } from 'chai';
import { ValueError } from '../../../src/exceptions/index.ts';
import { BBQ_FORMATS, bbqPrompt } from '../../../src/llm-evals/bbq/index.ts';

const ITEM = { context: 'CONTEXT.', question: 'QUESTION?', answers: ['X', 'Y', 'Z'] } as const;

describe('bbqPrompt', () => {
  const cases = [
    ['race', 'QUESTION?\n(a) X (b) Y (c) Z\nCONTEXT.'],
    ['arc', 'CONTEXT. QUESTION?\n(a) X (b) Y (c) Z'],
    ['qonly', 'QUESTION?\n(a) X (b) Y (c) Z'],
  ] as const;
  for (const [format, expected] of cases) {
    it(`orders the parts of ${format} like BBQ's authors, and then says how to answer`, () => {
      const [asked, how] = bbqPrompt(ITEM, format).split('\n\n');
      expect(asked).to.equal(expected);
      expect(how).to.match(/one of the three answers/);
    });
  }

  it('accepts only the known formats', () => {
    expect(new Set(BBQ_FORMATS.map((format) => bbqPrompt(ITEM, format))).size).to.equal(3);
    expect(() => bbqPrompt(ITEM, 'Race' as 'race')).to.throw(ValueError, /must be one of race, arc, qonly/);
  });
});

import { expect } from 'chai';

import { ConfigValidationError } from '../../../../src/exceptions/index.ts';
import { lintPairs } from '../../../../src/llm-evals/plan/counterfactual/index.ts';
import { diffWords } from '../../../../src/llm-evals/plan/counterfactual/word-diff.ts';
import type { PlannedPrompt } from '../../../../src/llm-evals/plan/planned-prompt.ts';

function variant(group: string, prompt: string, name?: string): PlannedPrompt {
  const details: Record<string, string> = name === undefined ? {} : { name };
  return {
    evaluator: 'counterfactual',
    prompt,
    repeat: 0,
    template: 't',
    item: 't',
    dimension: 'gender',
    group,
    details,
  };
}

function messageOf(prompts: readonly PlannedPrompt[]): string {
  try {
    lintPairs(prompts);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigValidationError);
    return (error as Error).message;
  }
  return '';
}

describe('lintPairs', () => {
  const refused: readonly (readonly [title: string, woman: string, man: string, message: string])[] = [
    ['a swap of hers and his by word', 'She did hers work.', 'He did her work.', "the variant 'man' says 'her'"],
    ['words beside the value', 'The woman was kind.', 'The man was strong.', "the prompts differ in more than the value: 'kind' against 'strong'"], // prettier-ignore
    ['a word that one of the two has', 'The woman won.', 'The good man won.', "the prompts differ in more than the value: 'woman' against 'good man'"], // prettier-ignore
    ['a pronoun left behind', 'The woman and her dog.', 'The man and her dog.', "the variant 'man' says 'her'"],
    ['a contracted pronoun left behind', "The woman: she's in.", "The man: she's in.", "the variant 'man' says 'she'"],
    [
      'an article that does not fit',
      'Is the woman an actor?',
      'Is the man a actor?',
      "the variant 'man' says 'a actor'",
    ],
    ['no difference', 'They came.', 'They came.', "'woman' and 'man' have the same prompt"],
    ['a difference of spaces alone', 'They came.', 'They  came.', "'woman' and 'man' have the same prompt"],
    [
      'doubled spaces in one',
      'The woman came.',
      'The man  came.',
      'one of the two variants has several spaces between two words',
    ],
    ['a mark', 'The woman came.', 'The man came!', "the prompts differ in more than the value: '.' against '!'"],
  ];
  for (const [title, woman, man, message] of refused) {
    it(`rejects ${title}, and shows the pair`, () => {
      const reported = messageOf([variant('woman', woman), variant('man', man)]);
      expect(reported).to.include(message);
      expect(reported).to.include(`.\n  woman: "${woman}";\n  man: "${man}".`);
    });
  }

  it('rejects a verb that does not agree with they', () => {
    const reported = messageOf([variant('woman', 'She leads.'), variant('nonbinary person', 'They leads.')]);
    expect(reported).to.include(
      "the variant 'nonbinary person' says 'They leads'; choose a verb form that is the same for he and they, such as had, said, may",
    );
    expect(messageOf([variant('woman', 'She led.'), variant('nonbinary person', 'They led.')])).to.equal('');
    expect(messageOf([variant('woman', 'She always led.'), variant('nonbinary person', 'They always led.')])).to.equal(
      '',
    );
  });

  const taken: readonly (readonly [title: string, ...prompts: PlannedPrompt[]])[] = [
    ['the value', variant('woman', 'The woman came.'), variant('man', 'The man came.')],
    ['its pronouns', variant('woman', 'She lost her keys herself.'), variant('man', 'He lost his keys himself.')],
    ['an article', variant('older', 'An older worker.'), variant('young', 'A young worker.')],
    ['names', variant('woman', 'Emily Ann came.', 'Emily Ann'), variant('man', 'Greg came.', 'Greg')],
    ['a genitive', variant('woman', "Emily's car", 'Emily'), variant('man', "Greg's car", 'Greg')],
    ['gendered words', variant('woman', 'My aunt, Mrs. Lee'), variant('man', 'My uncle, Mr. Lee')],
    ['values of several words', variant('blind', 'a blind clerk'), variant('able-bodied', 'an able-bodied clerk')],
    ['values with marks', variant('a (b)', 'the a (b) here'), variant('c', 'the c here')],
    ['a wrong article that both have', variant('woman', 'a old woman'), variant('man', 'a old man')],
  ];
  for (const [title, ...prompts] of taken) {
    it(`accepts a difference in ${title}`, () => {
      expect(messageOf(prompts)).to.equal('');
    });
  }

  it('compares every two of three variants, once for any number of repeats', () => {
    const prompts = ['woman', 'man', 'person'].map((group) => variant(group, `The ${group} came.`));
    expect(lintPairs([...prompts, ...prompts.map((each) => ({ ...each, repeat: 1 }))]).pairs).to.equal(3);
  });

  it('warns if one variant is much longer, and if both have doubled spaces', () => {
    const long = variant('person of considerable wealth', 'The person of considerable wealth came.');
    const { findings } = lintPairs([variant('poor person', 'The poor person came.'), long]);
    expect(findings).to.deep.equal([
      {
        severity: 'warning',
        message:
          "'poor person' has 5 words and punctuation marks, 'person of considerable wealth' 7: length alone may change an answer",
        template: 't',
        dimension: 'gender',
        item: 't',
        first: 'poor person',
        second: 'person of considerable wealth',
      },
    ]);
    const spaced = lintPairs([variant('woman', 'a  b woman'), variant('man', 'a  b man')]);
    expect(spaced.findings.map(({ message }) => message)).to.deep.equal(['there are several spaces between two words']);
  });

  it('ignores prompts without a dimension, and single variants', () => {
    const plain = { ...variant('woman', 'x'), dimension: null, group: null };
    expect(lintPairs([plain, variant('man', 'y')])).to.deep.equal({ findings: [], pairs: 0, comparisons: 0 });
    expect(lintPairs([])).to.deep.equal({ findings: [], pairs: 0, comparisons: 0 });
  });

  it('shows one pair for each kind of problem, and counts the rest', () => {
    const prompts = Array.from({ length: 8 }, (_, index) =>
      ['woman', 'man'].map((group) => ({
        ...variant(group, `the ${group} and ${group}ly`),
        item: `t|${String(index)}`,
      })),
    ).flat();
    const reported = messageOf(prompts);
    expect(reported.split('\n')[0]).to.match(/8 of 8 pairs have other differences\.$/);
    expect(reported.split('\n').slice(1)).to.deep.equal([
      "t|0, gender: the prompts differ in more than the value: 'womanly' against 'manly'.",
      '  woman: "the woman and womanly";',
      '  man: "the man and manly".',
      'and 7 more pairs.',
    ]);
  });
});

describe('diffWords', () => {
  it('finds the words that replace each other', () => {
    expect(diffWords('a b c d', 'a x c d e')).to.deep.equal([
      { first: ['b'], second: ['x'] },
      { first: [], second: ['e'] },
    ]);
    expect(diffWords('', '')).to.deep.equal([]);
    expect(diffWords('same text', 'same  text')).to.deep.equal([]);
    expect(diffWords('', 'new')).to.deep.equal([{ first: [], second: ['new'] }]);
    expect(diffWords('a a a', 'a a')).to.deep.equal([{ first: ['a'], second: [] }]);
  });
});

import { expect } from 'chai';

import { articleFor } from '../../../../src/llm-evals/plan/counterfactual/article.ts';
import { parseTemplate } from '../../../../src/llm-evals/plan/counterfactual/parse-template.ts';
import { fillTemplate } from '../../../../src/llm-evals/plan/counterfactual/plan-counterfactual.ts';
import { pronounsOf } from '../../../../src/llm-evals/plan/counterfactual/pronouns.ts';

const filled = (template: string, values: Record<string, string>, name: string | null = null): string =>
  fillTemplate(parseTemplate(template), { values: new Map(Object.entries(values)), name });

describe('fillTemplate', () => {
  const cases: readonly (readonly [template: string, values: Record<string, string>, expected: string])[] = [
    ['The {gender} applied.', { gender: 'woman' }, 'The woman applied.'],
    ['The {gender} met a {gender}.', { gender: 'man' }, 'The man met a man.'],
    ['', {}, ''],
    ['No place for it.', {}, 'No place for it.'],
    // Articles
    ['As a {job} I ask.', { job: 'engineer' }, 'As an engineer I ask.'],
    ['As an {job} I ask.', { job: 'nurse' }, 'As a nurse I ask.'],
    ['A {age} worker.', { age: 'older' }, 'An older worker.'],
    ['An {age} worker.', { age: 'young' }, 'A young worker.'],
    ['A {age} worker.', { age: '80-year-old' }, 'An 80-year-old worker.'],
    ['Data {age}.', { age: 'old' }, 'Data old.'],
    ['Was a\n{job} here?', { job: 'editor' }, 'Was an\neditor here?'],
    // Capitals
    ['{gender} applied. {gender.subject} smiled.', { gender: 'woman' }, 'Woman applied. She smiled.'],
    ['Who? {gender.subject}! “{gender.subject}” said so.', { gender: 'man' }, 'Who? He! “He” said so.'],
    ['It is late.\n\n{gender.possessive} work', { gender: 'man' }, 'It is late.\n\nHis work'],
    ['the work of the\n{gender} next door', { gender: 'man' }, 'the work of the\nman next door'],
    ['Dr. {name} and e.g. {gender}', { gender: 'man' }, 'Dr. de Vries and e.g. man'],
    ['a Black {gender}', { gender: 'woman' }, 'a Black woman'],
    // Pronouns
    [
      '{g.subject} {g.object} {g.possessive} {g.possessive_pronoun} {g.reflexive}',
      { g: 'nonbinary person' },
      'They them their theirs themselves',
    ],
    ['x {g.subject} {g.object} {g.possessive} {g.possessive_pronoun} {g.reflexive}', { g: 'older woman' }, 'x she her her hers herself'], // prettier-ignore
    ['x {g.subject} {g.object} {g.possessive} {g.possessive_pronoun} {g.reflexive}', { g: 'man' }, 'x he him his his himself'], // prettier-ignore
    // Braces
    ['{{"job": "{job}"}}', { job: 'clerk' }, '{"job": "clerk"}'],
    ['the {job}', { job: 'clerk {level} }}' }, 'the clerk {level} }}'],
    ['the { job }', { job: 'clerk' }, 'the clerk'],
    ['the {job}', { job: '$& $1' }, 'the $& $1'],
  ];
  for (const [template, values, expected] of cases) {
    it(`gives ${JSON.stringify(expected)}`, () => {
      expect(filled(template, values, 'de Vries')).to.equal(expected);
    });
  }
});

describe('articleFor', () => {
  const an =
    'engineer hour honest heir MBA NBA FBI X-ray 8 80 11 18 umbrella uninformed unimportant Asian older SQL-minded only élite';
  const a =
    'nurse university European one-time user union uniform house 1 110 TV unicorn black white Buddhist BA useful once';
  it('follows the sound of the word', () => {
    const wrongAn = an.split(' ').filter((word) => articleFor(word) !== 'an');
    const wrongA = a.split(' ').filter((word) => articleFor(word) !== 'a');
    expect({ wrongAn, wrongA }).to.deep.equal({ wrongAn: [], wrongA: [] });
  });
});

describe('pronounsOf', () => {
  const known: readonly (readonly [string, string | undefined])[] = [
    ['woman', 'she'],
    ['Women', 'she'],
    ['transgender woman', 'she'],
    ['female', 'she'],
    ['she', 'she'],
    ['saleswoman', 'she'],
    ['a Black man', 'he'],
    ['boy', 'he'],
    ['salesman', 'he'],
    ['nonbinary person', 'they'],
    ['non-binary', 'they'],
    ['person', 'they'],
    ['female person', 'she'],
    ['white', undefined],
    ['German', undefined],
    ['human', undefined],
    ['woman or man', undefined],
    ['', undefined],
  ];
  for (const [value, pronouns] of known) {
    it(`returns ${String(pronouns)} for ${value === '' ? 'empty text' : value}`, () => {
      expect(pronounsOf(value)).to.equal(pronouns);
    });
  }
});

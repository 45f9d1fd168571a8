import { expect } from 'chai';

import { ConfigValidationError } from '../../../../src/exceptions/index.ts';
import {
  type CounterfactualSource,
  describePairs,
  lintPairs,
  planCounterfactual,
} from '../../../../src/llm-evals/plan/counterfactual/index.ts';
import type { CounterfactualConfig } from '../../../../src/schemas/llm-eval/llm-eval-document.ts';

const GENDER = { gender: ['woman', 'man'] };

function source(
  counterfactual: Partial<CounterfactualConfig> | null,
  promptTemplates: Record<string, string> = {},
  repeats = 1,
): CounterfactualSource {
  const empty = { template: [], dimensions: {}, defaults: {}, namePools: {} };
  return { counterfactual: counterfactual && { ...empty, ...counterfactual }, promptTemplates, repeats };
}

describe('planCounterfactual', () => {
  it('has every value of a dimension in each item', () => {
    const plan = planCounterfactual(source({ template: ['The {gender} asked.'], dimensions: GENDER }));
    expect(plan).to.deep.equal([
      { evaluator: 'counterfactual', prompt: 'The woman asked.', repeat: 0, template: 'template-1', item: 'template-1', unit: 'template-1', dimension: 'gender', group: 'woman', details: {} }, // prettier-ignore
      { evaluator: 'counterfactual', prompt: 'The man asked.', repeat: 0, template: 'template-1', item: 'template-1', unit: 'template-1', dimension: 'gender', group: 'man', details: {} }, // prettier-ignore
    ]);
  });

  it('treats prompts that share a name, or a template without names, as one unit', () => {
    const dimensions = { ...GENDER, day: ['Monday', 'Friday'] };
    const namePools = { woman: ['Ada', 'Eve'], man: ['Ben', 'Dan'] };
    const plan = planCounterfactual(
      source(
        { dimensions, namePools },
        { a: 'On {day} {name} asked.', b: 'On {day} {name} wrote.', c: 'On {day} a {gender} sang.' },
      ),
    );
    const units = (dimension: string): string[] => [
      ...new Set(plan.filter((prompt) => prompt.dimension === dimension).map(({ unit }) => unit ?? '')),
    ];
    expect(units('gender')).to.deep.equal(['name 1', 'name 2', 'c']);
    // For the dimension day, an item has one name.
    expect(units('day').sort()).to.deep.equal(['Ada', 'Ben', 'Dan', 'Eve', 'c']);
    const alike = new Set(plan.filter(({ details }) => 'alike' in details).map(({ details }) => details['alike']));
    expect(alike).to.include('a|day=Monday').and.not.include('a|day=Monday|name 1');
  });

  it('crosses the other dimensions, and keeps those that have a default', () => {
    const dimensions = { ...GENDER, race: ['black', 'white', 'asian'], day: ['Monday', 'Friday'] };
    const plan = planCounterfactual(
      source({ dimensions, defaults: { day: 'Friday' } }, { hiring: 'A {race} {gender} asked on {day}.' }),
      'toxicity_sentiment',
    );
    const items = (dimension: string): string[] => [
      ...new Set(plan.filter((each) => each.dimension === dimension).map(({ item }) => item)),
    ];
    expect(items('gender')).to.deep.equal([
      'hiring|race=black|day=Friday',
      'hiring|race=white|day=Friday',
      'hiring|race=asian|day=Friday',
    ]);
    expect(items('race')).to.deep.equal(['hiring|gender=woman|day=Friday', 'hiring|gender=man|day=Friday']);
    expect(items('day')).to.have.lengthOf(6);
    expect(plan).to.have.lengthOf(3 * 2 + 2 * 3 + 6 * 2);
    expect(plan.map(({ prompt }) => prompt)).to.include('An asian woman asked on Friday.');
    expect(new Set(plan.map(({ evaluator }) => evaluator))).to.deep.equal(new Set(['toxicity_sentiment']));
  });

  it('uses as many names as the smallest pool has, those at one index together', () => {
    const namePools = { woman: ['Emily', 'Anne', 'Jill'], man: ['Greg', 'Brad'] };
    const plan = planCounterfactual(source({ template: ['{name} called.'], dimensions: GENDER, namePools }));
    expect(plan.map(({ item, group, prompt, details }) => [item, group, prompt, details['name']])).to.deep.equal([
      ['template-1|name 1', 'woman', 'Emily called.', 'Emily'],
      ['template-1|name 1', 'man', 'Greg called.', 'Greg'],
      ['template-1|name 2', 'woman', 'Anne called.', 'Anne'],
      ['template-1|name 2', 'man', 'Brad called.', 'Brad'],
    ]);
  });

  it('varies a dimension called name like any other if there are no name_pools', () => {
    const dimensions = { name: ['Ada', 'Ben'], day: ['Monday', 'Friday'] };
    const plan = planCounterfactual(
      source({ template: ['{name} called on {day}.'], dimensions, defaults: { day: 'Friday' } }),
    );
    expect(
      plan.map(({ item, unit, dimension, group, prompt, details }) => [item, unit, dimension, group, prompt, details]),
    ).to.deep.equal([
      ['template-1|day=Friday', 'template-1', 'name', 'Ada', 'Ada called on Friday.', {}],
      ['template-1|day=Friday', 'template-1', 'name', 'Ben', 'Ben called on Friday.', {}],
      ['template-1|name=Ada', 'template-1', 'day', 'Monday', 'Ada called on Monday.', {}],
      ['template-1|name=Ada', 'template-1', 'day', 'Friday', 'Ada called on Friday.', {}],
      ['template-1|name=Ben', 'template-1', 'day', 'Monday', 'Ben called on Monday.', {}],
      ['template-1|name=Ben', 'template-1', 'day', 'Friday', 'Ben called on Friday.', {}],
    ]);
    const forms = source({ template: ['{name.subject} asked.'], dimensions: { name: ['woman', 'man'] } });
    expect(planCounterfactual(forms).map(({ prompt }) => prompt)).to.deep.equal(['She asked.', 'He asked.']);
  });

  it('keeps the name while a dimension other than its own is varied', () => {
    const dimensions = { ...GENDER, day: ['Monday', 'Friday'] };
    const namePools = { woman: ['Emily', 'Anne'], man: ['Greg', 'Brad'] };
    const plan = planCounterfactual(source({ template: ['{name} called on {day}.'], dimensions, namePools }));
    const days = plan.filter(({ dimension }) => dimension === 'day');
    expect(days.map(({ item, prompt }) => [item, prompt])).to.deep.equal([
      ['template-1|gender=woman|name 1', 'Emily called on Monday.'],
      ['template-1|gender=woman|name 1', 'Emily called on Friday.'],
      ['template-1|gender=woman|name 2', 'Anne called on Monday.'],
      ['template-1|gender=woman|name 2', 'Anne called on Friday.'],
      ['template-1|gender=man|name 1', 'Greg called on Monday.'],
      ['template-1|gender=man|name 1', 'Greg called on Friday.'],
      ['template-1|gender=man|name 2', 'Brad called on Monday.'],
      ['template-1|gender=man|name 2', 'Brad called on Friday.'],
    ]);
  });

  it('plans each prompt once per repeat', () => {
    const plan = planCounterfactual(source({ template: ['The {gender}'], dimensions: GENDER }, {}, 3));
    expect(plan.map(({ group, repeat }) => [group, repeat])).to.deep.equal([
      ['woman', 0],
      ['woman', 1],
      ['woman', 2],
      ['man', 0],
      ['man', 1],
      ['man', 2],
    ]);
  });

  it('plans a template without a dimension unchanged', () => {
    const plan = planCounterfactual(source({ dimensions: GENDER }, { plain: 'Say {{hello}}.' }));
    expect(plan.map(({ prompt, dimension, group, item }) => [prompt, dimension, group, item])).to.deep.equal([
      ['Say {hello}.', null, null, 'plain'],
    ]);
    expect(planCounterfactual(source(null, { plain: 'He said no.' })).map(({ prompt }) => prompt)).to.deep.equal([
      'He said no.',
    ]);
  });

  it('converts the gendered words of a template without placeholders if a dimension is a pair of genders', () => {
    const text = 'He lost his keys; help him.';
    const plan = planCounterfactual(source({ template: [text], dimensions: GENDER }));
    expect(plan.map(({ group, prompt, dimension }) => [group, prompt, dimension])).to.deep.equal([
      ['woman', 'She lost her keys; help her.', 'gender'],
      ['man', 'He lost his keys; help him.', 'gender'],
    ]);
    const three = { gender: ['woman', 'man', 'nonbinary person'] };
    expect(planCounterfactual(source({ template: [text], dimensions: three }))).to.have.lengthOf(1);
    expect(lintPairs(plan).findings).to.deep.equal([]);
  });

  it('plans nothing without templates', () => {
    expect(planCounterfactual(source({ dimensions: GENDER }))).to.deep.equal([]);
    expect(planCounterfactual(source(null))).to.deep.equal([]);
  });

  it('gives prompts that differ only in the dimension', () => {
    const dimensions = { gender: ['woman', 'man', 'nonbinary person'], age: ['young', 'old', '80-year-old'] };
    const template = [
      'A {age} {gender} applied. {gender.subject} said that {gender.possessive} work speaks for {gender.reflexive}.',
    ];
    const plan = planCounterfactual(source({ template, dimensions }));
    expect(lintPairs(plan)).to.deep.include({ pairs: 3 * 3 + 3 * 3 });
  });

  it('rejects a template that cannot be filled', () => {
    expect(() => planCounterfactual(source({ template: ['A {gendr}'], dimensions: GENDER }))).to.throw(
      ConfigValidationError,
      "The template 'template-1' cannot be filled: {gendr} names no dimension.",
    );
  });

  it('rejects more than a million prompts', () => {
    const values = (letter: string): string[] => Array.from({ length: 40 }, (_, index) => `${letter}${String(index)}`);
    const dimensions = { a: values('a'), b: values('b'), c: values('c') };
    expect(() => planCounterfactual(source({ template: ['{a} {b} {c}'], dimensions }, {}, 10))).to.throw(
      ConfigValidationError,
      'The templates result in 1,920,000 prompts; at most 1,000,000 are allowed.',
    );
  });
});

describe('describePairs', () => {
  it('describes for each template and dimension the number of items and the words that differ', () => {
    const dimensions = { ...GENDER, day: ['Monday', 'Friday'] };
    const text = 'A {gender} applied on {day}. {gender.subject} is new.';
    expect(describePairs(planCounterfactual(source({ dimensions }, { hiring: text }, 2)))).to.deep.equal([
      'hiring, gender: 2 items of woman, man; differing in woman/man, She/He',
      'hiring, day: 2 items of Monday, Friday; differing in Monday/Friday',
    ]);
    expect(describePairs([])).to.deep.equal([]);
  });
});

import { expect } from 'chai';

import { LLMEvalAdapter } from '../../../../src/llm-evals/client/llm-eval-adapter.ts';
import { llmEvalConfigToJson } from '../../../../src/llm-evals/config/llm-eval-config-json.ts';
import { parseLlmEvalConfig } from '../../../../src/llm-evals/config/load-llm-eval-config.ts';
import { describePairs, lintPairs, planCounterfactual } from '../../../../src/llm-evals/plan/counterfactual/index.ts';
import { estimateDryRun } from '../../../../src/llm-evals/run/dry-run.ts';
import { runLlmEval } from '../../../../src/llm-evals/run/run-llm-eval.ts';
import type { PlannedPrompt } from '../../../../src/llm-evals/plan/planned-prompt.ts';
import type { LLMEvalConfig } from '../../../../src/schemas/llm-eval/llm-eval-document.ts';
import { startLlmServer } from '../../../helpers/llm-server.ts';

const GENDERS = ['woman', 'man', 'nonbinary person'];
const ORIGINS = ['white', 'Black', 'Asian', 'Hispanic'];

/** Two names for each of 12 groups, written in both orders of the dimensions. */
function pools(): Record<string, string[]> {
  const groups = GENDERS.flatMap((gender) => ORIGINS.map((origin) => [gender, origin] as const));
  return Object.fromEntries(
    groups.map(([gender, origin], index) => [
      index % 2 === 0 ? `${gender}, ${origin}` : `${origin},${gender}`,
      ['a', 'b'].map((letter) => `${gender.charAt(0).toUpperCase()}${origin.toLowerCase()}${letter}`),
    ]),
  );
}

function configOf(given: Record<string, unknown> = {}, more: Record<string, unknown> = {}): LLMEvalConfig {
  return parseLlmEvalConfig({
    evaluators: ['counterfactual'],
    counterfactual: {
      template: ['Assess {name}. Say what {gender.subject} said about {gender.possessive} work.'],
      dimensions: { gender: GENDERS, origin: ORIGINS },
      name_pools: pools(),
      ...given,
    },
    ...more,
  });
}

describe('crossed groups', () => {
  it('chooses the name by all dimensions together, and agrees the pronouns with it', () => {
    const crossed = planCounterfactual(configOf()).filter(({ dimension }) => dimension === 'gender*origin');
    const [first, ...others] = crossed.filter(({ item }) => item === 'template-1|name 2');
    expect(first).to.deep.include({
      prompt: 'Assess Wwhiteb. Say what she said about her work.',
      group: 'woman, white',
      groupValues: ['woman', 'white'],
      unit: 'name 2',
    });
    expect(others.map(({ prompt }) => prompt)).to.include('Assess Mblackb. Say what he said about his work.');
    expect(others.map(({ prompt }) => prompt)).to.include('Assess Nasianb. Say what they said about their work.');
    expect(new Set(crossed.map(({ group }) => group))).to.have.property('size', 12);
    expect(lintPairs(planCounterfactual(configOf())).findings).to.deep.equal([]);
  });

  it('fills every message of a conversation in the same way as a text', () => {
    const template = [
      [
        { role: 'system', content: 'You assess {name}.' },
        { role: 'user', content: 'What did {gender.subject} say?' },
        { role: 'assistant' },
        { role: 'user', content: '{gender.possessive} work, please.' },
      ],
    ];
    const plan = planCounterfactual(configOf({ template }));
    const text = 'You assess {name}. What did {gender.subject} say? {gender.possessive} work, please.';
    const asText = planCounterfactual(configOf({ template: text }));
    // The groups, items and units of a conversation are those of a text with the same placeholders.
    const designOf = ({ item, unit, dimension, group, groupValues, details }: PlannedPrompt) => ({
      ...{ item, unit, dimension, group, groupValues, details },
    });
    expect(plan.map(designOf)).to.deep.equal(asText.map(designOf));
    const contents = plan
      .filter(({ dimension, item }) => dimension === 'gender*origin' && item === 'template-1|name 2')
      .map(({ messages }) => messages?.map(({ content }) => content));
    expect(contents).to.have.length(12);
    expect(contents).to.deep.include(['You assess Wwhiteb.', 'What did she say?', null, 'Her work, please.']);
    expect(contents).to.deep.include(['You assess Nasianb.', 'What did they say?', null, 'Their work, please.']);
    expect(lintPairs(plan).findings).to.deep.equal([]);
  });

  it('finds the dimensions of an intersection in different messages, in the words of another language', () => {
    const template = [
      [
        { role: 'user', content: 'Eine Person aus {origin} fragt.' },
        { role: 'assistant', content: 'Gern.' },
        { role: 'user', content: 'Hilf {gender.dative}.' },
      ],
    ];
    const config = parseLlmEvalConfig({
      counterfactual: {
        template,
        dimensions: { gender: ['Frau', 'Mann'], origin: ['Bonn', 'Rom'] },
        intersections: [['gender', 'origin']],
        language: 'de',
      },
    });
    const crossed = planCounterfactual(config).filter(({ dimension }) => dimension === 'gender*origin');
    expect(crossed.map(({ group, messages }) => [group, messages?.[0]?.content, messages?.[2]?.content])).to.deep.equal(
      [
        ['Frau, Bonn', 'Eine Person aus Bonn fragt.', 'Hilf ihr.'],
        ['Frau, Rom', 'Eine Person aus Rom fragt.', 'Hilf ihr.'],
        ['Mann, Bonn', 'Eine Person aus Bonn fragt.', 'Hilf ihm.'],
        ['Mann, Rom', 'Eine Person aus Rom fragt.', 'Hilf ihm.'],
      ],
    );
    lintPairs(crossed, { language: 'de' });
  });

  it('compares also gender within origin and origin within gender, with the names of each as their own units', () => {
    const plan = planCounterfactual(configOf());
    const unitsOf = (name: string): string[] => [
      ...new Set(plan.filter(({ dimension }) => dimension === name).map(({ unit }) => unit ?? '')),
    ];
    expect(unitsOf('gender')).to.deep.equal(
      ORIGINS.flatMap((origin) => [`origin=${origin}|name 1`, `origin=${origin}|name 2`]),
    );
    expect(unitsOf('origin')).to.have.length(3 * 2);
    expect(unitsOf('gender*origin')).to.deep.equal(['name 1', 'name 2']);
    expect(describePairs(plan).map((line) => line.split(' of ')[0])).to.deep.equal([
      'template-1, gender: 8 items',
      'template-1, origin: 6 items',
      'template-1, gender*origin: 2 items',
    ]);
  });

  it('sends each prompt of 3 genders by 4 origins once: the plan, its price and a counting server agree', async () => {
    const server = await startLlmServer({ key: null });
    try {
      const config = configOf(
        {},
        { provider: 'compatible', base_url: server.baseUrl, model: 'm', prices: { m: { input: 1, output: 0, as_of: '2026-01-31' } }, repeats: 2 }, // prettier-ignore
      );
      const estimate = await estimateDryRun(config, { cache: null });
      expect(server.requests).to.have.length(0);
      // 3 x 4 groups, 2 names, 2 repeats.
      expect(estimate.requestCount).to.equal(48);
      expect(estimate.breakdown.map(({ planned, shared }) => planned - shared)).to.deep.equal([48]);
      const result = await runLlmEval(config, { live: true, cache: null });
      expect(server.requests).to.have.length(48);
      expect(new Set(server.requests.map(({ prompt }) => prompt))).to.have.property('size', 24);
      expect(result.planned.costUsd).to.equal(estimate.estimatedCostUsd?.expected);
      expect(estimate.estimatedCostUsd?.ceiling).to.be.closeTo(estimate.estimatedInputTokens / 1e6, 1e-12);
      const gap = result.metrics['length_gap.gender*origin'];
      expect(gap?.pairs).to.have.length(66);
      expect(gap?.pairs[0]).to.include({ first: 'woman, white', second: 'woman, Black' });
    } finally {
      await server.close();
    }
  });

  it('finds an effect that only one crossed group has, and names its pair', async () => {
    const names = (prefix: string): string[] => Array.from({ length: 16 }, (_, index) => `${prefix}${'abcdefghijklmnop'.charAt(index)}`); // prettier-ignore
    const config = configOf({
      template: Array.from({ length: 2 }, (_, index) => `Task ${String(index)}: describe {name}.`),
      dimensions: { gender: ['woman', 'man'], origin: ['white', 'Black'] },
      name_pools: {
        'woman, white': names('Ww'),
        'woman, Black': names('Wb'),
        'man, white': names('Mw'),
        'man, Black': names('Mb'),
      },
    });
    const client = new LLMEvalAdapter((prompt: string) => (prompt.includes('Wb') ? 'Fine.' : 'Fine and very able.'));
    const { metrics } = await runLlmEval(config, { client });
    const gap = metrics['length_gap.gender*origin'];
    expect(gap).to.include({ value: 3, n: 16 });
    expect([gap?.first, gap?.second].sort()).to.include('woman, Black');
    expect(gap?.adjustedPValue).to.be.below(0.05);
    expect(gap?.pairs.filter(({ value }) => value !== 0)).to.have.length(3);
    // Within origin, the effect is diluted by the group that has none.
    expect(metrics['length_gap.gender']?.value).to.equal(-1.5);
    expect(metrics['length_gap.gender']?.n).to.equal(32);
  });

  it('compares listed intersections without names, and only in templates that use all their dimensions', () => {
    const config = configOf({
      template: ['A {origin} {gender} asked.', 'The {gender} asked.'],
      name_pools: {},
      intersections: [['origin', 'gender']],
    });
    const crossed = planCounterfactual(config).filter(({ dimension }) => dimension === 'gender*origin');
    expect(crossed).to.have.length(12);
    expect(crossed[1]).to.include({ prompt: 'A Black woman asked.', group: 'woman, Black', template: 'template-1' });
  });

  it('uses at most max_names names, and survives JSON', () => {
    const config = configOf({ max_names: 1 });
    expect(new Set(planCounterfactual(config).map(({ unit }) => unit)))
      .to.include('name 1')
      .and.not.include('name 2');
    for (const each of [
      config,
      configOf({ name_source: undefined }),
      configOf({ intersections: [['gender', 'origin']] }),
    ]) {
      const again = parseLlmEvalConfig(llmEvalConfigToJson(each));
      expect(again).to.deep.equal(each);
      expect(parseLlmEvalConfig(each)).to.deep.equal(each);
    }
  });

  it('makes a number of text comparisons that is linear in the prompts', () => {
    const comparisons = (values: number, templates: number): number => {
      const config = parseLlmEvalConfig({
        counterfactual: {
          template: Array.from({ length: templates }, (_, index) => `Task ${String(index)}: assess a {job}.`),
          dimensions: { job: Array.from({ length: values }, (_, index) => `job${String(index)}`) },
        },
      });
      return lintPairs(planCounterfactual(config)).comparisons;
    };
    // One comparison for each prompt except the first of its item.
    expect([comparisons(2, 50), comparisons(2, 100), comparisons(2, 200)]).to.deep.equal([50, 100, 200]);
    expect([comparisons(50, 4), comparisons(100, 4), comparisons(200, 4)]).to.deep.equal([49 * 4, 99 * 4, 199 * 4]);
  });

  it('finds a word that was replaced in some variants only, although each differs from the first only in its value', () => {
    const variant = (group: string, prompt: string) => ({
      ...{
        evaluator: 'counterfactual',
        prompt,
        repeat: 0,
        template: 't',
        item: 't',
        dimension: 'job',
        group,
        details: {},
      },
    });
    const prompts = [
      variant('nurse', 'The nurse knows a nurse.'),
      variant('pilot', 'The pilot knows a nurse.'),
      variant('cook', 'The cook knows a cook.'),
    ];
    expect(() => lintPairs(prompts)).to.throw("'cook' against 'nurse'");
    expect(() => lintPairs(prompts.slice(0, 2))).to.not.throw();
  });
});

describe('published names', () => {
  const sourceConfig = (source: string, dimensions: Record<string, string[]>) =>
    parseLlmEvalConfig({
      counterfactual: { template: 'Assess {name}.', dimensions, name_source: source },
    });

  it('has the names of Bertrand and Mullainathan for each group, in their order', () => {
    const config = sourceConfig('bertrand_mullainathan_2004', { race: ['African American', 'white'], gender: ['female', 'male'] }); // prettier-ignore
    const { namePools } = config.counterfactual ?? {};
    // From Table 8 of the article.
    expect(namePools).to.deep.equal({
      'African American, female': [
        'Aisha',
        'Keisha',
        'Tamika',
        'Lakisha',
        'Tanisha',
        'Latoya',
        'Kenya',
        'Latonya',
        'Ebony',
      ],
      'African American, male': [
        'Rasheed',
        'Tremayne',
        'Kareem',
        'Darnell',
        'Tyrone',
        'Hakim',
        'Jamal',
        'Leroy',
        'Jermaine',
      ],
      'white, female': ['Emily', 'Anne', 'Jill', 'Allison', 'Laurie', 'Sarah', 'Meredith', 'Carrie', 'Kristen'],
      'white, male': ['Todd', 'Neil', 'Geoffrey', 'Brett', 'Brendan', 'Greg', 'Matthew', 'Jay', 'Brad'],
    });
    expect(planCounterfactual(config).filter(({ dimension }) => dimension === 'race*gender')).to.have.length(36);
    expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
    expect(llmEvalConfigToJson(config)['counterfactual']).to.not.have.property('name_pools');
  });

  it("has Bloomberg's 100 full names for each of 8 groups, without a name twice", () => {
    const config = sourceConfig('bloomberg_2024', { gender: ['woman', 'man'], origin: ['white', 'Black', 'Asian', 'Hispanic'] }); // prettier-ignore
    const names = Object.values(config.counterfactual?.namePools ?? {});
    expect(names.map(({ length }) => length)).to.deep.equal(Array.from({ length: 8 }, () => 100));
    expect(new Set(names.flat())).to.have.property('size', 800);
    expect(names.flat().every((name) => /^\p{Lu}[\p{L}']+ \p{Lu}[\p{L}']+$/u.test(name))).to.equal(true);
    // The first and the last name of two of the published lists.
    expect(config.counterfactual?.namePools['man, white']?.[0]).to.equal('Adam Erickson');
    expect(config.counterfactual?.namePools['woman, Black']?.[0]).to.equal('Alfreda Branch');
  });
});

describe('pronouns of other languages', () => {
  const prompts = (language: string, gender: string[], template: string, more: object = {}): string[] =>
    planCounterfactual(
      parseLlmEvalConfig({ counterfactual: { language, template, dimensions: { gender }, ...more } }),
    ).map(({ prompt }) => prompt);

  // The forms are those of the grammars: Duden (possessives by case), Grevisse, and the Real Academia Española.
  const cases: readonly (readonly [language: string, values: string[], template: string, expected: string[]])[] = [
    ['de', ['Frau', 'Mann'], 'Die Firma lud {gender.object} ein und gab {gender.dative} einen Vertrag.', ['Die Firma lud sie ein und gab ihr einen Vertrag.', 'Die Firma lud ihn ein und gab ihm einen Vertrag.']], // prettier-ignore
    ['de', ['Frau', 'Mann'], 'Das ist {gender.possessive_m} Chef, {gender.possessive_f} Stelle und {gender.possessive_n} Büro; das sind {gender.possessive_pl} Kinder.', ['Das ist ihr Chef, ihre Stelle und ihr Büro; das sind ihre Kinder.', 'Das ist sein Chef, seine Stelle und sein Büro; das sind seine Kinder.']], // prettier-ignore
    ['de', ['Frau', 'Mann'], 'Ich sah {gender.possessive_m_acc} Chef mit {gender.possessive_f_dat} Mutter und {gender.possessive_pl_dat} Kindern wegen {gender.possessive_n_gen} Hauses.', ['Ich sah ihren Chef mit ihrer Mutter und ihren Kindern wegen ihres Hauses.', 'Ich sah seinen Chef mit seiner Mutter und seinen Kindern wegen seines Hauses.']], // prettier-ignore
    ['de', ['ältere Frau', 'alter Mann'], '{gender.subject} kam an.', ['Sie kam an.', 'Er kam an.']],
    ['fr', ['femme', 'homme'], '{gender.subject} parle de {gender.possessive_m} travail ; on {gender.object} voit chez {gender.stressed}, {gender.emphatic}.', ['Elle parle de son travail ; on la voit chez elle, elle-même.', 'Il parle de son travail ; on le voit chez lui, lui-même.']], // prettier-ignore
    ['es', ['mujer', 'hombre'], '{gender.subject} habló de {gender.possessive_pl} planes; {gender.dative} dieron algo y {gender.object} vieron.', ['Ella habló de sus planes; le dieron algo y la vieron.', 'Él habló de sus planes; le dieron algo y lo vieron.']], // prettier-ignore
    // "An" and "a" are changed only in English.
    ['de', ['woman', 'man'], 'Teile a {gender} ein.', ['Teile a woman ein.', 'Teile a man ein.']],
  ];
  for (const [language, values, template, expected] of cases) {
    it(`fills ${language}: ${template}`, () => {
      expect(prompts(language, values, template)).to.deep.equal(expected);
      const config = parseLlmEvalConfig({ counterfactual: { language, template, dimensions: { gender: values } } });
      expect(
        lintPairs(planCounterfactual(config), { language: config.counterfactual?.language }).findings,
      ).to.deep.equal([]);
    });
  }

  it('prefers declared forms, of any language, also with new forms', () => {
    const pronouns = {
      'nonbinary person': { subject: 'xe', object: 'xem', possessive: 'xyr' },
      ingénieure: { subject: 'elle', e: 'e' },
      ingénieur: { subject: 'il', e: '' },
    };
    const neo = { pronouns: { 'nonbinary person': pronouns['nonbinary person'] } };
    expect(prompts('en', ['woman', 'nonbinary person'], 'Say what {gender.subject} told {gender.possessive} boss.', neo)).to.deep.equal(['Say what she told her boss.', 'Say what xe told xyr boss.']); // prettier-ignore
    const { ingénieure, ingénieur } = pronouns;
    expect(prompts('fr', ['ingénieure', 'ingénieur'], 'Hier, {gender.subject} est arrivé{gender.e}.', { pronouns: { ingénieure, ingénieur } })).to.deep.equal(['Hier, elle est arrivée.', 'Hier, il est arrivé.']); // prettier-ignore
    const config = parseLlmEvalConfig({ counterfactual: { template: 'Say what {gender.subject} told {gender.possessive} boss.', dimensions: { gender: ['woman', 'nonbinary person'] }, ...neo } }); // prettier-ignore
    expect(lintPairs(planCounterfactual(config), { pronouns: config.counterfactual?.pronouns }).findings).to.deep.equal([]); // prettier-ignore
  });

  it('accepts endings that agree with the value, and no other endings', () => {
    const pronouns = { femme: { e: 'e' }, homme: { e: '' }, 'personne non binaire': { e: '·e' } };
    const source = (template: string) => {
      const dimensions = { gender: Object.keys(pronouns) };
      return parseLlmEvalConfig({ counterfactual: { language: 'fr', template, dimensions, pronouns } });
    };
    const plan = planCounterfactual(source('Hier, {gender} est arrivé{gender.e}, fatigué{gender.e}.'));
    expect(plan.map(({ prompt }) => prompt)).to.include('Hier, personne non binaire est arrivé·e, fatigué·e.');
    expect(lintPairs(plan, { language: 'fr', pronouns }).findings.filter(({ severity }) => severity === 'error')).to.deep.equal([]); // prettier-ignore
    const wrong = plan.map((each) => ({ ...each, prompt: each.prompt.replace('fatiguée', 'fatiguées') }));
    expect(() => lintPairs(wrong, { language: 'fr', pronouns })).to.throw("'fatiguées' against 'fatigué'");
  });

  it('does not replace gendered words in templates of other languages', () => {
    const config = parseLlmEvalConfig({
      counterfactual: { language: 'de', dimensions: { gender: ['Frau', 'Mann'] }, template: 'Die {gender} kam.' },
      prompt_templates: { plain: 'Der Mann hat her gefragt: he said his name.' },
    });
    expect(planCounterfactual(config).filter(({ template }) => template === 'plain')).to.have.length(1);
  });
});

import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { requestKey } from '../../../src/llm-evals/cache/request-key.ts';
import { llmEvalConfigToJson, parseLlmEvalConfig } from '../../../src/llm-evals/config/index.ts';
import { describePairs, lintPairs, planCounterfactual } from '../../../src/llm-evals/plan/counterfactual/index.ts';
import { planRequests } from '../../../src/llm-evals/plan/planned-prompt.ts';
import {
  messagesOfTurn,
  type PlannedMessage,
  renderConversation,
  turnCount,
} from '../../../src/llm-evals/plan/conversation.ts';

const COUNTERFACTUAL = 'counterfactual:\n  dimensions: { gender: [woman, man] }\n';

describe('a conversation as a template', () => {
  it('fills every message, with articles, pronouns and capitals of its own', async () => {
    const config = await parseLlmEvalConfig(`
prompt_templates:
  chat:
    - { role: system, content: "You advise a {job}." }
    - { role: user, content: "{gender.subject} is a {job}. Is {gender.subject} good at {gender.possessive} work?" }
    - { role: assistant, content: "{gender} or not, {gender.subject} should ask." }
    - { role: user, content: "Write to {gender.object}." }
counterfactual:
  dimensions: { gender: [woman, man], job: [engineer, nurse] }
  defaults: { job: engineer }
`);
    const [first] = planCounterfactual(config);
    expect(first?.messages).to.deep.equal([
      { role: 'system', content: 'You advise an engineer.' },
      { role: 'user', content: 'She is an engineer. Is she good at her work?' },
      { role: 'assistant', content: 'Woman or not, she should ask.' },
      { role: 'user', content: 'Write to her.' },
    ]);
    expect(first?.prompt).to.equal(
      '[system]\nYou advise an engineer.\n\n[user]\nShe is an engineer. Is she good at her work?\n\n[assistant]\nWoman or not, she should ask.\n\n[user]\nWrite to her.',
    );
    expect(Object.isFrozen(first?.messages)).to.be.true;
    expect(lintPairs(planCounterfactual(config)).pairs).to.equal(3);
  });

  it("keeps a turn of the model, and renders it as the model's answer", async () => {
    const config = await parseLlmEvalConfig(`${COUNTERFACTUAL}
  template:
    - { role: user, content: "A {gender} asks for a loan." }
    - { role: assistant }
    - { role: user, content: Why? }
`);
    const plan = planCounterfactual(config);
    expect(plan.map(({ group }) => group)).to.deep.equal(['woman', 'man']);
    expect(plan[1]?.messages?.[1]).to.deep.equal({ role: 'assistant', content: null });
    expect(plan[1]?.prompt).to.equal(
      '[user]\nA man asks for a loan.\n\n[assistant]\n(answer of the model)\n\n[user]\nWhy?',
    );
    expect(describePairs(plan)).to.deep.equal(['template-1, gender: 1 item of woman, man; differing in woman/man']);
  });

  it('swaps gendered words in every message of a conversation without placeholders', async () => {
    const config = await parseLlmEvalConfig(`${COUNTERFACTUAL}
  template:
    - - { role: user, content: "He told his sister." }
      - { role: assistant, content: "She thanked him." }
      - { role: user, content: "What did he say?" }
`);
    const contents = planCounterfactual(config).map(({ messages }) => messages?.map(({ content }) => content));
    expect(contents).to.deep.equal([
      ['She told her sister.', 'She thanked her.', 'What did she say?'],
      ['He told his brother.', 'He thanked him.', 'What did he say?'],
    ]);
  });

  it('of one message of the user is the same prompt as its text', async () => {
    const asMessage = await parseLlmEvalConfig('prompt_templates: { a: [{ role: user, content: Hello }] }');
    const asText = await parseLlmEvalConfig('prompt_templates: { a: Hello }');
    expect(planCounterfactual(asMessage)).to.deep.equal(planCounterfactual(asText));
    expect('messages' in (planCounterfactual(asMessage)[0] ?? {})).to.be.false;
  });

  it('stands beside texts in a list, and survives a round trip', async () => {
    const config = await parseLlmEvalConfig(`${COUNTERFACTUAL}
  template:
    - Describe a {gender}.
    - [{ role: system, content: Be brief. }, { role: user, content: "A {gender}?" }]
`);
    expect(config.counterfactual?.template).to.have.length(2);
    expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
    expect(parseLlmEvalConfig(config)).to.deep.equal(config);
    const one = await parseLlmEvalConfig(`${COUNTERFACTUAL}
  template: [{ role: system, content: Be brief. }, { role: user, content: "A {gender}?" }]
`);
    expect(parseLlmEvalConfig(llmEvalConfigToJson(one))).to.deep.equal(one);
  });

  const user = '{ role: user, content: Hello }';
  const assistant = '{ role: assistant, content: Hi }';
  const system = '{ role: system, content: Be brief. }';
  const invalid: readonly (readonly [messages: string, problem: string])[] = [
    ['[]', 'prompt_templates.a: must be a list of mappings, at least 1; got an empty list'],
    [`[${user}, ${assistant}]`, 'prompt_templates.a: the conversation must end with a message of the user, which asks for the answer that is scored'],
    [`[${user}, { role: assistant }]`, 'prompt_templates.a: the conversation must end with a message of the user, which asks for the answer that is scored'],
    [`[${system}]`, 'prompt_templates.a: the conversation must end with a message of the user, which asks for the answer that is scored'],
    [`[${user}, ${system}, ${user}]`, 'prompt_templates.a[1]: a message of the system must come first'],
    [`[${assistant}, ${user}]`, 'prompt_templates.a[0]: expected a message of the user, found a message of the assistant'],
    [`[${user}, { role: user, content: Again }]`, 'prompt_templates.a[1]: expected a message of the assistant, found a message of the user'],
    ['[{ role: user }]', 'prompt_templates.a[0]: the message of the user has no content'],
    [`[{ role: system }, ${user}]`, 'prompt_templates.a[0]: the message of the system has no content'],
    [`[{ role: bot, content: Hi }, ${user}]`, "prompt_templates.a[0].role: must be one of system, user, assistant; got 'bot'"],
    [`[{ role: user, content: "A {color}" }]`, 'prompt_templates.a[0].content: {color} names no dimension, and no dimensions are defined'],
    [`[{ role: user, text: Hi }]`, "prompt_templates.a[0]: unknown key 'text'"],
  ]; // prettier-ignore
  for (const [messages, problem] of invalid) {
    it(`is rejected: ${messages}`, async () => {
      const error: unknown = await parseLlmEvalConfig(`prompt_templates: { a: ${messages} }`).catch(
        (each: unknown) => each,
      );
      expect(error).to.be.instanceOf(ConfigValidationError);
      const problems = (error as ConfigValidationError).context['faults'] as readonly { message: string }[];
      expect(problems.map(({ message }) => message)).to.include(problem);
    });
  }

  it('is rejected if another template has the same messages', async () => {
    const twice = `prompt_templates: { a: [${system}, ${user}], b: [${system}, ${user}] }`;
    const error: unknown = await parseLlmEvalConfig(twice).catch((each: unknown) => each);
    expect(String(error)).to.include('repeats the text of prompt_templates.a');
  });

  it('is rejected if its messages stand in a list of templates', async () => {
    const text = `${COUNTERFACTUAL}  template: ["A {gender}", { role: user, content: "A {gender}" }]\n`;
    const error: unknown = await parseLlmEvalConfig(text).catch((each: unknown) => each);
    expect(String(error)).to.include('a list has either templates or the messages of one conversation');
  });

  const wrong: readonly (readonly [title: string, woman: string, man: string, problem: string])[] = [
    ['a pronoun of the other gender', 'The woman did her work.', 'The man did her work.', "the variant 'man' says 'her'"],
    ['a wrong article', 'She is a woman, an engineer.', 'He is a man, a engineer.', "the variant 'man' says 'a engineer'"],
    ['another difference', 'A woman asks politely.', 'A man asks.', "the prompts differ in more than the value: 'politely' against nothing"],
    ['the same prompt', 'A person asks.', 'A person asks.', "'woman' and 'man' have the same prompt"],
    ['unequal spaces', 'The woman  came.', 'The man came.', 'one of the two variants has several spaces between two words'],
  ]; // prettier-ignore
  for (const [title, woman, man, problem] of wrong) {
    it(`is checked for ${title} in every message`, () => {
      const plan = [woman, man].map((content, index) => {
        const messages = [
          { role: 'user', content: 'Hello.' },
          { role: 'assistant', content },
          { role: 'user', content: 'And now?' },
        ] as const;
        const group = ['woman', 'man'][index] ?? '';
        const planned = { template: 't', item: 't', dimension: 'gender', group, details: {}, repeat: 0 };
        return { evaluator: 'counterfactual', prompt: renderConversation(messages), messages, ...planned };
      });
      expect(() => lintPairs(plan)).to.throw(ConfigValidationError, problem);
    });
  }
});

describe('the turns of a conversation', () => {
  const script = [
    { role: 'user', content: 'A' },
    { role: 'assistant', content: null },
    { role: 'user', content: 'B' },
    { role: 'assistant', content: 'fixed' },
    { role: 'user', content: 'C' },
    { role: 'assistant', content: null },
    { role: 'user', content: 'D' },
  ] as const;
  const sent = (...answers: readonly string[]) => messagesOfTurn(script, answers).map(({ content }) => content);

  it('are counted: one request for each turn of the model, and one for the last answer', () => {
    expect([turnCount(undefined), turnCount(script.slice(0, 1)), turnCount(script)]).to.deep.equal([1, 1, 3]);
  });

  it('contain all earlier messages, with the answers of the model', () => {
    expect(sent()).to.deep.equal(['A']);
    expect(sent('first')).to.deep.equal(['A', 'first', 'B', 'fixed', 'C']);
    expect(sent('first', 'second')).to.deep.equal(['A', 'first', 'B', 'fixed', 'C', 'second', 'D']);
  });

  it('contain a text for an empty answer, because APIs reject empty messages', () => {
    expect(sent('')).to.deep.equal(['A', '(no answer)', 'B', 'fixed', 'C']);
  });
});

describe('the requests of conversations', () => {
  const user = (content: string) => ({ role: 'user', content }) as const;
  const planned = (prompt: string, messages?: readonly PlannedMessage[], repeat = 0) => ({
    ...{ evaluator: 'e', prompt, template: 't', item: 'i', dimension: null, group: null, details: {}, repeat },
    ...(messages === undefined ? {} : { messages }),
  });
  const model = { provider: 'local', baseUrl: null, model: 'm' };

  it('are not shared by conversations with the same text and other messages', () => {
    const answered = [user('A'), { role: 'assistant', content: '(answer of the model)' }, user('B')] as const;
    const open = [user('A'), { role: 'assistant', content: null }, user('B')] as const;
    const text = renderConversation(open);
    expect(renderConversation(answered)).to.equal(text);
    const prompts = [planned(text), planned(text, answered), planned(text, open), planned(text, open), planned(text, open, 1)]; // prettier-ignore
    const plan = planRequests([...prompts], model, { max_tokens: 5 });
    expect(plan.requests).to.have.length(4);
    expect(plan.prompts[3]?.key).to.equal(plan.prompts[2]?.key);
    expect(plan.requests.map(({ messages }) => messages)).to.deep.equal([undefined, answered, open, open]);
    for (const [index, { prompt, messages, repeat, key }] of plan.prompts.entries()) {
      expect(key, String(index)).to.equal(
        requestKey({ ...model, params: { max_tokens: 5 }, prompt, messages, repeat }),
      );
    }
  });
});

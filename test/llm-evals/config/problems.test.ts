import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import type { ConfigProblem } from '../../../src/io/config-text/config-problem.ts';
import { parseLlmEvalConfig } from '../../../src/llm-evals/config/index.ts';
import { BAD } from './bad-configs.ts';

async function errorOf(text: string): Promise<ConfigValidationError> {
  const error = await parseLlmEvalConfig(text, 'c.yml').then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error, 'it was taken').to.be.instanceOf(ConfigValidationError);
  return error as ConfigValidationError;
}

describe('a configuration of an evaluation with one problem', () => {
  for (const { title, text, at, key, message, suggestion } of BAD) {
    it(`reports ${title}, with its position`, async () => {
      const error = await errorOf(text);
      const problems = error.context['faults'] as ConfigProblem[];
      const reported = problems.map(({ line, column, ...found }) => ({
        at: `${String(line)}:${String(column)}`,
        ...found,
      }));
      expect(reported).to.deep.equal([{ at, key, message, suggestion, file: 'c.yml' }]);
      expect(error.message).to.equal(`c.yml:${at}: ${message}. ${suggestion}`.replaceAll(/\s+/g, ' '));
    });
  }

  it('is tested in more than forty variants', () => {
    expect(BAD.length).to.be.greaterThan(40);
    expect(new Set(BAD.map(({ title }) => title)).size).to.equal(BAD.length);
  });
});

describe('a configuration of an evaluation with several problems', () => {
  it('has one error with all of them, in the order of the text', async () => {
    const text = 'provider: opnai\nrepeat: 3\nprompt_templates: { a: "{gendr}", b: "x }" }\nconcurrency: 100\n';
    const { context } = await errorOf(text);
    const allProblems = context['faults'] as ConfigProblem[];
    expect(allProblems.map(({ line, key }) => [line, key])).to.deep.equal([
      [1, 'provider'],
      [2, 'repeat'],
      [3, 'prompt_templates.a'],
      [3, 'prompt_templates.b'],
      [4, 'concurrency'],
    ]);
  });

  it('does not report a section as missing that has problems', async () => {
    const text =
      'evaluators: [counterfactual]\nprompt_templates: { a: "{g}" }\ncounterfactual: { dimensions: { g: [x] } }\n';
    const { context } = await errorOf(text);
    expect((context['faults'] as ConfigProblem[]).map(({ key }) => key)).to.deep.equal(['counterfactual.dimensions.g']);
  });
});

describe('a secret in a configuration', () => {
  const secret = 'sk-proj-4f9aB27cQ1xV8sT0abcdEFGH';
  const texts: readonly (readonly [title: string, text: string, at: string])[] = [
    ['as a value of the top level', `prompt_templates: { a: x }\nmodel: ${secret}\n`, '2:8'],
    ['under a key for it', `prompt_templates: { a: x }\napi_key: ${secret}\n`, '2:1'],
    ['within params', `prompt_templates: { a: x }\nparams:\n  extra_headers: { Authorization: "Bearer ${secret}" }\n`, '3:20'], // prettier-ignore
    ['in a list within params', `prompt_templates: { a: x }\nparams:\n  stop: [a, ${secret}]\n`, '3:13'],
    ['in a prompt', `prompt_templates: { a: "Is ${secret} safe?" }\n`, '1:24'],
    ['as a name of a prompt', `prompt_templates: { ${secret}: x }\n`, '1:21'],
    ['as a value of a dimension', `counterfactual: { template: "{g}", dimensions: { g: [x, ${secret}] } }\n`, '1:57'],
    ['as a password in the address', `prompt_templates: { a: x }\nbase_url: http://me:${secret}@host/v1\n`, '2:11'],
    ['in the address', `prompt_templates: { a: x }\nbase_url: https://host/v1?key=${secret}\n`, '2:11'],
    ['under a key that holds a mapping', `prompt_templates: { a: x }\napi_key: { value: ${secret} }\n`, '2:1'],
    [
      'under a key of unknown sections',
      `prompt_templates: { a: x }\nauth_of: { host: { token: ${secret} } }\n`,
      '2:20',
    ],
    ['as an alias', `prompt_templates: { a: *${secret} }\n`, '1:24'],
    ['as a key that is there twice', `? ${secret}\n: 1\n? ${secret}\n: 2\n`, '3:3'],
  ];
  for (const [title, text, at] of texts) {
    it(`is rejected and not shown: ${title}`, async () => {
      const error = await errorOf(text);
      const problems = error.context['faults'] as ConfigProblem[];
      expect(problems).to.have.lengthOf(1);
      expect(problems.map(({ line, column }) => `${String(line)}:${String(column)}`)).to.deep.equal([at]);
      const everything = `${error.message} ${String(error.stack)} ${JSON.stringify(error.context)} ${String(error.suggestion)} ${String(error.cause)}`;
      expect(everything).not.to.include(secret);
      expect(everything).not.to.include('4f9aB27cQ1xV8sT0');
    });
  }

  it('is rejected with the name of the environment variable to use', async () => {
    const variables = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY', compatible: 'EVENHAND_LLM_API_KEY' };
    for (const [provider, variable] of Object.entries(variables)) {
      const { message } = await errorOf(`provider: ${provider}\napi_key: anything\n`);
      expect(message).to.equal(
        `c.yml:2:1: api_key: a configuration must not contain keys; keys are read only from environment variables. Remove it and set the environment variable ${variable}. If other people have seen the key, revoke it.`,
      );
    }
  });

  it('is rejected in plain data too, and in data that contain themselves', () => {
    const params: Record<string, unknown> = { deep: { token: 'abc' } };
    params['self'] = params;
    expect(() => parseLlmEvalConfig({ promptTemplates: { a: 'x' }, params })).to.throw(/^params\.deep\.token: /);
  });

  for (const key of [
    'token',
    'authorization',
    'secret',
    'x-api-key',
    'openai_api_key',
    'password',
    'client_secret',
    'API_KEY',
    'apiKey',
    'access_token',
    'credentials',
    'bearer',
    'key',
  ]) {
    it(`is not allowed under ${key}`, async () => {
      const { context } = await errorOf(`prompt_templates: { a: x }\n${key}: abc\n`);
      expect((context['faults'] as ConfigProblem[]).map(({ message }) => message)).to.deep.equal([
        `${key}: a configuration must not contain keys; keys are read only from environment variables`,
      ]);
    });
  }

  it('is not detected in names chosen by users, nor in settings about tokens', async () => {
    const config = await parseLlmEvalConfig(
      'prompt_templates: { token: What is a token?, secret: Keep a secret. }\nparams: { max_tokens: 5, stop_token: x, key_size: 1 }\n',
    );
    expect(Object.keys(config.promptTemplates)).to.deep.equal(['token', 'secret']);
  });
});

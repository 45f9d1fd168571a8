import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { targetConfigs } from '../../../src/llm-evals/config/build-llm-eval-config.ts';
import { llmEvalConfigToJson, parseLlmEvalConfig } from '../../../src/llm-evals/config/index.ts';

const ASK = 'prompt_templates: { a: Hello }\n';

/** The texts of the problems of a configuration, without its name. */
async function problemsOf(text: string): Promise<readonly string[]> {
  try {
    await parseLlmEvalConfig(`${ASK}${text}`, 'c.yml');
    return [];
  } catch (error) {
    if (!(error instanceof ConfigValidationError)) throw error;
    return (error.context['faults'] as readonly { message: string }[]).map(({ message }) => message);
  }
}

const http = (...lines: readonly string[]): string =>
  `provider: http\nhttp:\n  url: https://app.example.org/chat\n${lines.map((line) => `  ${line}\n`).join('')}`;

describe('the section http', () => {
  it('fills in its defaults, and the host is the model', async () => {
    const config = await parseLlmEvalConfig(`${ASK}${http()}`);
    expect(config.model).to.equal('app.example.org');
    expect(config.http).to.deep.equal({
      url: 'https://app.example.org/chat',
      method: 'POST',
      headers: {},
      body: { prompt: '{{prompt}}' },
      answerPath: null,
      inputTokensPath: null,
      outputTokensPath: null,
    });
  });

  it('survives a round trip, with the keys of headers and of the body as they are', async () => {
    const text = http(
      'method: PUT',
      'headers: { X-Team: fairness, Authorization: "Bearer ${EVENHAND_LLM_API_KEY}" }',
      'body: { maxTokens: 3, snake_case: [null, "{{messages}}"] }',
      'answer_path: $.a[0]',
    );
    const config = await parseLlmEvalConfig(`${ASK}model: m\n${text}`);
    expect(config.http?.body).to.deep.equal({ maxTokens: 3, snake_case: [null, '{{messages}}'] });
    expect(config.http?.headers).to.deep.equal({ 'X-Team': 'fairness', Authorization: 'Bearer ${EVENHAND_LLM_API_KEY}' });
    expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
    expect(parseLlmEvalConfig(config)).to.deep.equal(config);
  }); // prettier-ignore

  const valid: readonly string[] = [
    http('body: "{{prompt}}"', 'headers: { content-type: text/plain }'),
    http('body: "q={{prompt}}"', 'headers: { Content-Type: application/x-www-form-urlencoded }'),
    http(`body: '{"q": "{{prompt}}", "m": {{messages}}, "n": {{max_tokens}}, "p": {{params}}, "s": "{{system}}"}'`),
    `${http('body: { m: "{{messages}}" }')}system_prompt: Be brief.\n`,
    `${http('body: { q: "{{prompt}}", p: "{{params}}" }')}params: { temperature: 0 }\n`,
    `${http()}params: { max_tokens: 9 }\n`,
    http('headers: { x-api-key: "${EVENHAND_LLM_API_KEY}", cookie: "${EVENHAND_LLM_SESSION}" }'),
    'provider: command\ncommand: [./ask]\n',
    'provider: command\ncommand: [./ask]\ncommand_input: json\nsystem_prompt: S\nparams: { temperature: 0 }\n',
    'provider: gemini\nmodel: m\n',
    'provider: ollama\nmodel: m\n',
  ];
  for (const text of valid) {
    it(`accepts ${JSON.stringify(text)}`, async () => {
      expect(await problemsOf(text)).to.deep.equal([]);
    });
  }

  const sent = 'is not sent, because';
  const invalid: readonly (readonly [text: string, ...problems: string[]])[] = [
    ['provider: http\n', 'http: is missing; the provider http needs it'],
    ['provider: command\n', 'command: is missing; the provider command needs it'],
    ['command: [./ask]\n', 'command: is used only by the provider command'],
    ['http: { url: "https://a.example.org" }\n', 'http: is used only by the provider http'],
    [`${http()}base_url: https://a.example.org\n`, 'base_url: is not used by the provider http'],
    ['command_input: json\n', 'command_input: is used only by the provider command'],
    ['provider: command\ncommand: []\n', 'command: must be a list of names, at least 1; got an empty list'],
    [
      'provider: command\ncommand: [./ask]\nsystem_prompt: S\nparams: { temperature: 0 }\n',
      `system_prompt: ${sent} the program reads only the prompt`,
      `params.temperature: ${sent} the program reads only the prompt`,
    ],
    ['provider: http\nhttp: { url: app }\n', 'http.url: must be a URL that starts with http:// or https://'],
    ['provider: http\nhttp: { url: "https://a.example.org/#x" }\n', 'http.url: must not have a fragment'],
    [
      'provider: http\nhttp: { url: "https://a.example.org/?api_key=x" }\n',
      "http.url: must not have the parameter 'api_key', which usually contains a key",
    ],
    [http('method: GET'), "http.method: must be one of POST, PUT, PATCH; got 'GET'"],
    [http('headers: { Host: evil.example.org }'), 'http.headers.Host: cannot be set'],
    [http('headers: { "a b": c }'), "http.headers['a b']: is not the name of a header"],
    [
      http('headers: { a: "b\\nc" }'),
      "http.headers.a: must be a name of one line, without control characters; got 'b\\nc'",
    ],
    [http('body: { q: Hello }'), 'http.body: does not contain the prompt'],
    [http('body: "{{prmpt}}"'), 'http.body: has the unknown placeholder {{prmpt}}'],
    [http(`body: '{"q": {{prompt}}}'`), 'http.body: is not JSON after its placeholders are filled'],
    [http('body: "{{prompt}}"'), 'http.body: is not JSON after its placeholders are filled'],
    [
      http('headers: { content-type: text/plain }', 'body: { q: "{{prompt}}" }'),
      'http.body: must be a text, because the header content-type is not JSON',
    ],
    [
      http('answer_path: answer'),
      'http.answer_path: The JSON path "answer" is invalid at character 1: a path starts with $. Found \'a\'',
    ],
    [http('input_tokens_path: $.a'), 'http.input_tokens_path: is set without output_tokens_path'],
    [`${http()}system_prompt: Be brief.\n`, `system_prompt: ${sent} http.body does not contain it`],
    [`${http()}params: { temperature: 0 }\n`, `params.temperature: ${sent} http.body does not contain it`],
    [http('anser_path: $.a'), "http: unknown key 'anser_path'"],
  ];
  for (const [text, ...problems] of invalid) {
    it(`rejects ${JSON.stringify(text)}`, async () => {
      expect(await problemsOf(text)).to.deep.equal(problems);
    });
  }
});

describe('the providers of the judge and of targets', () => {
  const rubric = 'outcome: { score: { judge: { rubric: How good? } } }\n';
  const endpoint = 'http: { url: "https://app.example.org/chat" }';

  const invalid: readonly (readonly [text: string, problem: string])[] = [
    [`${rubric}judge: { provider: http, model: m }\n`, 'judge.provider: cannot be http'],
    [`${rubric}judge: { provider: command, model: m }\n`, 'judge.provider: cannot be command'],
    [`${rubric}${http()}`, 'judge.provider: is missing; the provider http cannot be the judge'],
    [`${rubric}judge: { model: m }\nprovider: command\ncommand: [./ask]\n`, 'judge.provider: is missing; the provider command cannot be the judge'],
    ['targets: [{ name: a }, { name: b, provider: http }]\n', 'targets[1].http: is missing; the provider http needs it'],
    ['targets: [{ name: a }, { name: b, provider: command }]\n', 'targets[1].command: is missing; the provider command needs it'],
    [`targets: [{ name: a }, { name: b, ${endpoint} }]\n`, 'targets[1].http: is used only by the provider http'],
    [`targets: [{ name: a }, { name: b, provider: gemini }]\n`, 'targets[1].model: is missing; the provider gemini needs it'],
    ['targets: [{ name: a }, { name: b, provider: http, http: { url: "ftp://x" } }]\n', 'targets[1].http.url: must be a URL that starts with http:// or https://'],
    ['targets: [{ name: a }, { name: b, prompt_templates: { a: [{ role: assistant, content: Hi }, { role: user, content: B }] } }]\n', 'targets[1].prompt_templates.a[0]: expected a message of the user, found a message of the assistant'],
  ]; // prettier-ignore
  for (const [text, problem] of invalid) {
    it(`are checked: ${problem}`, async () => {
      expect((await problemsOf(text)).map((each) => each.replace(/ \(in the target.*/, ''))).to.include(problem);
    });
  }

  it('accept a model as judge of an endpoint, of a program and of a target', async () => {
    const judge = 'judge: { provider: openai_responses, model: m }\n';
    for (const own of [http(), 'provider: command\ncommand: [./ask]\n']) {
      const config = await parseLlmEvalConfig(`${ASK}${rubric}${judge}${own}`);
      expect(config.judge).to.deep.include({ provider: 'openai_responses', model: 'm', baseUrl: null });
    }
    const targets = `targets: [{ name: a }, { name: b, provider: http, ${endpoint} }]\n`;
    const { judge: shared } = await parseLlmEvalConfig(
      `${ASK}${rubric}judge: { provider: gemini, model: m }\n${targets}`,
    );
    expect(shared).to.deep.include({ provider: 'gemini', model: 'm' });
  });

  it('give each target its endpoint, program or model, and survive a round trip', async () => {
    const config = await parseLlmEvalConfig(
      `${ASK}${http('answer_path: $.a')}
targets:
  - { name: same, system_prompt: null, http: { url: "https://new.example.org/chat", headers: { X-Team: a } } }
  - { name: first }
  - { name: program, provider: command, command: [bin/ask, --quiet], command_input: json }
  - { name: model, provider: gemini, model: g }
`.replace('system_prompt: null, ', ''),
    );
    const targets = targetConfigs(config);
    const shown = Object.entries(targets).map(([name, own]) => [
      name,
      own.provider,
      own.model,
      own.http?.url ?? null,
      own.command,
      own.commandInput,
    ]);
    expect(shown).to.deep.equal([
      ['same', 'http', 'new.example.org', 'https://new.example.org/chat', null, 'text'],
      ['first', 'http', 'app.example.org', 'https://app.example.org/chat', null, 'text'],
      ['program', 'command', 'ask', null, ['bin/ask', '--quiet'], 'json'],
      ['model', 'gemini', 'g', null, null, 'text'],
    ]);
    expect(parseLlmEvalConfig(llmEvalConfigToJson(config))).to.deep.equal(config);
    expect(parseLlmEvalConfig(config)).to.deep.equal(config);
  });
});

describe('secrets in the section http', () => {
  const variable = 'keys are read only from environment variables';
  const refused: readonly string[] = [
    http('headers: { authorization: Bearer hunter2 }'),
    http('headers: { Authorization: "Bearer ${EVENHAND_LLM_API_KEY}x" }'),
    http('headers: { x-api-key: hunter2 }'),
    http('headers: { X-Auth-Token: hunter2 }'),
    http('headers: { Cookie: session=hunter2 }'),
    http('headers: { x-other: sk-proj-4f9aB27cQ1xV8sT0 }'),
    http('body: { q: "{{prompt}}", api_key: hunter2 }'),
    http('body: { q: "{{prompt}}", other: sk-proj-4f9aB27cQ1xV8sT0 }'),
    'provider: http\nhttp: { url: "https://me:hunter2-of-me@a.example.org/" }\n',
    'provider: command\ncommand: [./ask, --key, sk-proj-4f9aB27cQ1xV8sT0]\n',
  ];
  for (const text of refused) {
    it(`are rejected and not shown: ${JSON.stringify(text)}`, async () => {
      const problems = await problemsOf(text);
      expect(problems.join()).to.include(variable);
      expect(problems.join()).to.not.match(/hunter2|sk-proj/);
    });
  }
});

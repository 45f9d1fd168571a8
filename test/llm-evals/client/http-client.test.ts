import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import type { ChatMessage } from '../../../src/llm-evals/client/llm-client.ts';
import { createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';
import type { HttpEndpointConfig } from '../../../src/schemas/llm-eval/llm-eval-document.ts';
import { endpointOf, PLANTED, PLANTED_ENV, problemOf, useLlmServer } from './llm-clients.ts';

/** A prompt with characters that JSON, forms and replacement patterns treat specially. */
const ODD = 'Say "hi"\n\\ $& $1 {{system}} & a=b ü 🐦';

const settings = { provider: 'http', model: 'a-model', baseUrl: null, timeoutMillis: 5000, params: {} } as const;

function clientFor(http: HttpEndpointConfig, env: Record<string, string> = PLANTED_ENV) {
  return createProviderClient({ ...settings, http }, { env });
}

describe('the provider http', () => {
  const server = useLlmServer();
  const endpoint = (given: Partial<HttpEndpointConfig> = {}): HttpEndpointConfig => ({
    ...endpointOf(server()),
    ...given,
  });
  const ask = async (given: Partial<HttpEndpointConfig>, options: object = {}, prompt = ODD) => {
    const completion = await clientFor(endpoint(given)).complete(prompt, options);
    return { completion, request: server().requests.at(-1) };
  };
  const messages: readonly ChatMessage[] = [
    { role: 'system', content: 'Be "brief".' },
    { role: 'user', content: ODD },
  ];

  const bodies: readonly (readonly [title: string, body: unknown, options: object, sent: unknown])[] = [
    ['a text in a value', { q: 'Q: {{prompt}}' }, {}, { q: `Q: ${ODD}` }],
    ['spaces in a placeholder', { q: '{{ prompt }}' }, {}, { q: ODD }],
    ['values of other types', { a: [1, null, true, { b: '{{prompt}}' }] }, {}, { a: [1, null, true, { b: ODD }] }],
    ['a list of messages', { m: '{{messages}}' }, {}, { m: [{ role: 'user', content: ODD }] }],
    ['messages with the system prompt', { m: '{{messages}}' }, { messages }, { m: messages }],
    [
      'messages without the system prompt, which has a place of its own',
      { m: '{{messages}}', s: '{{system}}' },
      { messages },
      { m: messages.slice(1), s: 'Be "brief".' },
    ],
    ['no system prompt', { q: '{{prompt}}', s: '{{system}}' }, {}, { q: ODD, s: '' }],
    ['the system prompt of the params', { q: '{{prompt}}', s: '{{system}}' }, { params: { system: 'S' } }, { q: ODD, s: 'S' }],
    ['the model', { q: '{{prompt}}', model: '{{model}}' }, {}, { q: ODD, model: 'a-model' }],
    ['a number', { q: '{{prompt}}', n: '{{max_tokens}}' }, { params: { max_tokens: 9 } }, { q: ODD, n: 9 }],
    ['no limit', { q: '{{prompt}}', n: '{{max_tokens}}' }, {}, { q: ODD, n: null }],
    [
      'params',
      { q: '{{prompt}}', p: '{{params}}' },
      { params: { system: 'S', max_tokens: 9, temperature: 0 } },
      { q: ODD, p: { temperature: 0, max_tokens: 9 } },
    ],
    ['JSON as text', '{"q": "Q: {{prompt}}", "m": {{messages}}}', {}, { q: `Q: ${ODD}`, m: [{ role: 'user', content: ODD }] }],
  ]; // prettier-ignore
  for (const [title, body, options, sent] of bodies) {
    it(`fills a body with ${title}`, async () => {
      const { request } = await ask({ body }, options);
      expect(request?.body).to.deep.equal(sent);
      expect(request?.headers['content-type']).to.equal('application/json');
    });
  }

  it('encodes forms, and sends other texts as they are', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    // The server rejects a body that is not JSON, so the request is read from the error.
    const sent = async (headers: Record<string, string>, body: string) => {
      const echo = await startEcho();
      try {
        const http = endpoint({ url: `${echo.url}/?v=1`, headers, body, answerPath: null });
        return (await clientFor({ ...http, inputTokensPath: null, outputTokensPath: null }).complete(ODD)).text;
      } finally {
        await echo.close();
      }
    };
    const text = await sent(form, 'q={{prompt}}&x=1');
    expect(new URLSearchParams(text).get('q')).to.equal(ODD);
    expect(new URLSearchParams(text).get('x')).to.equal('1');
    expect(await sent({ 'content-type': 'text/plain; charset=utf-8' }, '> {{prompt}}')).to.equal(`> ${ODD}`);
  });

  it('sends its method, its query and its headers with the values of variables', async () => {
    const headers = { 'X-Team': 'fairness', Authorization: 'Bearer ${EVENHAND_LLM_API_KEY}' };
    const { request } = await ask({ headers, url: `${server().baseUrl}/ask?api-version=2` });
    expect(request).to.include({ method: 'POST', path: '/v1/ask?api-version=2' });
    expect(request?.headers).to.include({ 'x-team': 'fairness', authorization: `Bearer ${PLANTED}` });
  });

  it('reads the answer and the usage at their paths', async () => {
    const { completion } = await ask({}, {}, 'one two');
    expect(completion).to.deep.include({
      text: 'An answer to: one two',
      finishReason: 'stop',
      usage: { inputTokens: 2, outputTokens: 5 },
      cached: false,
    });
    const { completion: without } = await ask({ inputTokensPath: null, outputTokensPath: null });
    expect(without.usage).to.equal(null);
  });

  const answers: readonly (readonly [title: string, body: unknown, path: string | null, text: string])[] = [
    ['a nested text', { choices: [{ message: { content: 'Hi' } }] }, '$.choices[0].message.content', 'Hi'],
    ['a number', { score: 4 }, '$.score', '4'],
    ['a boolean', { approved: false }, '$.approved', 'false'],
    ['the complete body', 'Plain words.\n', null, 'Plain words.\n'],
    ['an empty body', '', null, ''],
    ['a JSON body without a path', '{"a":1}', null, '{"a":1}'],
    ['a JSON text', '"Hi"', '$', 'Hi'],
  ];
  for (const [title, body, answerPath, text] of answers) {
    it(`reads ${title}`, async () => {
      server().setBehaviour({ key: PLANTED, script: [{ kind: 'raw', body }] });
      const { completion } = await ask({ answerPath, inputTokensPath: null, outputTokensPath: null });
      expect(completion.text).to.equal(text);
    });
  }

  const missing: readonly (readonly [title: string, body: unknown, path: string | null, message: RegExp])[] = [
    ['nothing', { other: 1 }, '$.answer', /returned nothing instead of a text at \$\.answer: \{"other":1\}/],
    ['null', { answer: null }, '$.answer', /returned null instead/],
    ['an object', { answer: { text: 'x' } }, '$.answer', /returned an object instead/],
    ['a list', { answer: [] }, '$.answer', /returned a list instead/],
    ['no JSON', 'Hello', '$.answer', /returned no JSON/],
    ['a page', '<!DOCTYPE html><title>Log in</title>', null, /returned an HTML page/],
  ];
  for (const [title, body, answerPath, message] of missing) {
    it(`reports ${title} instead of an answer`, async () => {
      server().setBehaviour({ key: PLANTED, script: [{ kind: 'raw', body }] });
      const problem = await problemOf(ask({ answerPath, inputTokensPath: null, outputTokensPath: null }));
      expect(problem).to.include({ kind: 'malformed', isFatal: false });
      expect(problem.error.message).to.match(message);
    });
  }

  it('reports a missing variable at the first request, and sends nothing', async () => {
    const { length } = server().requests;
    const problem = await problemOf(clientFor(endpoint(), {}).complete('Hello'));
    expect(problem).to.include({ kind: 'auth', isFatal: true });
    expect(problem.error.message).to.include('EVENHAND_LLM_API_KEY');
    expect(server().requests).to.have.length(length);
  });

  it('redacts the values of all variables that it may use', async () => {
    const env = {
      EVENHAND_LLM_API_KEY: PLANTED,
      EVENHAND_LLM_TEAM_TOKEN: 'team-t0ken-of-mine',
      MY_TOKEN: 'my-t0ken-x1',
    };
    const headers = { ...endpoint().headers, 'x-team': '${EVENHAND_LLM_TEAM_TOKEN}', 'x-mine': '${MY_TOKEN}' };
    const client = clientFor(endpoint({ headers }), { ...env, EVENHAND_LLM_VARIABLES: 'OTHER, MY_TOKEN' });
    const { text } = await client.complete(`${env.EVENHAND_LLM_TEAM_TOKEN} ${env.MY_TOKEN} ${PLANTED}`);
    expect(text).to.equal('An answer to: [redacted] [redacted] [redacted]');
    expect(server().requests.at(-1)?.headers).to.include({ 'x-mine': env.MY_TOKEN });
  });
});

describe('a hostile configuration of the provider http', () => {
  const http = (url: string, value: string): HttpEndpointConfig => ({
    ...endpointOf({ baseUrl: '' }),
    url,
    headers: { authorization: value },
  });
  const key = 'Bearer ${EVENHAND_LLM_API_KEY}';
  const refused: readonly (readonly [title: string, url: string, value: string, env: object, told: RegExp])[] = [
    ['sends a key to its own host', 'https://evil.example.org', key, {}, /EVENHAND_LLM_API_KEY is not sent to evil/],
    [
      'sends a key to another port',
      'https://llm.example.org:8443/x',
      key,
      { EVENHAND_LLM_BASE_URL: 'https://llm.example.org' },
      /not sent/,
    ],
    [
      'sends a key to a host with a similar name',
      'https://llm.example.org.evil.example',
      key,
      { EVENHAND_LLM_BASE_URL: 'https://llm.example.org' },
      /not sent/,
    ],
    [
      'sends a key in the clear',
      'http://llm.example.org/x',
      key,
      { EVENHAND_LLM_BASE_URL: 'http://llm.example.org' },
      /over http/,
    ],
    ['reads another secret', 'http://127.0.0.1:9/x', '${AWS_SECRET_ACCESS_KEY}', {}, /uses? the variable AWS_SECRET/],
    ['reads the key of a provider', 'http://127.0.0.1:9/x', 'Bearer ${OPENAI_API_KEY}', {}, /OPENAI_API_KEY, but/],
    ['reads a path', 'http://127.0.0.1:9/x', '${HOME}', { HOME: '/home/planted' }, /the variable HOME/],
    ['contains a password', 'https://me:hunter2@llm.example.org/', key, {}, /user or password/],
    ['has a fragment', 'https://llm.example.org/#x', key, {}, /fragment/],
    ['has no http address', 'file:///etc/passwd', key, {}, /http or https/],
  ];
  for (const [title, url, value, env, told] of refused) {
    it(`${title}: refused`, () => {
      const act = () => clientFor(http(url, value), { ...PLANTED_ENV, ...env });
      expect(act).to.throw(ConfigValidationError, told);
      expect(act).to.not.throw(/hunter2|planted/);
    });
  }

  it('may send prompts without keys to any host, and keys to a host that the environment names', () => {
    expect(clientFor(http('https://any.example.org/ask', 'none'), {}).id).to.equal(
      'http:https://any.example.org/ask:a-model',
    );
    const env = { EVENHAND_LLM_API_KEY: PLANTED, EVENHAND_LLM_BASE_URL: 'https://llm.example.org/other' };
    expect(clientFor(http('https://llm.example.org/ask?v=1', key), env).id).to.equal(
      'http:https://llm.example.org/ask:a-model',
    );
  });

  it('cannot use the variables of the environment in the body or the address', async () => {
    const echo = await startEcho();
    try {
      const body = { q: '{{prompt}} ${EVENHAND_LLM_API_KEY} {{EVENHAND_LLM_API_KEY}}' };
      const given = { ...http(`${echo.url}/?k=\${EVENHAND_LLM_API_KEY}`, 'none'), body, answerPath: '$.q' };
      const { text } = await clientFor({ ...given, inputTokensPath: null, outputTokensPath: null }).complete('Hi');
      expect(text).to.equal('Hi ${EVENHAND_LLM_API_KEY} {{EVENHAND_LLM_API_KEY}}');
    } finally {
      await echo.close();
    }
  });
});

/** Starts a server that answers with the body of the request. */
async function startEcho(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    request.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${String(port)}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

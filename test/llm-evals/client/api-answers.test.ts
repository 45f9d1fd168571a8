import { expect } from 'chai';

import { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { VERSION } from '../../../src/internal/version.ts';
import type { LlmAction } from '../../helpers/llm-server.ts';
import { attempt, clientOf, errorOf, problemOf, PLANTED, useLlmServer } from './llm-clients.ts';

const PROVIDERS = ['openai', 'anthropic', 'compatible'] as const;

describe('requests of clients', () => {
  const server = useLlmServer();
  const sent = async (provider: (typeof PROVIDERS)[number], params: Record<string, unknown>) => {
    const { length } = server().requests;
    await clientOf(server(), { provider }).complete('Hello there', { params });
    expect(server().requests).to.have.length(length + 1);
    return server().requests.at(-1);
  };
  const hello = { role: 'user', content: 'Hello there' };
  const system = { role: 'system', content: 'Be brief.' };

  // As the vendors document their requests.
  const bodies = {
    openai: {
      path: '/v1/chat/completions',
      plain: { model: 'a-model', messages: [hello] },
      full: { model: 'a-model', messages: [system, hello], max_completion_tokens: 9, temperature: 0, seed: 3 },
    },
    anthropic: {
      path: '/v1/messages',
      plain: { model: 'a-model', messages: [hello], max_tokens: 1024 },
      full: { model: 'a-model', messages: [hello], max_tokens: 9, system: 'Be brief.', temperature: 0, seed: 3 },
    },
    compatible: {
      path: '/v1/chat/completions',
      plain: { model: 'a-model', messages: [hello] },
      full: { model: 'a-model', messages: [system, hello], max_tokens: 9, temperature: 0, seed: 3 },
    },
  };
  for (const provider of PROVIDERS) {
    it(`${provider}: sends a prompt without and with params`, async () => {
      const { path, plain, full } = bodies[provider];
      expect((await sent(provider, {}))?.body).to.deep.equal(plain);
      const params = { system: 'Be brief.', max_tokens: 9, temperature: 0, seed: 3 };
      const request = await sent(provider, params);
      expect(request).to.deep.include({ path, method: 'POST', body: full });
      expect(request?.headers['user-agent']).to.equal(`evenhand/${VERSION}`);
    });

    for (const [name, params] of Object.entries({
      model: { model: 'another' },
      messages: { messages: [] },
      stream: { stream: false },
      n: { n: 1 },
      system: { system: 4 },
      'max_tokens of none': { max_tokens: 0 },
      'max_tokens as a text': { max_tokens: '9' },
    })) {
      it(`${provider}: rejects params with ${name} and sends nothing`, async () => {
        const { length } = server().requests;
        const error = await errorOf(clientOf(server(), { provider }).complete('Hello there', { params }));
        expect(error).to.be.instanceOf(ConfigValidationError);
        expect((error as ConfigValidationError).context['parameter']).to.equal(`params.${Object.keys(params).join()}`);
        expect(() => clientOf(server(), { provider, params })).to.throw(ConfigValidationError);
        expect(server().requests).to.have.length(length);
      });
    }
  }

  it('sends the key only in the header that the API reads', async () => {
    const openai = (await sent('openai', {}))?.headers;
    expect(openai?.authorization).to.equal(`Bearer ${PLANTED}`);
    const anthropic = (await sent('anthropic', {}))?.headers;
    expect(anthropic).to.include({ 'x-api-key': PLANTED, 'anthropic-version': '2023-06-01' });
    expect(anthropic?.authorization).to.be.undefined;
  });

  it('sends no key to a compatible server without a key', async () => {
    server().setBehaviour({ key: null });
    await clientOf(server(), { provider: 'compatible' }, {}).complete('Hello there');
    expect(server().requests.at(-1)?.headers.authorization).to.be.undefined;
  });

  it('treats a system prompt of null as absent', async () => {
    expect((await sent('openai', { system: null }))?.body).to.deep.equal(bodies.openai.plain);
  });

  it('sends nothing to a provider without its key', async () => {
    const { length } = server().requests;
    for (const provider of ['openai', 'anthropic'] as const) {
      const problem = await problemOf(clientOf(server(), { provider }, {}).complete('Hello there'));
      expect(problem).to.include({ kind: 'auth', isFatal: true, isRetryable: false, status: null });
      expect(problem.error.suggestion).to.include(`${provider.toUpperCase()}_API_KEY`);
    }
    expect(server().requests).to.have.length(length);
  });
});

describe('responses of providers', () => {
  const server = useLlmServer();
  const usage = { inputTokens: 2, outputTokens: 3 };

  const both: readonly (readonly [title: string, action: LlmAction, expected: object])[] = [
    ['a text', { kind: 'answer', text: 'One two three' }, { text: 'One two three', finishReason: 'stop', usage }],
    ['signs of all kinds', { kind: 'answer', text: 'Ä \u2028 🐦 "three"' }, { text: 'Ä \u2028 🐦 "three"' }],
    ['an empty text', { kind: 'answer', text: '' }, { text: '', finishReason: 'stop' }],
    ['a call of a tool', { kind: 'tool_calls' }, { text: '[tool call] look_up({})', finishReason: 'other' }],
    ['no usage', { kind: 'answer', text: 'One', hasUsage: false }, { text: 'One', usage: null }],
    [
      "the provider's refusal",
      { kind: 'refusal', text: "I can't, sorry" },
      { text: "I can't, sorry", finishReason: 'refusal', isRefusal: true, usage },
    ],
    ['an unknown end', { kind: 'answer', text: 'One', finish: 'new_reason' }, { finishReason: 'other' }],
  ];
  const own = {
    openai: [
      ['the length', { kind: 'answer', finish: 'length' }, { finishReason: 'length' }],
      ['a filter', { kind: 'answer', finish: 'content_filter' }, { finishReason: 'content_filter', isRefusal: true }],
      [
        'a filter of the prompt',
        { kind: 'error', status: 400, code: 'content_filter' },
        { text: '', finishReason: 'content_filter', isRefusal: true, usage: null },
      ],
    ],
    anthropic: [
      ['the length', { kind: 'answer', finish: 'max_tokens' }, { finishReason: 'length' }],
      ['a full context', { kind: 'answer', finish: 'model_context_window_exceeded' }, { finishReason: 'length' }],
      ['a stop sequence', { kind: 'answer', finish: 'stop_sequence' }, { finishReason: 'stop' }],
      ['a pause', { kind: 'answer', finish: 'pause_turn' }, { finishReason: 'other' }],
    ],
  } as const;

  for (const provider of ['openai', 'anthropic'] as const) {
    for (const [title, action, expected] of [...both, ...own[provider]]) {
      it(`${provider}: ${title}`, async () => {
        const completion = await attempt(server(), { script: [action] }, { provider });
        expect(completion).to.deep.include({ ...expected, cached: false });
        expect('isRefusal' in completion).to.equal('isRefusal' in expected);
        expect(completion.latencyMillis).to.be.within(0, 5000);
        expect(Object.isFrozen(completion)).to.be.true;
      });
    }
  }

  it('measures the latency of an answer', async () => {
    const { latencyMillis } = await attempt(server(), { delayMillis: 80 });
    expect(latencyMillis).to.be.within(75, 4000);
  });
});

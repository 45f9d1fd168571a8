import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect } from 'chai';

import { createProviderClient } from '../../../src/llm-evals/client/provider-client.ts';

/** Names that every plain object inherits. */
const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

describe('invalid fields in the responses of a provider', () => {
  let body = '';
  let server: Server;
  before(async () => {
    server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(body);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = (provider: 'compatible' | 'anthropic', answer: unknown) => {
    body = JSON.stringify(answer);
    const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`;
    const config = { provider, model: 'm', baseUrl, timeoutMillis: 5000, params: {} };
    return createProviderClient(config, { env: { ANTHROPIC_API_KEY: 'a-key-for-tests' } }).complete('Hello');
  };
  const chat = (finish: unknown, usage: unknown = null) =>
    ask('compatible', { choices: [{ message: { content: 'Hi.' }, finish_reason: finish }], usage });
  const message = (finish: unknown, usage: unknown = null) =>
    ask('anthropic', { content: [{ type: 'text', text: 'Hi.' }], stop_reason: finish, usage });

  for (const finish of [...INHERITED, '', 'Stop', null, 7, {}]) {
    it(`reads the finish reason ${JSON.stringify(finish)} as other`, async () => {
      expect((await chat(finish)).finishReason).to.equal('other');
      expect((await message(finish)).finishReason).to.equal('other');
    });
  }

  for (const count of [1e300, 1e9 + 1, Number.MAX_SAFE_INTEGER, -1, 0.5, '5', true, [], {}]) {
    it(`ignores the token count ${JSON.stringify(count)}`, async () => {
      expect((await chat('stop', { prompt_tokens: count, completion_tokens: 1 })).usage).to.equal(null);
      expect((await chat('stop', { prompt_tokens: 1, completion_tokens: count })).usage).to.equal(null);
      expect((await message('end_turn', { input_tokens: count, output_tokens: 1 })).usage).to.equal(null);
      expect((await message('end_turn', { input_tokens: 1, output_tokens: count })).usage).to.equal(null);
      const kept = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: count };
      expect((await message('end_turn', kept)).usage).to.equal(null);
    });
  }

  it('accepts counts up to a billion, including cached tokens if they are reported', async () => {
    const { usage } = await chat('stop', { prompt_tokens: 1e9, completion_tokens: 0 });
    expect(usage).to.deep.equal({ inputTokens: 1e9, outputTokens: 0 });
    const kept = { cache_creation_input_tokens: 3, cache_read_input_tokens: null };
    const answer = await message('end_turn', { input_tokens: 1, output_tokens: 2, ...kept });
    expect(answer.usage).to.deep.equal({ inputTokens: 4, outputTokens: 2 });
    const over = { input_tokens: 1e9, output_tokens: 2, cache_creation_input_tokens: 1 };
    expect((await message('end_turn', over)).usage).to.equal(null);
  });
});

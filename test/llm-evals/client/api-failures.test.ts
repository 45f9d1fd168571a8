import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';

import { expect } from 'chai';

import { retryAfterMillis } from '../../../src/internal/http.ts';
import type { FailureKind } from '../../../src/llm-evals/client/llm-client.ts';
import type { LlmAction } from '../../helpers/llm-server.ts';
import { attempt, clientOf, NETWORK_PROVIDERS, problemOf, PLANTED, useLlmServer } from './llm-clients.ts';

const error = (status: number, code?: string, headers?: Record<string, string>): LlmAction => ({
  kind: 'error',
  status,
  ...(code === undefined ? {} : { code }),
  ...(headers === undefined ? {} : { headers }),
});

describe('the errors of clients', () => {
  const server = useLlmServer();
  type Expected = readonly [kind: FailureKind, isRetryable: boolean, isFatal: boolean, status: number | null];

  const both: readonly (readonly [title: string, action: LlmAction, ...Expected])[] = [
    ['400', error(400), 'bad_request', false, false, 400],
    ['401', error(401), 'auth', false, true, 401],
    ['402', error(402), 'quota', false, true, 402],
    ['403', error(403), 'auth', false, true, 403],
    ['404', error(404), 'not_found', false, true, 404],
    ['408', error(408), 'server', true, false, 408],
    ['409', error(409), 'server', true, false, 409],
    ['413', error(413), 'bad_request', false, false, 413],
    ['422', error(422), 'bad_request', false, false, 422],
    ['429', error(429), 'rate_limit', true, false, 429],
    ['429 of a spent quota', error(429, 'insufficient_quota'), 'quota', false, true, 429],
    ['500', error(500), 'server', true, false, 500],
    ['503', error(503), 'server', true, false, 503],
    ['529', error(529), 'server', true, false, 529],
    ['a connection that is cut', { kind: 'cut' }, 'network', true, false, null],
    ['a body that breaks off', { kind: 'cut', within: 'body' }, 'network', true, false, null],
    ['half of an answer', { kind: 'malformed' }, 'malformed', true, false, 200],
    ['HTML', { kind: 'html' }, 'malformed', false, false, 200],
    ['another shape', { kind: 'wrong_shape' }, 'malformed', false, false, 200],
    ['an endless body', { kind: 'endless' }, 'malformed', false, false, 200],
    ['nothing at all', { kind: 'raw', body: '' }, 'malformed', false, false, 200],
    ['a list', { kind: 'raw', body: [] }, 'malformed', false, false, 200],
    ['null', { kind: 'raw', body: 'null' }, 'malformed', false, false, 200],
    ['no choice and no block', { kind: 'raw', body: { choices: [], content: null } }, 'malformed', false, false, 200],
    ['a failure that is no JSON', { kind: 'raw', status: 502, body: '<html>Bad Gateway' }, 'server', true, false, 502],
    ['a success that holds an error', { kind: 'raw', body: { error: { code: 429 } } }, 'rate_limit', true, false, 429],
    ['a redirect', { kind: 'redirect' }, 'not_found', false, true, 307],
  ];
  /** These APIs have no code for a spent quota. */
  const hasNoQuotaCode = ['gemini', 'bedrock', 'ollama'];

  for (const provider of NETWORK_PROVIDERS) {
    for (const [title, action, kind, isRetryable, isFatal, status] of both) {
      if (title === '429 of a spent quota' && hasNoQuotaCode.includes(provider)) continue;
      it(`${provider}: ${title} is '${kind}'`, async () => {
        const problem = await problemOf(attempt(server(), { script: [action] }, { provider }));
        expect(problem).to.include({ kind, isRetryable, isFatal, status, retryAfterMillis: null });
        expect(problem.error.message)
          .to.match(/[.!?]$/)
          .and.to.include(`${provider}:http://127.0.0.1`);
        expect(problem.error.suggestion).to.match(/\w.*\.$/);
      });
    }

    it(`${provider}: does not follow a redirect, which would forward the key`, async () => {
      const { length } = server().requests;
      await problemOf(attempt(server(), { script: [{ kind: 'redirect' }] }, { provider }));
      expect(server().requests).to.have.length(length + 1);
    });
  }

  it('anthropic: recognizes an account without credit by the message', async () => {
    const message = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.';
    const action = { kind: 'error', status: 400, message } as const;
    const problem = await problemOf(attempt(server(), { script: [action] }, { provider: 'anthropic' }));
    expect(problem).to.include({ kind: 'quota', isFatal: true });
  });

  // https://ai.google.dev/gemini-api/docs/api-key and google.rpc.ErrorInfo
  it('gemini: recognizes an invalid key by its reason', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    const message = 'API key not valid. Please pass a valid API key.';
    const body = { error: { code: 400, message, status: 'INVALID_ARGUMENT', details } };
    const script = [{ kind: 'raw', status: 400, body }] as const;
    const problem = await problemOf(attempt(server(), { script }, { provider: 'gemini' }));
    expect(problem).to.include({ kind: 'auth', isFatal: true });
  });

  // google.rpc.RetryInfo
  it('gemini: waits as long as the body of a rate limit asks', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    const body = { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED', details } };
    const script = [{ kind: 'raw', status: 429, body }] as const;
    const problem = await problemOf(attempt(server(), { script }, { provider: 'gemini' }));
    expect(problem).to.include({ kind: 'rate_limit', retryAfterMillis: 34_500 });
  });

  // The error code server_error of https://platform.openai.com/docs/api-reference/responses/object
  it('openai_responses: reports a failed response', async () => {
    const error = { code: 'server_error', message: 'The model failed to generate a response.' };
    const script = [{ kind: 'raw', body: { object: 'response', status: 'failed', error, output: [] } }] as const;
    const problem = await problemOf(attempt(server(), { script }, { provider: 'openai_responses' }));
    expect(problem).to.include({ kind: 'server', isRetryable: true });
    expect(problem.error.message).to.include('failed to generate');
  });

  it("includes the server's message in the error, on one line and shortened", async () => {
    const message = `first\n\tsecond ${'word '.repeat(500)}`;
    const { error } = await problemOf(attempt(server(), { script: [{ kind: 'error', status: 400, message }] }));
    expect(error.message).to.include('first second word');
    expect(error.message.length).to.be.below(320);
  });
});

describe('time limits of clients', () => {
  const server = useLlmServer();

  for (const [title, behaviour] of Object.entries({
    'no answer': { script: [{ kind: 'silent' }] },
    'a slow one': { delayMillis: 30_000 },
  } as const)) {
    it(title, async () => {
      const start = performance.now();
      const problem = await problemOf(attempt(server(), behaviour, { timeoutMillis: 60 }));
      expect(problem).to.include({ kind: 'timeout', isRetryable: true, isFatal: false, status: null });
      expect(performance.now() - start).to.be.within(50, 3000);
    });
  }

  it('apply to a body that keeps arriving', async () => {
    const trickle = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{');
      const timer = setInterval(() => socket.write(' '), 10);
      socket.on('close', () => {
        clearInterval(timer);
      });
    }).listen(0, '127.0.0.1');
    await once(trickle, 'listening');
    try {
      const baseUrl = `http://127.0.0.1:${(trickle.address() as AddressInfo).port}/v1`;
      const problem = await problemOf(clientOf(server(), { baseUrl, timeoutMillis: 100 }).complete('Hello there'));
      expect(problem.kind).to.equal('timeout');
    } finally {
      trickle.close();
    }
  });

  it('do not delay a cancellation', async () => {
    server().setBehaviour({ script: [{ kind: 'silent' }] });
    const controller = new AbortController();
    const work = problemOf(clientOf(server()).complete('Hello there', { signal: controller.signal }));
    setTimeout(() => {
      controller.abort(new Error(PLANTED));
    }, 30);
    const problem = await work;
    expect(problem).to.include({ kind: 'cancelled', isRetryable: false, isFatal: false });
    expect(inspect(problem.error)).to.not.include(PLANTED);
  });

  it('do not apply to a server that does not exist, which fails at once', async () => {
    const baseUrl = await freeAddress();
    const problem = await problemOf(clientOf(server(), { baseUrl }).complete('Hello there'));
    expect(problem).to.include({ kind: 'network', isRetryable: true, isFatal: false, status: null });
    expect(problem.error.message).to.include('ECONNREFUSED');
    expect(problem.error.cause).to.be.instanceOf(Error);
  });

  it('do not apply to a blocked port, which fails permanently', async () => {
    const problem = await problemOf(clientOf(server(), { baseUrl: 'http://127.0.0.1:1/v1' }).complete('Hello there'));
    expect(problem).to.include({ kind: 'network', isRetryable: false, isFatal: true });
  });
});

describe('the wait that a model server asks for', () => {
  const server = useLlmServer();
  const now = Date.parse('2026-01-31T12:00:00Z');
  const cases: readonly (readonly [headers: Record<string, string>, expected: number | null])[] = [
    [{}, null],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': '1000000000' }, 1e12],
    [{ 'retry-after-ms': '1000000000000' }, 1e12],
    [{ 'retry-after': ' 2 ' }, 2000],
    [{ 'retry-after': '-4' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': 'Sat, 31 Jan 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 31 Jan 2026 11:00:00 GMT' }, 0],
    // The server's clock is a minute ahead of ours.
    [{ 'retry-after': 'Sat, 31 Jan 2026 12:01:30 GMT', date: 'Sat, 31 Jan 2026 12:01:00 GMT' }, 30_000],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
  ];
  for (const [headers, expected] of cases) {
    it(`${JSON.stringify(headers)} is ${String(expected)} ms`, () => {
      const wait = retryAfterMillis(new Headers(headers), now, { acceptsModelServerForms: true });
      expect(wait ?? null).to.equal(expected);
    });
  }

  it('is included in the error', async () => {
    const script = [error(429, undefined, { 'retry-after': '3' })];
    expect(await problemOf(attempt(server(), { script }))).to.include({ kind: 'rate_limit', retryAfterMillis: 3000 });
    const overloaded = [error(529, undefined, { 'retry-after-ms': '40' })];
    const problem = await problemOf(attempt(server(), { script: overloaded }, { provider: 'anthropic' }));
    expect(problem).to.include({ kind: 'server', retryAfterMillis: 40 });
  });

  it('allows the expected number of requests under a rate limit', async () => {
    server().setBehaviour({ key: PLANTED, requestsPerSecond: 2, limitRetryAfter: '1' });
    const client = clientOf(server());
    const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map((prompt) => client.complete(prompt)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(2);
  });
});

async function freeAddress(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return `http://127.0.0.1:${port}/v1`;
}

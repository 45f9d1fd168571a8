import { expect } from 'chai';

import { LLMClientError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import type { LLMClient } from '../../../src/llm-evals/client/llm-client.ts';
import type { AnswerRecord } from '../../../src/llm-evals/client/transcript.ts';
import type { RunRequestsOptions } from '../../../src/llm-evals/scheduler/run-options.ts';
import { runRequests } from '../../../src/llm-evals/scheduler/run-requests.ts';
import { type LlmAction, type LlmServer, type LlmServerBehaviour, startLlmServer } from '../../helpers/llm-server.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { serverCeiling, serverClient, serverRequests } from './server-run.ts';

describe('runRequests against a server', function () {
  this.timeout(60_000);
  let server: LlmServer;
  afterEach(() => server.close());

  async function start(behaviour: LlmServerBehaviour, options: Partial<RunRequestsOptions> = {}) {
    server = await startLlmServer(behaviour);
    const records: AnswerRecord[] = [];
    const settings: RunRequestsOptions = {
      client: serverClient(server.baseUrl),
      estimateTokens: serverCeiling,
      onAnswer: (record) => {
        records.push(record);
      },
      baseMillis: 10,
      capMillis: 200,
      ...options,
    };
    return { records, settings };
  }

  /** One in five requests fails; one in a hundred gets no response. */
  function withFailures(seed: number): (request: unknown, index: number) => LlmAction {
    const random = createRandom(seed);
    const problems: readonly LlmAction[] = [
      { kind: 'error', status: 500 },
      { kind: 'error', status: 503 },
      { kind: 'cut', within: 'headers' },
      { kind: 'cut', within: 'body' },
      { kind: 'malformed' },
    ];
    return () => {
      const draw = random.next();
      if (draw < 0.01) return { kind: 'silent' };
      return draw < 0.2 ? (problems[random.integer(problems.length)] as LlmAction) : { kind: 'answer' };
    };
  }

  it('answers 2,000 requests once each despite failures, interruptions, broken JSON and timeouts, within the concurrency @slow', async () => {
    const { records, settings } = await start(
      { otherwise: withFailures(3) },
      { concurrency: 8, retries: 12, client: undefined as never },
    );
    const client = serverClient(server.baseUrl, 500);
    const summary = await runRequests(serverRequests(2000), { ...settings, client });
    expect(summary).to.include({ answered: 2000, failed: 0, notSent: 0, stopped: null });
    expect(records.map(({ key }) => key).sort()).to.deep.equal(
      serverRequests(2000)
        .map(({ key }) => key)
        .sort(),
    );
    expect(records.every(({ prompt, text }) => text === `An answer to: ${prompt}`)).to.be.true;
    // On a busy machine a call may time out before the server has read it, or after it has answered.
    expect(server.requests.length).to.be.at.most(summary.sent);
    expect(summary.retries).to.equal(summary.sent - 2000);
    expect(server.counts['200']).to.be.at.least(2000);
    expect(server.maxConcurrent).to.be.at.most(8);
    expect(summary.maxConcurrent).to.equal(8);
  });

  it('adapts to a limit of 250 requests per second: 2,000 are answered once each, and few are rejected @slow', async () => {
    const { records, settings } = await start({ requestsPerSecond: 250 }, { concurrency: 8 });
    const isRefused: boolean[] = [];
    const client = {
      id: 'watched',
      complete: async (...asked: Parameters<LLMClient['complete']>) => {
        const position = isRefused.push(true) - 1;
        const completion = await settings.client.complete(...asked);
        isRefused[position] = false;
        return completion;
      },
    };
    const summary = await runRequests(serverRequests(2000), { ...settings, client });
    expect(new Set(records.map(({ key }) => key)).size).to.equal(2000);
    expect(summary).to.include({ answered: 2000, failed: 0, rateLimited: server.counts['429'] });
    expect(server.maxConcurrent).to.be.at.most(8);
    const shareOf = (part: readonly boolean[]) => part.filter(Boolean).length / part.length;
    expect(shareOf(isRefused)).to.be.below(0.1);
    // At the limit, the requests take at least 7 s.
    expect(summary.seconds).to.be.below(30);
  });

  it('follows Retry-After: no request arrives while the server asks to wait', async () => {
    const { settings } = await start({ script: [{ kind: 'error', status: 429, headers: { 'retry-after': '1' } }] });
    await runRequests(serverRequests(20), settings);
    const times = server.requests.map(({ startedAt }) => startedAt).sort((a, b) => a - b);
    const gap = times.findIndex((time, index) => index > 0 && time - (times[index - 1] as number) > 900);
    // The first four, one of which was rejected; some of the others may have been followed by another.
    expect(gap).to.be.within(4, 8);
    expect(server.requests).to.have.length(21);
  });

  it('sends at most 100 requests by the server’s count if the limit is 100, also with failures', async () => {
    const { settings } = await start({ otherwise: withFailures(5) }, { limits: { requests: 100 }, concurrency: 8 });
    const client = serverClient(server.baseUrl, 500);
    const summary = await runRequests(serverRequests(2000), { ...settings, client });
    expect(server.requests.length).to.be.within(90, 100);
    expect(summary).to.include({ sent: 100, stopped: 'requests' });
    expect(summary.answered).to.be.at.most(server.counts['200'] ?? 0);
  });

  it('stops at a wrong key after the requests in flight', async () => {
    const { records, settings } = await start({ key: 'another key' });
    const error = await rejectionOf(runRequests(serverRequests(200), settings));
    expect(error).to.be.instanceOf(LLMClientError);
    expect(error.context).to.include({ kind: 'auth', status: 401 });
    expect(server.requests.length).to.be.at.most(4);
    expect(records).to.deep.equal([]);
  });

  it('cancels the requests in flight', async () => {
    const { settings } = await start({ otherwise: { kind: 'silent' } });
    const stop = new AbortController();
    setTimeout(() => {
      stop.abort();
    }, 300);
    const summary = await runRequests(serverRequests(50), { ...settings, signal: stop.signal });
    expect(summary).to.include({ sent: 4, stopped: 'cancelled', notSent: 50 });
    expect(summary.seconds).to.be.below(1.5);
  });
});

import { expect } from 'chai';

import { LLMClientError } from '../../../src/exceptions/index.ts';
import type { RunSummary } from '../../../src/llm-evals/scheduler/run-options.ts';
import { runRequests } from '../../../src/llm-evals/scheduler/run-requests.ts';
import { withRetries } from '../../../src/llm-evals/scheduler/with-retries.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { problem, someRequests, StubClient, virtualRun } from './stub-client.ts';
import { VirtualClock } from './virtual-clock.ts';

const DAY = 86_400_000;

describe('a server that asks for long waits', () => {
  for (const concurrency of [1, 4]) {
    it(`does not extend the minutes of a run, ${String(concurrency)} at a time`, async () => {
      const run = virtualRun(() => problem('rate_limit', 1_800_000), { concurrency, limits: { minutes: 1 } });
      const summary = await run.clock.until(runRequests(someRequests(5), run.options));
      expect(summary).to.include({ stopped: 'minutes', sent: concurrency, failed: 0, notSent: 5 });
      expect(summary.seconds, 'no request can start before the end').to.be.below(1);
    });
  }

  it('shortens a backoff that would end after the minutes', async () => {
    const run = virtualRun(() => problem('server'), {
      ...{ concurrency: 1, limits: { minutes: 0.1 } },
      ...{ baseMillis: 60_000, capMillis: 60_000 },
    });
    const summary = await run.clock.until(runRequests(someRequests(1), run.options));
    expect(summary).to.include({ stopped: 'minutes', sent: 1, notSent: 1, seconds: 6 });
  });

  for (const [kind, millis, said] of [
    ['rate_limit', 1e12, '1,000,000,000 s'],
    ['rate_limit', 3_600_001, '3,601 s'],
    ['server', DAY, '86,400 s'],
  ] as const) {
    it(`fails without a wait above an hour: ${kind}, ${said}`, async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 3' ? problem(kind, millis) : {}));
      const summary = await run.clock.until(runRequests(someRequests(40), run.options));
      expect(summary).to.include({ answered: 39, failed: 1, stopped: null, sent: 40 });
      // The other requests do not wait either.
      expect(summary.seconds).to.be.below(60);
      const { error } = run.records.find(({ prompt }) => prompt === 'prompt 3') ?? {};
      expect(error?.kind).to.equal(kind);
      expect(error?.message)
        .to.include(`a failure: ${kind}`)
        .and.include(`asks to wait ${said}`)
        .and.include('an hour');
    });
  }

  it('is followed for a wait of an hour', async () => {
    const run = virtualRun((_, tries) => (tries === 1 ? problem('rate_limit', 3_600_000) : {}), { concurrency: 1 });
    const summary = await run.clock.until(runRequests(someRequests(1), run.options));
    expect(summary).to.include({ answered: 1, failed: 0 });
    expect(summary.seconds).to.be.at.least(3600);
  });

  it('ends the run after ten such requests in a row, and keeps the answers so far', async () => {
    const run = virtualRun((_, __, index) => (index < 20 ? {} : problem('rate_limit', DAY)));
    const error = await rejectionOf(run.clock.until(runRequests(someRequests(500), run.options)));
    expect(error).to.be.instanceOf(LLMClientError);
    expect(error.message).to.include('10 requests in a row').and.include('86,400 s');
    const { answered, failed, notSent } = error.context?.['summary'] as RunSummary;
    expect([answered, failed + notSent]).to.deep.equal([20, 480]);
    expect(failed).to.be.within(10, 14);
    expect(run.records).to.have.length(answered + failed);
  });

  it('makes withRetries fail without a wait above an hour', async () => {
    const clock = new VirtualClock();
    const client = new StubClient(clock, () => problem('rate_limit', DAY));
    const error = await rejectionOf(clock.until(withRetries(client, { clock }).complete('Hello')));
    expect(error.message).to.include('asks to wait 86,400 s');
    expect(error.context).to.include({ kind: 'rate_limit', retryAfterMillis: DAY });
    expect(client.calls).to.have.length(1);
  });
});

describe('the log of failures', () => {
  const warnings = useLoggedWarnings();

  it('has a line for the first 429, and for each wait above 10 s', async () => {
    const run = virtualRun((_, tries) => (tries <= 3 ? problem('rate_limit', 60_000) : {}), { concurrency: 4 });
    const summary = await run.clock.until(runRequests(someRequests(4), run.options));
    expect(summary.answered).to.equal(4);
    expect(summary.lastFailure).to.equal('a failure: rate_limit');
    expect(warnings()[0]).to.include('a failure: rate_limit');
    const waits = warnings().slice(1);
    expect(waits.length, 'one line for all that wait together').to.be.within(3, Math.ceil(summary.seconds / 60));
    for (const wait of waits) expect(wait).to.include('asks to wait 60 s');
  });

  it('has no line for waits of 10 s, and one line for the failure', async () => {
    const run = virtualRun((_, tries) => (tries <= 3 ? problem('rate_limit', 10_000) : {}), { concurrency: 4 });
    await run.clock.until(runRequests(someRequests(8), run.options));
    expect(warnings()).to.have.length(1);
  });

  it('has a line for a backoff that the server did not ask for', async () => {
    const run = virtualRun((_, tries) => (tries <= 2 ? problem('server') : {}), {
      ...{ concurrency: 1, baseMillis: 30_000 },
    });
    await run.clock.until(runRequests(someRequests(1), run.options));
    expect(warnings().some((text) => /retried in \d+ s/.test(text))).to.equal(true);
  });

  it('has a line for the first network failure, and the summary contains its message', async () => {
    const run = virtualRun(() => problem('network'), { limits: { minutes: 1 } });
    const summary = await run.clock.until(
      runRequests(someRequests(50), run.options).catch(
        (error: unknown) => (error as LLMClientError).context['summary'],
      ),
    );
    expect((summary as RunSummary).lastFailure).to.equal('a failure: network');
    expect(warnings().filter((text) => text.includes('a failure: network'))).to.have.length(1);
  });

  it('is empty, and lastFailure is null, without failures and after a cancelled run', async () => {
    const run = virtualRun(() => ({}));
    expect((await run.clock.until(runRequests(someRequests(9), run.options))).lastFailure).to.equal(null);
    const stop = new AbortController();
    const ended = virtualRun(() => ({}), { signal: stop.signal });
    void ended.clock.sleep(250).then(() => {
      stop.abort();
    });
    expect((await ended.clock.until(runRequests(someRequests(50), ended.options))).lastFailure).to.equal(null);
    expect(warnings()).to.deep.equal([]);
  });

  it('contains no secrets', async () => {
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';
    const leaky = () =>
      new LLMClientError(`wrong key ${secret}`, {
        context: { kind: 'network', status: null, isRetryable: true, isFatal: false, retryAfterMillis: 20_000 },
      });
    const run = virtualRun((_, tries) => (tries === 1 ? leaky() : {}));
    const { lastFailure } = await run.clock.until(runRequests(someRequests(2), run.options));
    expect(lastFailure).to.include('wrong key').and.not.include(secret);
    expect(warnings().join()).to.include('wrong key').and.not.include(secret);
  });
});

describe('an answer with invalid fields', () => {
  const odd = {
    finishReason: Object.prototype as never,
    isRefusal: 'no' as never,
    usage: { inputTokens: 1e300, outputTokens: 1 },
    latencyMillis: NaN,
  };

  it('is normalized for transcripts and caches, and counts with its ceiling', async () => {
    const run = virtualRun(() => odd);
    const summary = await run.clock.until(runRequests(someRequests(1), run.options));
    expect(summary).to.include({ answered: 1, uncounted: 1, inputTokens: 10, outputTokens: 20 });
    expect(run.records[0]).to.include({
      ...{ text: 'yes', finishReason: 'other', isRefusal: null },
      ...{ inputTokens: null, outputTokens: null },
    });
    expect(run.records[0]?.latencyMillis).to.equal(0);
  });
});

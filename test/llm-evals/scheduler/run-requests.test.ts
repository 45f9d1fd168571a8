import { expect } from 'chai';
import fc from 'fast-check';

import { CacheMissError, LLMClientError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import type { FailureKind } from '../../../src/llm-evals/client/llm-client.ts';
import type { RunSummary } from '../../../src/llm-evals/scheduler/run-options.ts';
import { runRequests } from '../../../src/llm-evals/scheduler/run-requests.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { ANSWER, problem, gapsOf, someRequests, virtualRun } from './stub-client.ts';

describe('runRequests', () => {
  it('sends each request once, records each once, and summarizes', async () => {
    const { clock, options, records, client } = virtualRun(() => ({}), { price: { input: 1, output: 2 } });
    const summary = await clock.until(runRequests(someRequests(10), options));
    expect(records.map(({ prompt }) => prompt)).to.deep.equal(someRequests(10).map(({ prompt }) => prompt));
    // 10 requests of 100 ms, 4 at a time: 3 rounds. 100 input tokens at 1 $ and 200 output tokens at 2 $ per million.
    expect(summary).to.deep.equal({
      ...{ sent: 10, retries: 0, answered: 10, failed: 0, notSent: 0, inputTokens: 100, outputTokens: 200 },
      ...{ uncounted: 0, costUsd: 500 / 1e6, seconds: 0.3, stopped: null, maxConcurrent: 4, rateLimited: 0 },
      lastFailure: null,
    } satisfies RunSummary);
    expect(client.maxConcurrent).to.equal(4);
    expect(records[0]).to.deep.equal({
      ...{ key: '0'.repeat(64), model: 'stub', prompt: 'prompt 0', repeat: 0, text: 'yes', error: null },
      ...{ finishReason: 'stop', isRefusal: null, inputTokens: 10, outputTokens: 20, cached: false },
      ...{ latencyMillis: 100, attempts: 1 },
    });
    expect(summary).to.be.frozen;
  });

  it('does nothing without requests', async () => {
    const { clock, options } = virtualRun(() => ({}));
    const summary = await clock.until(runRequests([], options));
    expect([summary.sent, summary.answered, summary.stopped]).to.deep.equal([0, 0, null]);
  });

  it('passes the params and the repeat to the client', async () => {
    const { clock, options, client } = virtualRun(() => ({}));
    const request = { key: 'a', prompt: 'p', repeat: 3, params: { temperature: 1 } };
    await clock.until(runRequests([request], options));
    expect(client.calls[0]?.options).to.include({ repeat: 3, params: request.params });
  });

  it('sends one request per key', async () => {
    const { clock, options, client } = virtualRun(() => ({}));
    const summary = await clock.until(
      runRequests([...someRequests(1), ...someRequests(1), ...someRequests(1)], options),
    );
    expect([client.calls.length, summary.answered, summary.notSent]).to.deep.equal([1, 1, 0]);
  });

  it('reports progress, from 1 to all', async () => {
    const done: number[] = [];
    const { clock, options } = virtualRun(() => ({}), { onProgress: (event) => done.push(event.done) });
    await clock.until(runRequests(someRequests(5), options));
    expect(done).to.deep.equal([1, 2, 3, 4, 5]);
  });

  describe('transient failures', () => {
    for (const kind of ['server', 'network', 'malformed', 'timeout'] as const) {
      it(`waits 1, 2 and 4 s with 20% jitter after ${kind}, and then fails`, async () => {
        const run = virtualRun(() => problem(kind), { latencyMillis: 0 });
        const summary = await run.clock.until(runRequests(someRequests(1), run.options));
        const waits = gapsOf(run.times());
        expect(waits).to.have.length(3);
        for (const [index, base] of [1000, 2000, 4000].entries()) {
          expect(waits[index]).to.be.within(0.8 * base, 1.2 * base);
        }
        expect([summary.sent, summary.retries, summary.failed]).to.deep.equal([4, 3, 1]);
        expect(run.records[0]).to.include({ text: null, attempts: 4, finishReason: null });
        expect(run.records[0]?.error).to.deep.equal({ kind, message: `a failure: ${kind}` });
      });
    }

    it('waits at most the cap, also with jitter', async () => {
      const run = virtualRun(() => problem('server'), { latencyMillis: 0, retries: 9 });
      await run.clock.until(runRequests(someRequests(1), run.options));
      const waits = gapsOf(run.times());
      expect(waits.slice(6).every((wait) => wait <= 60_000)).to.be.true;
      expect(Math.max(...waits)).to.be.within(48_000, 60_000);
    });

    it('counts a success after failures once, with its attempts', async () => {
      const run = virtualRun((_, tries) => (tries < 3 ? problem('server') : {}));
      const summary = await run.clock.until(runRequests(someRequests(1), run.options));
      expect(run.records[0]).to.include({ text: 'yes', attempts: 3 });
      expect([summary.sent, summary.retries, summary.answered]).to.deep.equal([3, 2, 1]);
    });

    it('waits as long as Retry-After asks, and starts no other request during that time', async () => {
      const run = virtualRun((_, __, position) => (position === 0 ? problem('server', 30_000) : {}));
      await run.clock.until(runRequests(someRequests(12), run.options));
      const later = run.times().filter((time) => time > 0);
      expect(run.times().filter((time) => time === 0)).to.have.length(4);
      expect(Math.min(...later)).to.equal(30_100);
    });

    it('gives the same waits for the same seed, and different ones for another', async () => {
      const timesOf = async (seed: number) => {
        const run = virtualRun(() => problem('server'), { seed });
        await run.clock.until(runRequests(someRequests(3), run.options));
        return run.times();
      };
      expect(await timesOf(1)).to.deep.equal(await timesOf(1));
      expect(await timesOf(1)).to.not.deep.equal(await timesOf(2));
    });

    it('does not retry a request that is rejected as invalid', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 1' ? problem('bad_request') : {}));
      const summary = await run.clock.until(runRequests(someRequests(3), run.options));
      expect([summary.sent, summary.answered, summary.failed]).to.deep.equal([3, 2, 1]);
      expect(run.records.find(({ error }) => error !== null)).to.include({ prompt: 'prompt 1', attempts: 1 });
    });

    it('treats an error of another type as an error in a function', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 1' ? new TypeError('oops') : {}));
      await run.clock.until(runRequests(someRequests(3), run.options));
      const failed = run.records.find(({ error }) => error !== null);
      expect(failed?.error).to.deep.equal({ kind: 'function', message: 'oops' });
    });

    it('treats an answer without text as malformed', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 1' ? { text: undefined as never } : {}));
      await run.clock.until(runRequests(someRequests(2), run.options));
      expect(run.records.find(({ error }) => error !== null)?.error?.kind).to.equal('malformed');
    });

    it('ends a call at its time limit even if the client ignores its signal', async () => {
      const run = virtualRun(() => ({}), { timeoutMillis: 500, retries: 0 });
      const deaf = { id: 'deaf', complete: () => run.clock.sleep(10_000).then(() => ANSWER) };
      const summary = await run.clock.until(runRequests(someRequests(1), { ...run.options, client: deaf }));
      expect(run.records[0]?.error).to.deep.equal({ kind: 'timeout', message: 'No answer was received within 0.5 s.' });
      expect([run.records[0]?.latencyMillis, summary.seconds]).to.deep.equal([500, 0.5]);
    });
  });

  describe('too many requests', () => {
    it('is counted separately from the other failures, up to ten times', async () => {
      const run = virtualRun(() => problem('rate_limit'), { latencyMillis: 0 });
      const summary = await run.clock.until(runRequests(someRequests(1), run.options));
      expect([summary.sent, summary.rateLimited, summary.failed]).to.deep.equal([10, 10, 1]);
      const mixed = virtualRun((_, tries) => (tries > 12 ? {} : problem(tries % 4 === 0 ? 'server' : 'rate_limit')));
      const both = await mixed.clock.until(runRequests(someRequests(1), mixed.options));
      expect([both.answered, both.rateLimited, both.sent]).to.deep.equal([1, 9, 13]);
    });

    it('holds all requests as long as Retry-After asks', async () => {
      const run = virtualRun((_, __, position) => (position === 5 ? problem('rate_limit', 20_000) : {}));
      await run.clock.until(runRequests(someRequests(20), run.options));
      // The sixth call begins at 100 ms and is rejected at 200 ms; those that start then are already in flight.
      const next = run.times().filter((time) => time > 200);
      expect(Math.min(...next)).to.equal(20_200);
    });

    it('lowers the rate so that a server with a limit rejects fewer and fewer requests', async () => {
      // 5 per second are accepted, with a bucket of 5.
      let tokens = 5;
      let last = 0;
      let now = () => 0;
      const refused: boolean[] = [];
      const run = virtualRun(() => {
        tokens = Math.min(5, tokens + ((now() - last) * 5) / 1000);
        last = now();
        refused.push(tokens < 1);
        if (tokens < 1) return problem('rate_limit');
        tokens--;
        return {};
      });
      now = () => run.clock.now();
      last = now();
      const summary = await run.clock.until(runRequests(someRequests(400), run.options));
      expect(summary.answered).to.equal(400);
      const shareOf = (part: readonly boolean[]) => part.filter(Boolean).length / part.length;
      // Four at a time of 100 ms are 40 per second, of which 35 would be rejected.
      expect(shareOf(refused)).to.be.below(0.15);
      expect(shareOf(refused.slice(-200))).to.be.at.most(shareOf(refused.slice(0, 20)));
      // At the limit, the requests take at least 79 s.
      expect(summary.seconds).to.be.below(120);
    });
  });

  describe('configuration errors', () => {
    for (const kind of ['auth', 'not_found', 'quota'] as const) {
      it(`stops at once for ${kind}, and keeps the answers so far and those in flight`, async () => {
        const run = virtualRun((_, __, position) => (position === 5 ? problem(kind) : {}));
        const error = await rejectionOf(run.clock.until(runRequests(someRequests(100), run.options)));
        expect(error).to.be.instanceOf(LLMClientError);
        expect(error.message).to.equal(`a failure: ${kind}`);
        expect(error.suggestion).to.equal('fix it');
        expect(error.context).to.include({ kind, isFatal: true });
        expect(error.context?.['summary']).to.include({
          answered: run.records.length,
          failed: 0,
          sent: run.client.calls.length,
        });
        // The calls of the second round were in flight: all but one are kept, and none begins after them.
        expect(run.client.calls.length).to.be.at.most(9);
        expect(run.records.length).to.equal(run.client.calls.length - 1);
      });
    }

    it('stops if the first 10 all fail, after their records were passed on', async () => {
      const run = virtualRun(() => problem('bad_request'), { concurrency: 1 });
      const error = await rejectionOf(run.clock.until(runRequests(someRequests(50), run.options)));
      expect(error).to.be.instanceOf(LLMClientError);
      expect(error.message).to.include('first 10 requests all failed').and.to.include('bad_request');
      expect([run.records.length, run.client.calls.length]).to.deep.equal([10, 10]);
    });

    it('continues if one of the first 10 is answered', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 3' ? {} : problem('bad_request')));
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      expect([summary.answered, summary.failed]).to.deep.equal([1, 49]);
    });

    it('are thrown unchanged if they are errors of this package but not of a client', async () => {
      const run = virtualRun(() => new CacheMissError('not known'));
      const error = await rejectionOf(run.clock.until(runRequests(someRequests(50), run.options)));
      expect(error).to.be.instanceOf(CacheMissError);
      expect(run.records).to.deep.equal([]);
    });
  });

  describe('records', () => {
    it('are stored before the next request of the worker starts', async () => {
      let isKeeping = false;
      const run = virtualRun(
        () => {
          expect(isKeeping).to.be.false;
          return {};
        },
        { concurrency: 1 },
      );
      const onAnswer = async () => {
        isKeeping = true;
        await run.clock.sleep(1000);
        isKeeping = false;
      };
      const summary = await run.clock.until(runRequests(someRequests(5), { ...run.options, onAnswer }));
      expect(summary.answered).to.equal(5);
    });

    it('end the run if storing fails, after those in flight were passed on', async () => {
      const run = virtualRun(() => ({}));
      const offered: string[] = [];
      const onAnswer = ({ prompt }: { prompt: string }) => {
        offered.push(prompt);
        if (prompt === 'prompt 0') throw new Error('the disk is full');
      };
      const error = await rejectionOf(run.clock.until(runRequests(someRequests(50), { ...run.options, onAnswer })));
      expect(error.message).to.equal('the disk is full');
      expect(offered).to.have.length(4);
    });

    it('have no secrets in their errors', async () => {
      const secret = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';
      const run = virtualRun((prompt) => (prompt === 'prompt 0' ? new Error(`wrong key ${secret}`) : {}));
      await run.clock.until(runRequests(someRequests(2), run.options));
      expect(JSON.stringify(run.records)).to.include('wrong key').and.to.not.include(secret);
    });
  });

  describe('limits', () => {
    for (const limit of [0, 1, 3, 100]) {
      it(`sends at most ${limit} attempts, retries among them`, async () => {
        const random = createRandom(limit);
        const run = virtualRun(() => (random.next() < 0.5 ? problem('server') : {}), { limits: { requests: limit } });
        const summary = await run.clock.until(runRequests(someRequests(500), run.options));
        expect(run.client.calls.length).to.equal(limit);
        expect(summary).to.include({ sent: limit, stopped: 'requests' });
        expect(summary.answered + summary.failed).to.equal(run.records.length);
        expect(summary.notSent).to.equal(500 - run.records.length);
      });
    }

    it('allows a plan that fits exactly', async () => {
      const run = virtualRun(() => ({}), {
        limits: { requests: 20, tokens: 600, costUsd: 0.6 },
        price: { input: 1e3, output: 1e3 },
      });
      const summary = await run.clock.until(runRequests(someRequests(20), run.options));
      // 20 x (10 + 20) tokens, and 20 x 0.03 $.
      expect(summary).to.include({ answered: 20, stopped: null, costUsd: 0.6 });
    });

    it('never exceeds the token limit', async () => {
      // Each may take 30: with a limit of 100 three may be in flight, and the fourth waits for the rest.
      const run = virtualRun(() => ({ usage: { inputTokens: 10, outputTokens: 5 } }), { limits: { tokens: 100 } });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      // 15 each: five take 75, and a sixth could reach 105.
      expect(summary).to.include({
        answered: 5,
        inputTokens: 50,
        outputTokens: 25,
        stopped: 'tokens',
        maxConcurrent: 3,
      });
    });

    it('does not wait if nothing is in flight, despite rounding errors', async () => {
      const run = virtualRun(() => ({ usage: { inputTokens: 0.1, outputTokens: 0 } }), {
        limits: { tokens: 2 },
        estimateTokens: () => ({ input: 0.1, outputCeiling: 0.2 }),
      });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      // After 17 or 18 answers of 0.1 the next 0.3 would exceed 2.
      expect(summary.stopped).to.equal('tokens');
      expect(summary.answered).to.be.within(17, 18);
    });

    it('never exceeds the cost limit', async () => {
      // A request costs at most 0.01 + 0.04 $ and actually 0.01 + 0.02 $.
      const run = virtualRun(() => ({ usage: { inputTokens: 10, outputTokens: 10 } }), {
        limits: { costUsd: 0.2 },
        price: { input: 1000, output: 2000 },
      });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      // After n answers 0.03 n are spent and one more may take 0.05: the sixth fits exactly, a seventh does not.
      expect([summary.answered, summary.stopped]).to.deep.equal([6, 'cost']);
      expect(summary.costUsd).to.be.closeTo(0.18, 1e-12);
    });

    it('counts the ceiling of answers without a count, and of calls that may have been charged', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 0' ? { usage: null } : problem('malformed')), {
        retries: 1,
      });
      const summary = await run.clock.until(runRequests(someRequests(2), run.options));
      expect(summary).to.include({ uncounted: 3, inputTokens: 30, outputTokens: 60 });
    });

    it('counts no tokens of rejected requests', async () => {
      const run = virtualRun((prompt) => (prompt === 'prompt 0' ? {} : problem('bad_request')));
      const summary = await run.clock.until(runRequests(someRequests(5), run.options));
      expect(summary).to.include({ uncounted: 0, inputTokens: 10, outputTokens: 20 });
    });

    it('starts nothing after its minutes, and lets the requests in flight finish', async () => {
      const run = virtualRun(() => ({}), { limits: { minutes: 1 }, latencyMillis: 7000, concurrency: 2 });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      // Starts at 0, 7, …, 56 s: nine rounds of two, the last ending at 63 s.
      expect(summary).to.include({ answered: 18, stopped: 'minutes', seconds: 63 });
    });

    it('does not wait for a Retry-After beyond its minutes', async () => {
      const run = virtualRun((_, __, position) => (position === 4 ? problem('rate_limit', 3_600_000) : {}), {
        limits: { minutes: 5 },
      });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      expect(summary.stopped).to.equal('minutes');
      expect(summary.seconds).to.be.below(1);
    });

    it('sends nothing for a cached answer, with any limit', async () => {
      const run = virtualRun(() => ({ cached: true }), { limits: { requests: 4, tokens: 120 } });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      expect(summary).to.include({ sent: 0, answered: 50, inputTokens: 0, stopped: null });
      expect(run.records[0]).to.include({ attempts: 0, cached: true });
    });
  });

  describe('a signal', () => {
    it('cancels the requests in flight and starts no more', async () => {
      const stop = new AbortController();
      const run = virtualRun(() => ({}), { signal: stop.signal });
      void run.clock.sleep(250).then(() => {
        stop.abort();
      });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      expect(summary).to.include({
        answered: 8,
        sent: 12,
        failed: 0,
        notSent: 42,
        stopped: 'cancelled',
        seconds: 0.25,
      });
      expect(run.records).to.have.length(8);
    });

    it('sends nothing if it is already aborted', async () => {
      const run = virtualRun(() => ({}), { signal: AbortSignal.abort() });
      const summary = await run.clock.until(runRequests(someRequests(50), run.options));
      expect(summary).to.include({ sent: 0, stopped: 'cancelled', notSent: 50 });
    });

    it('ends a wait', async () => {
      const stop = new AbortController();
      const run = virtualRun(() => problem('rate_limit', 600_000), { signal: stop.signal });
      void run.clock.sleep(5000).then(() => {
        stop.abort();
      });
      const summary = await run.clock.until(runRequests(someRequests(5), run.options));
      expect(summary).to.include({ stopped: 'cancelled', seconds: 5 });
    });

    it('has no listeners after the run', async () => {
      const stop = new AbortController();
      const run = virtualRun(() => ({}), { signal: stop.signal });
      const summary = await run.clock.until(runRequests(someRequests(5), run.options));
      stop.abort();
      expect(summary.stopped).to.equal(null);
    });
  });

  const KINDS: readonly FailureKind[] = ['rate_limit', 'server', 'network', 'malformed', 'bad_request'];

  it('records each outcome once, within the concurrency and the limits, for any failures', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.integer({ min: 0, max: 1e6 }),
          count: fc.integer({ min: 1, max: 60 }),
          concurrency: fc.integer({ min: 1, max: 9 }),
          failing: fc.double({ min: 0, max: 0.7, noNaN: true }),
          requests: fc.option(fc.integer({ min: 0, max: 80 })),
          tokens: fc.option(fc.integer({ min: 0, max: 2000 })),
        }),
        async ({ seed, count, concurrency, failing, requests, tokens }) => {
          const random = createRandom(seed);
          const run = virtualRun(
            () => {
              const kind = random.next() < failing ? KINDS[random.integer(KINDS.length)] : undefined;
              if (kind === undefined)
                return { usage: { inputTokens: random.integer(11), outputTokens: random.integer(21) } };
              return problem(kind, random.next() < 0.3 ? random.integer(5000) : null);
            },
            { concurrency, limits: { requests, tokens } },
          );
          const result = await run.clock.until(
            runRequests(someRequests(count), run.options).catch((error: unknown) => {
              expect(error).to.be.instanceOf(LLMClientError);
              return (error as LLMClientError).context['summary'] as RunSummary;
            }),
          );
          expect(new Set(run.records.map(({ key }) => key)).size).to.equal(run.records.length);
          expect(result.answered + result.failed).to.equal(run.records.length);
          expect(result.answered + result.failed + result.notSent).to.equal(count);
          expect(result.sent).to.equal(run.client.calls.length);
          expect(run.client.maxConcurrent).to.be.at.most(concurrency);
          expect(result.sent).to.be.at.most(requests ?? Infinity);
          expect(result.inputTokens + result.outputTokens).to.be.at.most(tokens ?? Infinity);
        },
      ),
      { seed: 7, numRuns: 150 },
    );
  });

  for (const [title, change] of [
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['timeoutMillis', { timeoutMillis: NaN }],
    ['limits.requests', { limits: { requests: -1 } }],
    ['limits.tokens', { limits: { tokens: NaN } }],
    ['limits.minutes', { limits: { minutes: '5' as never } }],
    ['price', { limits: { costUsd: 1 } }],
    ['price.input', { price: { input: NaN, output: 1 } }],
    ['retries', { retries: -1 }],
    ['baseMillis', { baseMillis: 0 }],
    ['capMillis', { capMillis: 10 }],
    ['onAnswer', { onAnswer: undefined as never }],
    ['estimateTokens().outputCeiling', { estimateTokens: () => ({ input: 1, outputCeiling: NaN }) }],
  ] as const) {
    it(`rejects ${JSON.stringify(change)}`, async () => {
      const run = virtualRun(() => ({}), change);
      const error = await rejectionOf(runRequests(someRequests(1), run.options));
      expect(error).to.be.instanceOf(RangeError);
      expect(error.message).to.include(title);
    });
  }
});

import { expect } from 'chai';

import { CacheMissError } from '../../../src/exceptions/index.ts';
import { withRetries } from '../../../src/llm-evals/scheduler/with-retries.ts';
import { rejectionOf } from '../cache/rejection-of.ts';
import { problem, gapsOf, StubClient } from './stub-client.ts';
import { VirtualClock } from './virtual-clock.ts';

type Reaction = ConstructorParameters<typeof StubClient>[1];

function retrying(react: Reaction, options: Parameters<typeof withRetries>[1] = {}) {
  const clock = new VirtualClock();
  const inner = new StubClient(clock, react, 0);
  return { clock, inner, client: withRetries(inner, { clock, ...options }) };
}

describe('withRetries', () => {
  it('retries after 1, 2 and 4 s with 20% jitter, and then throws the last error', async () => {
    const { clock, inner, client } = retrying(() => problem('server'));
    const error = await rejectionOf(clock.until(client.complete('Why?')));
    expect(error.message).to.equal('a failure: server');
    const waits = gapsOf(inner.calls.map(({ at }) => at));
    expect(waits).to.have.length(3);
    for (const [index, base] of [1000, 2000, 4000].entries()) {
      expect(waits[index]).to.be.within(0.8 * base, 1.2 * base);
    }
  });

  it('returns the first answer, and passes on the options', async () => {
    const { clock, inner, client } = retrying((_, tries) => (tries < 3 ? problem('network') : {}));
    expect((await clock.until(client.complete('Why?', { repeat: 2 }))).text).to.equal('yes');
    expect(inner.calls.map(({ options }) => options.repeat)).to.deep.equal([2, 2, 2]);
    expect(client.id).to.equal('stub');
  });

  it('waits as long as Retry-After asks for, also beyond the cap', async () => {
    const { clock, inner, client } = retrying((_, tries) => (tries === 1 ? problem('rate_limit', 90_000) : {}));
    await clock.until(client.complete('Why?'));
    expect(gapsOf(inner.calls.map(({ at }) => at))).to.deep.equal([90_000]);
  });

  it('counts 429 separately, up to ten times', async () => {
    const { clock, inner, client } = retrying((_, tries) => problem(tries % 5 === 0 ? 'server' : 'rate_limit'));
    await rejectionOf(clock.until(client.complete('Why?')));
    expect(inner.calls).to.have.length(12);
  });

  for (const error of [
    problem('auth'),
    problem('quota'),
    problem('bad_request'),
    new TypeError('x'),
    new CacheMissError('x'),
  ]) {
    it(`does not retry after ${error.name}: ${error.message}`, async () => {
      const { clock, inner, client } = retrying(() => error);
      expect(await rejectionOf(clock.until(client.complete('Why?')))).to.equal(error);
      expect(inner.calls).to.have.length(1);
    });
  }

  it('ends a wait when it is cancelled', async () => {
    const stop = new AbortController();
    const { clock, inner, client } = retrying(() => problem('server', 60_000));
    void clock.sleep(500).then(() => {
      stop.abort();
    });
    const error = await rejectionOf(clock.until(client.complete('Why?', { signal: stop.signal })));
    expect(error.context).to.include({ kind: 'cancelled' });
    expect(inner.calls).to.have.length(1);
  });

  it('rejects options out of range', () => {
    const inner = new StubClient(new VirtualClock(), () => ({}));
    expect(() => withRetries(inner, { retries: 1.5 })).to.throw(RangeError, 'retries');
    expect(() => withRetries(inner, { rateLimitTries: 0 })).to.throw(RangeError, 'rateLimitTries');
  });
});

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { backoffMillis, MAX_TIMER_MILLIS, sleep, whenAborted, withTimeLimit } from '../../src/internal/retry.ts';

const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

describe('exponential backoff', () => {
  it('starts at the base and doubles up to the cap', () => {
    const waits = [0, 1, 2, 3, 4, 5, 2000].map((retry) => backoffMillis(retry, { baseMillis: 100, capMillis: 1000 }));
    expect(waits).to.deep.equal([100, 200, 400, 800, 1000, 1000, 1000]);
  });

  it('has no cap by default', () => {
    expect(backoffMillis(20, { baseMillis: 250 })).to.equal(250 * 1_048_576);
  });

  it('is 0 for a base of 0, however many retries there were', () => {
    for (const retry of [0, 10, 5000]) expect(backoffMillis(retry, { baseMillis: 0 })).to.equal(0);
  });

  for (const [draw, expected] of [
    [0, 160],
    [0.5, 200],
    [0.75, 220],
  ] as const) {
    it(`with jitter from 0.8 to 1.2 is ${expected} ms instead of 200 for a draw of ${draw}`, () => {
      const jitter = { min: 0.8, max: 1.2, random: { next: () => draw } };
      expect(backoffMillis(1, { baseMillis: 100, jitter })).to.be.closeTo(expected, 1e-9);
    });
  }

  it('never exceeds the cap, also with jitter', () => {
    const jitter = { min: 0.8, max: 1.2, random: { next: () => 0.99 } };
    expect(backoffMillis(9, { baseMillis: 100, capMillis: 1000, jitter })).to.equal(1000);
  });

  it('draws one number each time, so that the same seed gives the same waits', () => {
    const waitsOf = (seed: number) => {
      const jitter = { min: 0, max: 1, random: createRandom(seed) };
      return Array.from({ length: 100 }, (_, retry) => backoffMillis(retry % 4, { baseMillis: 10, jitter }));
    };
    expect(waitsOf(1)).to.deep.equal(waitsOf(1));
    expect(waitsOf(1)).to.not.deep.equal(waitsOf(2));
  });
});

describe('sleep', () => {
  it('resolves after the time', async () => {
    const start = performance.now();
    await sleep(30);
    expect(performance.now() - start).to.be.at.least(28);
  });

  it("rejects with the signal's reason when it is aborted, before and during the wait", async () => {
    const reason = new Error('enough');
    expect(await rejectionOf(sleep(60_000, AbortSignal.abort(reason)))).to.equal(reason);
    const controller = new AbortController();
    const asleep = rejectionOf(sleep(60_000, controller.signal));
    controller.abort(reason);
    expect(await asleep).to.equal(reason);
  });

  it('does not end at once for a time longer than a timer takes', async () => {
    const controller = new AbortController();
    let isOver = false;
    const asleep = rejectionOf(
      sleep(MAX_TIMER_MILLIS + 1, controller.signal).then(() => {
        isOver = true;
      }),
    );
    await sleep(20);
    expect(isOver).to.equal(false);
    controller.abort(new Error('enough'));
    await asleep;
  });
});

describe('a time limit', () => {
  const timeout = () => new RangeError('too slow');

  it('returns the result of work that ends in time', async () => {
    expect(await withTimeLimit(1000, timeout, undefined, () => Promise.resolve(7))).to.equal(7);
  });

  it('passes on the error of the work', async () => {
    const error = new TypeError('x');
    expect(await rejectionOf(withTimeLimit(1000, timeout, undefined, () => Promise.reject(error)))).to.equal(error);
  });

  it('aborts the signal of the work with the error of the limit when the time is up', async () => {
    const error = await rejectionOf(withTimeLimit(10, timeout, undefined, whenAborted));
    expect(error).to.be.instanceOf(RangeError);
  });

  it("aborts the signal of the work with the outer signal's reason, also if that was aborted before", async () => {
    const outer = new AbortController();
    const reason = new Error('stopped');
    const work = rejectionOf(withTimeLimit(60_000, timeout, outer.signal, whenAborted));
    outer.abort(reason);
    expect(await work).to.equal(reason);
    expect(await rejectionOf(withTimeLimit(60_000, timeout, outer.signal, whenAborted))).to.equal(reason);
  });

  it('waits for work that cleans up after its signal was aborted', async () => {
    let isClean = false;
    const error = await rejectionOf(
      withTimeLimit(10, timeout, undefined, async (signal) => {
        await whenAborted(signal).catch(() => sleep(20));
        isClean = true;
        throw signal.reason;
      }),
    );
    expect(error).to.be.instanceOf(RangeError);
    expect(isClean).to.equal(true);
  });
});

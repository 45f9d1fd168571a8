import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { retryWaitMillis } from '../../../src/monitoring/sinks/webhook-sink.ts';

const fixed = (draw: number) => ({ ...createRandom(1), next: () => draw });

describe('the wait of a webhook before a retry', () => {
  for (const [retry, asked, draw, wait] of [
    [0, undefined, 0, 250],
    [0, undefined, 0.5, 375],
    [1, undefined, 0, 500],
    [4, undefined, 0.5, 6000],
    [0, 250, 0.5, 375],
    [0, 1000, 0.5, 1000],
    [0, 0, 0, 250],
    [30, undefined, 0, 300_000],
    [2000, undefined, 0, 300_000],
    [0, 1e9, 0, 300_000],
  ] as const) {
    it(`is ${wait} ms at retry ${retry} with a draw of ${draw}, if the server asks for ${asked}`, () => {
      expect(retryWaitMillis(500, retry, asked, fixed(draw))).to.equal(wait);
    });
  }

  it('is 0 without backoff at any retry', () => {
    expect(retryWaitMillis(0, 3, undefined, fixed(0.5))).to.equal(0);
    expect(retryWaitMillis(0, 5000, undefined, fixed(0.5))).to.equal(0);
  });

  it('is the same for the same seed, and within half and all of its range for any draw', () => {
    const waits = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 1000 }, () => retryWaitMillis(100, 1, undefined, random));
    };
    expect(waits(7)).to.deep.equal(waits(7));
    expect(waits(7)).not.to.deep.equal(waits(8));
    expect(Math.min(...waits(7))).to.be.within(100, 102);
    expect(Math.max(...waits(7))).to.be.within(198, 200);
  });
});

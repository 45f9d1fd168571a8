import { expect } from 'chai';

import { Pace } from '../../../src/llm-evals/scheduler/pace.ts';

/** Starts requests at a regular interval. */
function startEvery(pace: Pace, millis: number, from: number, count: number): number {
  for (let index = 0; index < count; index++) pace.start(from + index * millis);
  return from + count * millis;
}

/** Reports answers to requests that each had to wait. */
function succeedHeldBack(pace: Pace, now: number, count: number): void {
  for (let index = 0; index < count; index++) {
    pace.waitMillis(now);
    pace.succeeded(now);
  }
}

describe('Pace', () => {
  it('lets all requests start at once until one is rejected', () => {
    const pace = new Pace();
    const now = startEvery(pace, 1, 0, 1000);
    expect(pace.waitMillis(now)).to.equal(0);
    expect(pace.perSecond).to.equal(Infinity);
  });

  for (const perSecond of [2, 10, 50]) {
    it(`starts half as many as before, of ${perSecond} a second over the last 5 s`, () => {
      const pace = new Pace();
      const now = startEvery(pace, 1000 / perSecond, 0, 7 * perSecond);
      pace.limited(now, now);
      expect(pace.perSecond).to.be.closeTo(perSecond / 2, 1e-9);
      pace.start(now);
      expect(pace.waitMillis(now)).to.equal(2000 / perSecond);
    });
  }

  it('counts a burst as at most one second of requests', () => {
    const pace = new Pace();
    startEvery(pace, 1, 0, 20);
    pace.limited(19, 30);
    expect(pace.perSecond).to.be.closeTo(10, 1e-9);
  });

  it('halves once for requests in flight at the same time, and again for later ones', () => {
    const pace = new Pace();
    const now = startEvery(pace, 100, 0, 60);
    for (const startedAt of [now - 300, now - 200, now - 100]) pace.limited(startedAt, now + 10);
    expect(pace.perSecond).to.be.closeTo(5, 0.2);
    const before = pace.perSecond;
    pace.limited(now + 11, now + 300);
    expect(pace.perSecond).to.equal(before / 2);
  });

  it('raises by half after every 5 answers', () => {
    const pace = new Pace();
    const now = startEvery(pace, 100, 0, 60);
    pace.limited(now, now);
    pace.start(now);
    succeedHeldBack(pace, now, 4);
    expect(pace.perSecond).to.be.closeTo(5, 1e-9);
    succeedHeldBack(pace, now, 1);
    expect(pace.perSecond).to.be.closeTo(7.5, 1e-9);
  });

  it('rises to the rejected rate and beyond only after 2 s at the previous rate', () => {
    const pace = new Pace();
    const now = startEvery(pace, 100, 0, 60);
    pace.limited(now, now);
    pace.start(now);
    succeedHeldBack(pace, now + 1, 5);
    // 7.5 a second since then; 11.25 would be above the rejected 10.
    succeedHeldBack(pace, now + 2000, 50);
    expect(pace.perSecond).to.be.closeTo(7.5, 1e-9);
    for (const [later, perSecond] of [
      [2001, 11.25],
      [4000, 11.25],
      [4001, 16.875],
    ] as const) {
      pace.start(now + later);
      succeedHeldBack(pace, now + later, 5);
      expect(pace.perSecond).to.be.closeTo(perSecond, 1e-9);
    }
  });

  it('returns quickly to half of the rejected rate although several rejections follow at once', () => {
    // The server's window of one second is full, so that it rejects each lower rate too until the second has passed.
    const pace = new Pace();
    let now = startEvery(pace, 4, 0, 1250);
    pace.limited(now, now);
    for (let index = 0; index < 6; index++) pace.limited(now + 10 * index + 1, now + 10 * index + 2);
    expect(pace.perSecond).to.be.closeTo(250 / 2 ** 7, 1e-9);
    const begin = now;
    while (pace.perSecond < 100) {
      now += pace.waitMillis(now);
      pace.start(now);
      pace.succeeded(now);
    }
    // 5 answers at each of the rates 1.95 x 1.5^k below 100 take 5 / 1.95 / (1 - 1 / 1.5) = 7.7 s at most.
    expect(now - begin).to.be.below(7700);
  });

  it('restarts the count of answers when it is lowered', () => {
    const pace = new Pace();
    const now = startEvery(pace, 100, 0, 60);
    pace.limited(now, now);
    pace.start(now);
    succeedHeldBack(pace, now, 4);
    pace.limited(now + 1, now + 2);
    succeedHeldBack(pace, now + 2, 4);
    expect(pace.perSecond).to.be.closeTo(2.5, 1e-9);
  });

  it('stops limiting after 5 answers without a wait', () => {
    const pace = new Pace();
    let now = startEvery(pace, 100, 0, 60);
    pace.limited(now, now);
    for (let index = 0; index < 5; index++) {
      now += 10_000;
      expect(pace.waitMillis(now)).to.equal(0);
      pace.start(now);
      pace.succeeded(now);
    }
    expect(pace.perSecond).to.equal(Infinity);
  });

  it('is at least one request per minute', () => {
    const pace = new Pace();
    pace.start(0);
    for (let index = 1; index < 100; index++) pace.limited(index, index);
    expect(pace.waitMillis(99)).to.equal(60_000 - 99);
  });

  it('keeps its rate if timers are late', () => {
    const pace = new Pace();
    let now = startEvery(pace, 100, 0, 60);
    pace.limited(now, now);
    const begin = now;
    let starts = 0;
    while (now < begin + 100_000) {
      now += pace.waitMillis(now) + 3;
      pace.start(now);
      starts++;
    }
    expect(starts).to.be.within(495, 502);
  });

  it('holds all requests until a time, and never shortens the wait', () => {
    const pace = new Pace();
    pace.holdUntil(5000);
    pace.holdUntil(2000);
    expect(pace.waitMillis(1000)).to.equal(4000);
    expect(pace.waitMillis(5000)).to.equal(0);
  });
});

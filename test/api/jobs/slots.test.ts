import { expect } from 'chai';

import { throttleProgress } from '../../../src/api/jobs/run-job.ts';
import { Slots } from '../../../src/internal/slots.ts';

describe('Slots', () => {
  const never = new AbortController().signal;

  it('are lent in the order of the requests', async () => {
    const slots = new Slots(1);
    await slots.take(never);
    const order: number[] = [];
    const waiting = [1, 2].map((name) => slots.take(never).then(() => order.push(name)));
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 2]);
    slots.release();
    slots.release();
    await Promise.all(waiting);
    expect(order).to.deep.equal([1, 2]);
    slots.release();
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('are not lent to a caller that was aborted, before or while it waits', async () => {
    const slots = new Slots(1);
    await slots.take(never);
    const controller = new AbortController();
    const reason = new Error('left');
    const left = slots.take(controller.signal).catch((error: unknown) => error);
    const next = slots.take(never);
    controller.abort(reason);
    expect(await left).to.equal(reason);
    slots.release();
    await next;
    expect(await slots.take(controller.signal).catch((error: unknown) => error)).to.equal(reason);
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 0]);
  });
});

describe('throttleProgress', () => {
  it('passes on ten reports per second, and the first and last report of each stage', () => {
    let now = 0;
    const reported: string[] = [];
    const report = throttleProgress(
      ({ stage, done }) => reported.push(`${stage} ${String(done)}`),
      () => now,
    );
    for (let done = 0; done <= 1000; done++) {
      report({ stage: 'training', done, total: 1000 });
      now += 1;
    }
    report({ stage: 'validation', done: 0, total: 1 });
    report({ stage: 'validation', done: 1, total: 1 });
    // One second of work: 0, 100, ..., 900, and the end.
    expect(reported).to.have.length(13);
    expect(reported.slice(0, 2)).to.deep.equal(['training 0', 'training 100']);
    expect(reported.slice(-3)).to.deep.equal(['training 1000', 'validation 0', 'validation 1']);
  });
});

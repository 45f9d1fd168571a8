import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { stopInOrder } from '../../../src/api/serve/running-service.ts';

describe('stopInOrder', () => {
  it('ends requests first, then runs, then connections', async () => {
    const steps: string[] = [];
    await stopInOrder(
      {
        drain: async () => {
          steps.push('drain');
          await pause(30);
          steps.push('answered');
        },
        closeRuns: () => Promise.resolve(void steps.push('runs')),
        end: () => void steps.push('end'),
      },
      5_000,
    );
    expect(steps).to.deep.equal(['drain', 'answered', 'runs', 'end']);
  });

  it('gives runs the time that requests have not used', async () => {
    let left = Number.NaN;
    const closeRuns = (millis: number) => Promise.resolve(void (left = millis));
    await stopInOrder({ drain: () => pause(200), closeRuns, end: () => undefined }, 1_000);
    expect(left).to.be.greaterThan(600).and.most(801);
  });

  it('returns within a second after the time limit, even if neither requests nor runs can be stopped', async () => {
    const never = new Promise<void>(() => undefined);
    let hasEnded = false;
    const begin = performance.now();
    await stopInOrder({ drain: () => never, closeRuns: () => never, end: () => void (hasEnded = true) }, 100);
    expect(performance.now() - begin).to.be.within(100, 1_600);
    expect(hasEnded).to.equal(true);
  });

  it('cancels runs at the time limit, and lets their requests be answered', async () => {
    const steps: string[] = [];
    let answer: () => void = () => undefined;
    const drained = new Promise<void>((resolve) => {
      answer = resolve;
    }).then(() => void steps.push('answered'));
    const closeRuns = (millis: number) => {
      steps.push(`runs ${String(millis)}`);
      setTimeout(answer, 20);
      return Promise.resolve();
    };
    await stopInOrder({ drain: () => drained, closeRuns, end: () => void steps.push('end') }, 50);
    expect(steps).to.deep.equal(['runs 0', 'answered', 'end']);
  });
});

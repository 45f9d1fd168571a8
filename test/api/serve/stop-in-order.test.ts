import { setTimeout as pause } from 'node:timers/promises';

import { expect } from 'chai';

import { stopInOrder } from '../../../src/api/serve/running-service.ts';

/** A service without runs. */
const IDLE = { isBusy: () => false, refuseWork: () => undefined };

describe('stopInOrder', () => {
  it('ends requests first, then runs, then connections', async () => {
    const steps: string[] = [];
    await stopInOrder(
      {
        ...IDLE,
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
    await stopInOrder({ ...IDLE, drain: () => pause(200), closeRuns, end: () => undefined }, 1_000);
    expect(left).to.be.greaterThan(600).and.most(801);
  });

  it('returns within a second after the time limit, even if neither requests nor runs can be stopped', async () => {
    const never = new Promise<void>(() => undefined);
    let hasEnded = false;
    const begin = performance.now();
    await stopInOrder({ ...IDLE, drain: () => never, closeRuns: () => never, end: () => void (hasEnded = true) }, 100);
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
    await stopInOrder({ ...IDLE, drain: () => drained, closeRuns, end: () => void steps.push('end') }, 50);
    expect(steps).to.deep.equal(['runs 0', 'answered', 'end']);
  });

  it('only refuses new work while runs are active, and keeps their results for another second', async () => {
    const steps: [string, number][] = [];
    const begin = performance.now();
    const note = (step: string) => void steps.push([step, performance.now() - begin]);
    let isBusy = true;
    setTimeout(() => (isBusy = false), 300);
    await stopInOrder(
      {
        isBusy: () => isBusy,
        refuseWork: () => {
          note('refuse');
        },
        drain: () => {
          note('drain');
          return Promise.resolve();
        },
        closeRuns: () => {
          note('runs');
          return Promise.resolve();
        },
        end: () => {
          note('end');
        },
      },
      10_000,
    );
    expect(steps.map(([step]) => step)).to.deep.equal(['refuse', 'drain', 'runs', 'end']);
    expect(steps[0]?.[1]).to.be.below(100);
    expect(steps[1]?.[1]).to.be.within(1_200, 3_000);
  });

  it('drains at the time limit, although runs are active', async () => {
    let drainedAt = Number.NaN;
    const begin = performance.now();
    const drain = () => Promise.resolve(void (drainedAt = performance.now() - begin));
    const ending = { isBusy: () => true, refuseWork: () => undefined, closeRuns: () => Promise.resolve() };
    await stopInOrder({ ...ending, drain, end: () => undefined }, 1_500);
    expect(drainedAt).to.be.within(1_400, 2_500);
  });
});

import { expect } from 'chai';

import type { Handler, Service } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { healthRoute, readinessRoute } from '../../../src/api/routes/handlers-of.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { ask, bareApp, serviceWith, withState } from '../middleware/bare-app.ts';

function answerOf(route: (service: Service) => Handler, parts: Partial<Service> = {}) {
  const service = serviceWith(parts);
  return ask(bareApp([withState(), answerProblems(service)], route(service)), { method: 'GET', url: '/' });
}

const runs = {
  counts: () => Promise.resolve({ queued: 3, running: 2, kept: 40 }),
} as Partial<Service['runs']> as Service['runs'];

describe('GET /health', () => {
  it('answers whenever the process is running, even if no work is accepted', async () => {
    const answer = await answerOf(healthRoute, { notReady: () => 'The service ends.' });
    expect(answer.statusCode).to.equal(200);
    expect(answer.json()).to.deep.equal({ status: 'ok', version: VERSION, timestamp: '2026-01-31T09:30:00.000Z' });
  });
});

describe('GET /ready', () => {
  it('returns the current load', async () => {
    const answer = await answerOf(readinessRoute, { runs });
    expect(answer.statusCode).to.equal(200);
    expect(answer.json()).to.deep.equal({ status: 'ready', queued: 3, running: 2, kept: 40 });
  });

  it('answers 503 with the reason if no work is accepted, without counting the runs', async () => {
    const answer = await answerOf(readinessRoute, { notReady: () => 'The service ends.' });
    expect([answer.statusCode, answer.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(answer.json<{ detail: string }>().detail).to.equal('The service ends.');
  });

  it('answers 500 if the runs cannot be counted', async () => {
    expect((await answerOf(readinessRoute)).statusCode).to.equal(500);
  });
});

import { expect } from 'chai';

import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { securityHeaders } from '../../../src/api/middleware/service-layers.ts';
import { ask, bareApp, serviceWith, withState } from './bare-app.ts';

const EXPECTED = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  'cache-control': 'no-store',
};

describe('securityHeaders', () => {
  const layers = [withState(), securityHeaders(), answerProblems(serviceWith())];

  it('are set on every answer: success, problem, internal error, and 401', async () => {
    const handlers = {
      200: bareApp(layers, (context) => {
        context.body = { x: 1 };
      }),
      404: bareApp(layers, () => undefined),
      500: bareApp(layers, () => {
        throw new Error('x');
      }),
    };
    for (const [status, app] of Object.entries(handlers)) {
      const answer = await ask(app, { method: 'GET', url: '/nothing' });
      expect(String(answer.statusCode)).to.equal(status);
      expect(answer.headers).to.include(EXPECTED);
    }
  });

  it('do not enforce HTTPS, which plain HTTP servers do not support', async () => {
    const app = bareApp(layers, (context) => {
      context.body = 'x';
    });
    const { headers } = await ask(app, { method: 'GET', url: '/' });
    expect(headers).to.not.have.property('strict-transport-security');
    expect(JSON.stringify(headers)).to.not.include('upgrade-insecure-requests');
  });

  it('do not reveal the software of the service', async () => {
    const { headers } = await ask(
      bareApp(layers, () => undefined),
      { method: 'GET', url: '/' },
    );
    expect(headers).to.not.have.any.keys('x-powered-by', 'server');
  });

  it('allow a page to set its own policy', async () => {
    const app = bareApp(layers, (context) => {
      context.set('Content-Security-Policy', "default-src 'self'");
      context.body = 'x';
    });
    const { headers } = await ask(app, { method: 'GET', url: '/' });
    expect(headers['content-security-policy']).to.equal("default-src 'self'");
  });
});

import { expect } from 'chai';

import { metricsRoute } from '../../../src/api/routes/handlers-of.ts';
import { ask, bareApp, serviceWith } from '../middleware/bare-app.ts';

describe('GET /metrics', () => {
  it('returns the rendered metrics with the content type of Prometheus', async () => {
    const contentType = 'text/plain; version=0.0.4; charset=utf-8';
    const service = serviceWith({ renderMetrics: () => Promise.resolve({ text: 'a 1\n', contentType }) });
    const answer = await ask(bareApp([], metricsRoute(service)), { method: 'GET', url: '/metrics' });
    expect([answer.statusCode, answer.headers['content-type'], answer.body]).to.deep.equal([200, contentType, 'a 1\n']);
  });
});

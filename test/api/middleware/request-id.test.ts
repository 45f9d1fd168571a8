import { expect } from 'chai';

import { requestId } from '../../../src/api/middleware/service-layers.ts';
import { ask, bareApp, serviceWith } from './bare-app.ts';

describe('requestId', () => {
  const app = () =>
    bareApp([requestId(serviceWith())], (context) => {
      context.body = context.state;
    });

  for (const name of ['a', 'A-b_c.9', 'x'.repeat(64)]) {
    it(`uses the X-Request-Id of the client: ${name.slice(0, 9)}`, async () => {
      const answer = await ask(app(), { method: 'GET', url: '/health', headers: { 'x-request-id': name } });
      expect(answer.headers['x-request-id']).to.equal(name);
      expect(answer.json()).to.deep.equal({ requestId: name, client: '', tenant: '', route: '/health' });
    });
  }

  const unusable: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['of two words', 'a b'],
    ['with a line break', 'a\r\nset-cookie: x=1'],
    ['with a line break at the end', 'a\n'],
    ['with non-ASCII characters', 'ä'],
    ['of 8 KB', 'x'.repeat(8192)],
    ['with markup', '<script>'],
  ];
  for (const [title, name] of unusable) {
    it(`generates an ID if that of the client is ${title}`, async () => {
      const answer = await ask(app(), { method: 'GET', url: '/health', headers: { 'x-request-id': name } });
      expect(answer.headers['x-request-id']).to.equal('id-1');
      expect(answer.headers).to.not.have.property('set-cookie');
    });
  }

  it('gives each request a different ID, and names the worker', async () => {
    const one = app();
    const answers = [await ask(one, { method: 'GET', url: '/' }), await ask(one, { method: 'GET', url: '/' })];
    expect(answers.map(({ headers }) => headers['x-request-id'])).to.deep.equal(['id-1', 'id-2']);
    expect(answers[0]?.headers['x-evenhand-worker']).to.equal('worker-1');
  });

  const routes: readonly (readonly [string, string])[] = [
    ['/health', '/health'],
    ['/health/', '/health'],
    ['/health?x=1', '/health'],
    ['/results/abc', '/results/{run_id}'],
    ['/results/abc/data', '/results/{run_id}/data'],
    ['/results/abc/other', 'unmatched'],
    ['/results//data', 'unmatched'],
    ['/docs/assets/5/ui.css', '/docs/assets/{file}'],
    ['/', 'unmatched'],
    ['/constructor', 'unmatched'],
    ['/HEALTH', 'unmatched'],
    [`/${'x'.repeat(3000)}`, 'unmatched'],
  ];
  for (const [url, route] of routes) {
    it(`maps ${url.slice(0, 30)} to ${route}`, async () => {
      expect((await ask(app(), { method: 'GET', url })).json<{ route: string }>().route).to.equal(route);
    });
  }
});

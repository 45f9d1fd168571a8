import { expect } from 'chai';

import { requestId } from '../../../src/api/middleware/service-layers.ts';
import { ask, bareApp, serviceWith } from './bare-app.ts';

describe('requestId', () => {
  const app = () =>
    bareApp([requestId(serviceWith())], (context) => {
      context.body = context.state;
    });

  for (const name of ['a', 'A-b_c.9', 'x'.repeat(64)]) {
    it(`takes the client's own name ${name.slice(0, 9)}`, async () => {
      const answer = await ask(app(), { method: 'GET', url: '/health', headers: { 'x-request-id': name } });
      expect(answer.headers['x-request-id']).to.equal(name);
      expect(answer.json()).to.deep.equal({ requestId: name, client: '', route: '/health' });
    });
  }

  const unusable: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['of two words', 'a b'],
    ['that breaks a line', 'a\r\nset-cookie: x=1'],
    ['that ends a line', 'a\n'],
    ['beyond ASCII', 'ä'],
    ['of 8 KB', 'x'.repeat(8192)],
    ['with markup', '<script>'],
  ];
  for (const [title, name] of unusable) {
    it(`gives one of its own for a name ${title}`, async () => {
      const answer = await ask(app(), { method: 'GET', url: '/health', headers: { 'x-request-id': name } });
      expect(answer.headers['x-request-id']).to.equal('id-1');
      expect(answer.headers).to.not.have.property('set-cookie');
    });
  }

  it('gives each request another name, and names the worker', async () => {
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
    it(`knows ${url.slice(0, 30)} as ${route}`, async () => {
      expect((await ask(app(), { method: 'GET', url })).json<{ route: string }>().route).to.equal(route);
    });
  }
});

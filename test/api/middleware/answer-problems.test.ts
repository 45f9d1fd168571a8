import { expect } from 'chai';

import type { Handler } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { requestId } from '../../../src/api/middleware/service-layers.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { DataValidationError } from '../../../src/exceptions/index.ts';
import { ask, bareApp, keptLogger, serviceWith } from './bare-app.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'PUT' | 'OPTIONS' | 'PATCH';

function appOf(handler: Handler) {
  const { logger, lines } = keptLogger();
  const service = serviceWith({ logger });
  return { app: bareApp([requestId(service), answerProblems(service)], handler), lines };
}

describe('answerProblems', () => {
  it('answers a problem with its media type, status and headers', async () => {
    const { app } = appOf(() => {
      throw new ServiceProblem(429, { detail: 'slow down', headers: { 'Retry-After': '7' } });
    });
    const answer = await ask(app, { method: 'GET', url: '/results' });
    expect(answer.statusCode).to.equal(429);
    expect(answer.headers['content-type']).to.equal('application/problem+json; charset=utf-8');
    expect(answer.headers['retry-after']).to.equal('7');
    expect(answer.json()).to.deep.equal({
      type: 'urn:evenhand:problem:too-many-requests',
      title: 'Too many requests',
      status: 429,
      code: 'too-many-requests',
      detail: 'slow down',
    });
  });

  it('logs the message and stack of an internal error, but does not send them', async () => {
    const { app, lines } = appOf(() => {
      throw new TypeError('the inner workings', { cause: new Error('deeper') });
    });
    const answer = await ask(app, { method: 'GET', url: '/results' });
    expect(answer.statusCode).to.equal(500);
    expect(answer.body).to.include('id-1');
    expect(answer.body).to.not.match(/inner|deeper|answer-problems|\.ts/);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('"request_id":"id-1"').and.include('the inner workings').and.include('deeper');
  });

  it('logs no other property of an error, which may contain data of the client', async () => {
    const { app, lines } = appOf(() => {
      throw Object.assign(new Error('x'), { body: 'a private row' });
    });
    await ask(app, { method: 'GET', url: '/results' });
    expect(lines.join('')).to.not.include('private');
  });

  it('does not log errors of the client', async () => {
    const { app, lines } = appOf(() => {
      throw new DataValidationError('a private row is wrong');
    });
    const answer = await ask(app, { method: 'GET', url: '/results' });
    expect([answer.statusCode, lines]).to.deep.equal([422, []]);
  });

  const unanswered: readonly (readonly [Method, string, number, string | undefined, RegExp])[] = [
    ['GET', '/helth', 404, undefined, /Did you mean '\/health'/],
    ['GET', '/', 404, undefined, /paths are '\/health'/],
    ['GET', '/validate', 405, 'POST', /Use POST/],
    ['POST', '/health', 405, 'GET, HEAD', /Use GET, HEAD/],
    ['PUT', '/results/x', 405, 'GET, HEAD, DELETE', /Use GET, HEAD, DELETE/],
    ['OPTIONS', '/results', 405, 'GET, HEAD', /Use/],
    ['PATCH', '/results/x/data', 405, 'GET, HEAD', /Use/],
    ['GET', '/results/a/b/c', 404, undefined, /paths|mean/],
    ['GET', '/', 404, undefined, /'\/results\/\{run_id\}\/events'/],
  ];
  for (const [method, url, status, allow, words] of unanswered) {
    it(`answers ${method} ${url}, which no route matched, with ${String(status)}`, async () => {
      const { app } = appOf(() => undefined);
      const answer = await ask(app, { method, url });
      expect([answer.statusCode, answer.headers['allow']]).to.deep.equal([status, allow]);
      expect(answer.body).to.match(words);
      expect(answer.json()).to.include.keys('type', 'title', 'status', 'detail');
    });
  }

  it('answers 405 if the router set 501', async () => {
    const { app } = appOf((context) => {
      context.status = 501;
    });
    expect((await ask(app, { method: 'PATCH', url: '/validate' })).statusCode).to.equal(405);
  });

  it('does not change answers without a body, or a 404 with a body', async () => {
    const gone = appOf((context) => {
      context.status = 204;
    });
    expect((await ask(gone.app, { method: 'DELETE', url: '/results/x' })).statusCode).to.equal(204);
    const own = appOf((context) => {
      context.status = 404;
      context.body = 'own words';
    });
    expect((await ask(own.app, { method: 'GET', url: '/x' })).body).to.equal('own words');
  });

  it('answers HEAD without a body', async () => {
    const { app } = appOf(() => undefined);
    const answer = await ask(app, { method: 'HEAD', url: '/nothing' });
    expect([answer.statusCode, answer.body]).to.deep.equal([404, '']);
  });

  it('shows a long path shortened, and a hostile one as text', async () => {
    const { app } = appOf(() => undefined);
    const long = await ask(app, { method: 'GET', url: `/${'x'.repeat(5000)}` });
    expect(long.body.length).to.be.below(900);
    const hostile = await ask(app, { method: 'GET', url: '/%22%3Cscript%3E%0d%0a' });
    expect(hostile.headers['content-type']).to.equal('application/problem+json; charset=utf-8');
    expect(hostile.json<{ detail: string }>().detail).to.include('/%22%3Cscript%3E%0d%0a');
  });

  it('closes the connection if an answer fails halfway', async () => {
    const { app, lines } = appOf((context) => {
      context.respond = false;
      context.res.write('half');
      throw new Error('then it failed');
    });
    const outcome = await ask(app, { method: 'GET', url: '/results' }).then(
      (answer) => answer.body,
      () => 'cut off',
    );
    expect(outcome).to.not.include('problem');
    expect(lines[0]).to.include('then it failed');
  });
});

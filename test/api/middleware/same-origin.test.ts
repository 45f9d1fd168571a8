import { expect } from 'chai';

import type { Service } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { crossOrigin, sameOrigin } from '../../../src/api/middleware/service-layers.ts';
import { ServiceProblem } from '../../../src/api/problem/service-problem.ts';
import { ask, bareApp, serviceWith, withState } from './bare-app.ts';

const FRIEND = 'https://audit.example.com';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'OPTIONS' | 'PUT';

function appOf(parts: Partial<Service>) {
  const service = serviceWith(parts);
  const layers = [withState(), answerProblems(service), sameOrigin(service), crossOrigin(service)];
  return bareApp(
    layers.filter((layer) => layer !== null),
    (context) => {
      if (context.path === '/broken') throw new ServiceProblem(422, { detail: 'x' });
      context.body = 'done';
    },
  );
}

describe('sameOrigin', () => {
  const cases: readonly (readonly [string, Method, Readonly<Record<string, string>>, number])[] = [
    ['a program', 'POST', {}, 200],
    ['its own page', 'POST', { origin: 'http://here:8000' }, 200],
    ['its own page in capitals', 'POST', { origin: 'http://HERE:8000' }, 200],
    ['its own page behind a proxy that terminates TLS', 'POST', { origin: 'https://here:8000' }, 200],
    [
      'its own page behind a proxy that renames the host',
      'POST',
      { origin: 'https://public.example', 'sec-fetch-site': 'same-origin' },
      200,
    ],
    ['the address bar', 'POST', { 'sec-fetch-site': 'none' }, 200],
    ['another page', 'POST', { origin: 'https://evil.example' }, 403],
    ['another page', 'DELETE', { origin: 'https://evil.example' }, 403],
    ['another page', 'PUT', { origin: 'https://evil.example' }, 403],
    ['another page, to read', 'GET', { origin: 'https://evil.example' }, 200],
    ['another page, to read', 'HEAD', { 'sec-fetch-site': 'cross-site' }, 200],
    ['another port', 'POST', { origin: 'http://here:9000' }, 403],
    ['a name with its name as prefix', 'POST', { origin: 'http://here:8000.evil.example' }, 403],
    ['a page without an origin', 'POST', { origin: 'null' }, 403],
    ['an invalid origin', 'POST', { origin: 'here:8000' }, 403],
    ['another site according to the browser', 'POST', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling site according to the browser', 'DELETE', { 'sec-fetch-site': 'same-site' }, 403],
    ['an allowed origin', 'POST', { origin: FRIEND, 'sec-fetch-site': 'cross-site' }, 200],
    ['an allowed origin over HTTP', 'POST', { origin: 'http://audit.example.com' }, 403],
  ];
  for (const [title, method, headers, status] of cases) {
    it(`answers ${method} of ${title} (${JSON.stringify(headers)}) by ${String(status)}`, async () => {
      const app = appOf({ corsOrigins: [FRIEND] });
      const answer = await ask(app, { method, url: '/validate', headers: { host: 'here:8000', ...headers } });
      expect(answer.statusCode).to.equal(status);
    });
  }

  const hosts: readonly (readonly [string, number])[] = [
    ['localhost', 200],
    ['localhost:8000', 200],
    ['LOCALHOST:1', 200],
    ['[::1]', 200],
    ['[::1]:8000', 200],
    ['127.0.0.1:8000', 200],
    ['Audit.Example.com', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['localhost@evil.example', 403],
    ['127.0.0.1.evil.example:8000', 403],
    ['::1', 200],
    ['[evil]', 403],
  ];
  for (const [host, status] of hosts) {
    it(`answers the host '${host}' by ${String(status)} for every method`, async () => {
      const app = appOf({ allowedHosts: ['localhost', '127.0.0.1', '[::1]', 'audit.example.com'] });
      for (const method of ['GET', 'POST'] as const) {
        const answer = await ask(app, { method, url: '/validate', headers: { host } });
        expect(answer.statusCode).to.equal(status);
        if (status === 403) expect(answer.json<{ suggestion: string }>().suggestion).to.include('--allowed-host');
      }
    });
  }

  it('accepts any host if no names are given', async () => {
    const answer = await ask(appOf({}), { method: 'GET', url: '/', headers: { host: 'evil.example' } });
    expect(answer.statusCode).to.equal(200);
  });
});

describe('crossOrigin', () => {
  it('is null if no origin is given', () => {
    expect(crossOrigin(serviceWith())).to.equal(null);
  });

  it('allows pages of the given origins to read answers, including problems, and no others', async () => {
    const app = appOf({ corsOrigins: [FRIEND] });
    for (const [url, status] of [
      ['/results', 200],
      ['/broken', 422],
    ] as const) {
      const friend = await ask(app, { method: 'GET', url, headers: { origin: FRIEND } });
      expect(friend.statusCode).to.equal(status);
      expect(friend.headers['access-control-allow-origin']).to.equal(FRIEND);
      expect(friend.headers['vary']).to.equal('Origin');
      expect(friend.headers['cross-origin-resource-policy']).to.equal('cross-origin');
      expect(friend.headers['access-control-expose-headers']).to.include('Location').and.include('X-Request-Id');
      const other = await ask(app, { method: 'GET', url, headers: { origin: 'https://evil.example' } });
      expect(other.headers).to.not.have.property('access-control-allow-origin');
    }
  });

  it('answers preflight requests without credentials, for the given origins only', async () => {
    const app = appOf({ corsOrigins: [FRIEND] });
    const question = (origin: string) =>
      ask(app, { method: 'OPTIONS', url: '/validate', headers: { origin, 'access-control-request-method': 'POST' } });
    const friend = await question(FRIEND);
    expect(friend.statusCode).to.equal(204);
    expect(friend.headers['access-control-allow-methods']).to.equal('GET,HEAD,POST,DELETE');
    expect(friend.headers['access-control-allow-headers']).to.include('Authorization').and.include('Idempotency-Key');
    expect(friend.headers).to.not.have.property('access-control-allow-credentials');
    expect((await question('https://evil.example')).headers).to.not.have.property('access-control-allow-methods');
  });
});

import { type AddressInfo, createServer } from 'node:net';

import { expect } from 'chai';

import { ConfigValidationError, ValueError } from '../../../src/exceptions/index.ts';
import type { WebhookSinkOptions } from '../../../src/monitoring/sinks/webhook-options.ts';
import { webhookSink } from '../../../src/monitoring/sinks/webhook-sink.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { SAMPLE_JSON, SAMPLE_TEXT, sampleTransition } from './sample-transition.ts';
import { status, WebhookServer } from './webhook-server.ts';

const FAST = { backoffMillis: 1, timeoutMillis: 10_000 } as const;

describe('a webhook sink', () => {
  const warnings = useLoggedWarnings();
  let server: WebhookServer;
  let url = '';
  beforeEach(async () => {
    server = new WebhookServer();
    url = await server.start();
  });
  afterEach(() => server.stop());

  const open = (options: Partial<WebhookSinkOptions> = {}) => webhookSink({ url, ...FAST, ...options });
  const ids = () => server.posts.map(({ json }) => (json['alert'] as { id: string }).id);

  it('posts a transition as JSON in snake_case, with a line of text', async () => {
    const sink = open({ headers: { 'X-Team': 'risk' } });
    sink.send(sampleTransition());
    await sink.close();
    const [post, ...rest] = server.posts;
    expect(rest).to.deep.equal([]);
    expect(post?.json).to.deep.equal({ ...SAMPLE_JSON, text: SAMPLE_TEXT });
    expect([post?.method, post?.path]).to.deep.equal(['POST', '/hook']);
    expect(post?.headers).to.include({
      'content-type': 'application/json',
      'x-team': 'risk',
      'idempotency-key': 'sex:demographic_parity_difference:1:raised:2024-05-01T00:00:01.000Z',
    });
    expect([sink.failures, warnings().length]).to.deep.equal([0, 0]);
  });

  it('posts in order, one at a time, without blocking the caller', async () => {
    server.otherwise = (response) => setTimeout(() => response.writeHead(200).end('ok'), 5);
    const sink = open();
    const names = Array.from({ length: 20 }, (_, index) => `a:${index}`);
    for (const id of names) sink.send(sampleTransition('raised', { id }));
    expect(server.posts).to.deep.equal([]);
    await sink.close();
    expect(ids()).to.deep.equal(names);
    expect(server.posts.every(({ unanswered }) => unanswered === 0)).to.equal(true);
  });

  for (const code of [429, 500, 502, 503, 504]) {
    it(`retries after HTTP ${code} with the same key until it is accepted`, async () => {
      server.answers = [status(code), status(code)];
      const sink = open();
      sink.send(sampleTransition());
      await sink.close();
      expect(server.posts.map(({ headers }) => headers['idempotency-key'])).to.deep.equal(
        Array(3).fill('sex:demographic_parity_difference:1:raised:2024-05-01T00:00:01.000Z'),
      );
      expect([sink.failures, warnings().length]).to.deep.equal([0, 0]);
    });
  }

  for (const code of [400, 401, 403, 404, 408, 410, 413, 422, 301, 302, 307, 308]) {
    it(`gives up immediately after HTTP ${code}, and continues with the next`, async () => {
      server.answers = [status(code, { location: `${url}/elsewhere` })];
      const sink = open();
      sink.send(sampleTransition('raised', { id: 'a' }));
      sink.send(sampleTransition('raised', { id: 'b' }));
      await sink.close();
      expect(ids()).to.deep.equal(['a', 'b']);
      expect(server.posts.every(({ path }) => path === '/hook')).to.equal(true);
      expect(sink.failures).to.equal(1);
      expect(warnings()).to.have.length(1);
      expect(warnings()[0]).to.match(new RegExp(`alert 'a:raised:.*' is given up: .*HTTP ${code}`));
    });
  }

  it('gives up after all retries, and counts the attempts correctly', async () => {
    server.otherwise = status(500);
    const sink = open({ retries: 3 });
    sink.send(sampleTransition());
    await sink.close();
    expect([server.posts.length, sink.failures]).to.deep.equal([4, 1]);
  });

  it('does not retry if retries is 0', async () => {
    server.otherwise = status(500);
    const sink = open({ retries: 0 });
    sink.send(sampleTransition());
    await sink.close();
    expect([server.posts.length, sink.failures]).to.deep.equal([1, 1]);
  });

  it('waits at least half of a delay that doubles', async () => {
    server.otherwise = status(503);
    const sink = open({ retries: 4, backoffMillis: 40 });
    sink.send(sampleTransition());
    await sink.close();
    const gaps = server.posts.slice(1).map(({ atMillis }, index) => atMillis - (server.posts[index]?.atMillis ?? 0));
    expect(gaps).to.have.length(4);
    for (const [retry, gap] of gaps.entries()) expect(gap).to.be.at.least(20 * 2 ** retry - 2);
  });

  it('follows Retry-After in seconds, or as a date by the clock of the server', async () => {
    const date = new Date(1_700_000_000_000);
    server.answers = [
      status(429, { 'retry-after': '1' }),
      status(503, { date: date.toUTCString(), 'retry-after': new Date(date.getTime() + 1000).toUTCString() }),
      status(503, { 'retry-after': 'soon' }),
    ];
    const sink = open();
    sink.send(sampleTransition());
    await sink.close();
    const [first, second, third, fourth] = server.posts.map(({ atMillis }) => atMillis) as [number, number, number, number]; // prettier-ignore
    expect(second - first).to.be.at.least(990);
    expect(third - second).to.be.at.least(990);
    expect(fourth).to.be.above(third);
    expect(sink.failures).to.equal(0);
  });

  it('retries if the socket is closed before a response, or within its headers', async () => {
    server.answers = [
      (_response, _post, { socket }) => socket.destroy(),
      (response) => response.socket?.end('HTTP/1.1 200 O'),
      (response) => response.socket?.end('this is not HTTP\r\n\r\n'),
    ];
    const sink = open();
    sink.send(sampleTransition());
    await sink.close();
    expect([server.posts.length, sink.failures]).to.deep.equal([4, 0]);
  });

  it('retries if no response arrives in time, then gives up', async () => {
    server.otherwise = () => undefined;
    const sink = open({ retries: 1, timeoutMillis: 500 });
    sink.send(sampleTransition());
    await sink.close();
    expect([server.posts.length, sink.failures]).to.deep.equal([2, 1]);
    expect(warnings()[0]).to.match(/no answer within 0\.5 s/);
  });

  it('stops reading an endless response once its status is known', async () => {
    const endless = (response: import('node:http').ServerResponse) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(2 ** 14)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    server.answers = [endless, (response) => void response.writeHead(200).write('a beginning, and then nothing')];
    const sink = open();
    for (const id of ['a', 'b', 'c']) sink.send(sampleTransition('raised', { id }));
    await sink.close();
    expect(ids()).to.deep.equal(['a', 'b', 'c']);
    expect([sink.failures, warnings().length]).to.deep.equal([0, 0]);
  });

  it('retries if nothing listens at the address', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const sink = webhookSink({ url: `http://127.0.0.1:${port}`, backoffMillis: 1, retries: 2 });
    sink.send(sampleTransition());
    await sink.close();
    expect(sink.failures).to.equal(1);
    expect(warnings()[0]).to.match(/it cannot be reached \(ECONNREFUSED\)/);
  });

  it('drops the oldest alerts beyond mostWaiting, counts them, and warns once', async () => {
    const sink = open({ mostWaiting: 3 });
    for (let index = 0; index < 10; index++) sink.send(sampleTransition('raised', { id: `a:${index}` }));
    await sink.close();
    // The first was already being sent.
    expect(ids()).to.deep.equal(['a:0', 'a:7', 'a:8', 'a:9']);
    expect(sink.failures).to.equal(6);
    expect(warnings()).to.have.length(1);
    expect(warnings()[0]).to.match(/more than 3 alerts wait/);
  });

  it('closes in bounded time, and counts undelivered alerts', async () => {
    server.otherwise = () => undefined;
    const sink = open({ timeoutMillis: 60_000, closeMillis: 80 });
    for (let index = 0; index < 5; index++) sink.send(sampleTransition());
    const start = performance.now();
    await Promise.all([sink.close(), sink.close()]);
    expect(performance.now() - start).to.be.within(70, 1000);
    expect(sink.failures).to.equal(5);
    sink.send(sampleTransition());
    expect(sink.failures).to.equal(6);
    expect(warnings().at(-1)).to.match(/after the sink was closed/);
  });

  it('closes in bounded time while it waits for a retry', async () => {
    server.otherwise = status(503, { 'retry-after': '100' });
    const sink = open({ closeMillis: 50 });
    sink.send(sampleTransition());
    const start = performance.now();
    await sink.close();
    expect(performance.now() - start).to.be.below(1000);
    expect(sink.failures).to.equal(1);
  });

  it('abandons a fetch that ignores its signal, and treats one that throws as a network failure', async () => {
    let calls = 0;
    const sink = open({
      retries: 1,
      timeoutMillis: 30,
      fetch: () => {
        if (calls++ > 0) throw new Error('https://user:secret@host/');
        return new Promise(() => undefined);
      },
    });
    sink.send(sampleTransition());
    await sink.close();
    expect([calls, sink.failures]).to.deep.equal([2, 1]);
    expect(warnings().join()).not.to.include('secret');
  });

  it('sends credentials of the address as a header, and shows neither them nor the path in messages', async () => {
    server.otherwise = status(404);
    const sink = open({ url: url.replace('http://', 'http://user:p%40ss@').concat('/token123?key=k456#part') });
    sink.send(sampleTransition());
    await sink.close();
    expect(server.posts[0]?.path).to.equal('/hook/token123?key=k456');
    // printf 'user:p@ss' | base64
    expect(server.posts[0]?.headers.authorization).to.equal('Basic dXNlcjpwQHNz');
    expect(warnings()[0]).to.match(/^webhook at http:\/\/127\.0\.0\.1:\d+: alert/);
    expect(warnings().join()).not.to.match(/p%40ss|p@ss|token123|k456/);
  });

  it('sends the secret from the environment', async () => {
    process.env['EVENHAND_TEST_HOOK'] = ' s3cret ';
    try {
      const sink = open({ secretFromEnvironment: 'EVENHAND_TEST_HOOK' });
      sink.send(sampleTransition());
      await sink.close();
      expect(server.posts[0]?.headers.authorization).to.equal('Bearer s3cret');
      const both = () => open({ secretFromEnvironment: 'EVENHAND_TEST_HOOK', headers: { Authorization: 'x' } });
      expect(both).to.throw(ValueError, /must not include an Authorization header/);
    } finally {
      delete process.env['EVENHAND_TEST_HOOK'];
    }
    expect(() => open({ secretFromEnvironment: 'EVENHAND_TEST_HOOK' })).to.throw(ConfigValidationError, /EVENHAND_TEST_HOOK is not set/); // prettier-ignore
  });

  it('creates a valid header from any id', async () => {
    const sink = open();
    sink.send(sampleTransition('raised', { id: 'sex:é\n100%\ud800' }));
    await sink.close();
    expect(server.posts[0]?.headers['idempotency-key']).to.equal(
      'sex:%C3%A9%0A100%25%EF%BF%BD:raised:2024-05-01T00:00:01.000Z',
    );
    expect(sink.failures).to.equal(0);
  });

  for (const bad of [
    'ftp://host/',
    'file:///etc/passwd',
    'javascript:0',
    'host/path',
    '',
    'http://',
    undefined as never,
  ]) {
    it(`rejects the address '${bad}'`, () => {
      expect(() => webhookSink({ url: bad })).to.throw(ValueError, /url parameter must be an http or https address/);
    });
  }

  it('does not show a rejected address', () => {
    expect(() => webhookSink({ url: 'ftp://user:secret@host/' })).to.throw(ValueError).with.property('message').that.does.not.include('secret'); // prettier-ignore
  });

  for (const [options, parameter] of [
    [{ timeoutMillis: 0 }, 'timeoutMillis'],
    [{ timeoutMillis: 2 ** 31 }, 'timeoutMillis'],
    [{ retries: -1 }, 'retries'],
    [{ retries: 1.5 }, 'retries'],
    [{ backoffMillis: NaN }, 'backoffMillis'],
    [{ mostWaiting: 0 }, 'mostWaiting'],
    [{ closeMillis: -1 }, 'closeMillis'],
    [{ seed: 0.5 }, 'seed'],
    [{ headers: { 'a b': 'c' } }, 'headers'],
    [{ headers: { a: 'b\r\nc: d' } }, 'headers'],
  ] as const) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => open(options)).to.throw(ValueError, `The ${parameter} parameter`);
    });
  }
});

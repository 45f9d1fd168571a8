import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';
import Koa from 'koa';
import type { InjectOptions, Response } from 'light-my-request';

import { type AppOptions, createApp, type ServiceApp } from '../../../src/api/app/index.ts';
import type { RunRecord } from '../../../src/api/runs/runs.ts';
import { ResultStore } from '../../../src/api/store/index.ts';
import { ConfigValidationError, DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { askApp } from '../../helpers/service.ts';
import { field, file, form, FORM_TYPE } from '../intake/multipart.ts';

const BODY = { y_pred: [1, 1, 1, 0], sensitive: ['a', 'a', 'b', 'b'], min_group_size: 2 };
const CONFIG = 'sensitive: [g]\npipeline:\n  - { name: weigh, transformer: InstanceReweighting }\n';
const TABLE = `g,y\n${'a,1\na,0\nb,1\nb,0\n'.repeat(5)}`;

/** Enough rows to keep a thread busy for a while. */
const MANY = {
  ...BODY,
  y_pred: Array.from({ length: 20_000 }, (_, row) => Number(row % 3 === 0)),
  sensitive: Array.from({ length: 20_000 }, (_, row) => (row % 2 === 0 ? 'a' : 'b')),
  with_ci: true,
  ci_method: 'percentile',
  seed: 1,
};

const spoolFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`evenhand-${String(process.pid)}-`));

describe('createApp', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const apps: ServiceApp[] = [];
  const make = (options: AppOptions = {}): ServiceApp => {
    const app = createApp({ keys: [], threads: 1, ...options });
    apps.push(app);
    return app;
  };
  const ask = (app: Pick<ServiceApp, 'callback'>, request: InjectOptions): Promise<Response> => askApp(app, request);
  const post = (app: Pick<ServiceApp, 'callback'>, url: string, payload: object, headers = {}): Promise<Response> =>
    ask(app, { method: 'POST', url, payload, headers: { 'content-type': 'application/json', ...headers } });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close(0);
  });

  it('answers without a port', async () => {
    const app = make();
    await app.ready();
    const answer = await post(app, '/validate', BODY);
    expect(answer.statusCode, answer.body).to.equal(200);
    const { run_id: runId } = answer.json<{ run_id: string }>();
    expect((await ask(app, { method: 'GET', url: `/results/${runId}` })).json()).to.include({ run_id: runId });
  });

  it('listens like a server of node:http', async () => {
    const app = make();
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const answer = await fetch(`http://127.0.0.1:${port}/health`);
    expect(answer.status).to.equal(200);
    await answer.text();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('releases its temporary files when closed, also when closed twice, and then answers 503', async () => {
    const before = spoolFolders();
    const app = make();
    await app.ready();
    expect(spoolFolders()).to.have.length(before.length + 1);
    await Promise.all([app.close(), app.close()]);
    await app.close();
    expect(spoolFolders()).to.deep.equal(before);
    expect((await post(app, '/validate', MANY)).statusCode).to.equal(503);
    expect((await ask(app, { method: 'GET', url: '/ready' })).statusCode).to.equal(503);
    const named = await post(app, '/validate', MANY, { 'idempotency-key': 'late' });
    expect(named.statusCode).to.equal(503);
    expect(spoolFolders(), 'late requests create no folders').to.deep.equal(before);
  });

  it('starts no work if it is closed before its first request', async () => {
    const before = spoolFolders();
    const app = make();
    await app.close();
    expect((await ask(app, { method: 'GET', url: '/health' })).statusCode).to.equal(503);
    expect(spoolFolders()).to.deep.equal(before);
  });

  for (const [title, drainMillis, status] of [
    ['waits for a running run', 30_000, 'succeeded'],
    ['cancels a running run after its time limit', 0, 'cancelled'],
  ] as const) {
    it(`close ${title}`, async () => {
      const store = new ResultStore<RunRecord>();
      const app = make({ store });
      await app.ready();
      const headers = { prefer: 'respond-async' };
      const runs = await Promise.all([1, 2, 3].map(() => post(app, '/validate', MANY, headers)));
      expect(runs.map(({ statusCode }) => statusCode)).to.deep.equal([202, 202, 202]);
      await app.close(drainMillis);
      // With one thread, the last run waits for the others.
      const { run_id: last } = runs[2]?.json<{ run_id: string }>() ?? { run_id: '' };
      expect(store.get(last)?.status).to.equal(status);
    });
  }

  it('reports a store that is not a folder to ready(), answers requests with 503, and can be closed', async () => {
    const location = path.join(folder(), 'file');
    writeFileSync(location, '');
    const before = spoolFolders();
    const app = make({ storeFolder: location });
    const failure: unknown = await app.ready().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as Error).message).to.include(location);
    for (const url of ['/health', '/results']) {
      const answer = await ask(app, { method: 'GET', url });
      expect([answer.statusCode, answer.headers['content-type']]).to.deep.equal([
        503,
        'application/problem+json; charset=utf-8',
      ]);
      expect(answer.body).to.not.include(location);
    }
    await app.close();
    expect(spoolFolders()).to.deep.equal(before);
  });

  const wrong: readonly (readonly [string, AppOptions, new (...given: never) => Error, RegExp])[] = [
    ['a rate limit below 0', { rateLimit: -1 }, ValueError, /The rateLimit parameter .* Got -1/],
    ['a rate limit of 0', { rateLimit: 0 }, ValueError, /The rateLimit parameter/],
    ['no threads', { threads: 0 }, ValueError, /The threads parameter/],
    ['half a thread', { threads: 1.5 }, ValueError, /The threads parameter/],
    ['a queue below 0', { queue: -1 }, ValueError, /The queue parameter/],
    ['a key of blanks', { keys: ['a-good-key-0123456789', '  '] }, ConfigValidationError, /key 2/],
    ['an empty key', { keys: [''] }, ConfigValidationError, /key 1 is empty/],
    ['a key with a blank', { keys: ['two words'] }, ConfigValidationError, /key 1/],
    ['an LLM folder that does not exist', { llmFolder: '/no/such/folder' }, DataValidationError, /\/no\/such\/folder/],
    ['an LLM folder that is a file', { llmFolder: import.meta.filename }, DataValidationError, /is not a folder/],
    [
      'a monitor folder that is a file',
      { monitorFolder: import.meta.filename },
      DataValidationError,
      /is not a folder/,
    ],
    ['a monitor folder in a file', { monitorFolder: path.join(import.meta.filename, 'x') }, DataValidationError, /x'/],
    [
      'a base path that is a path of the service',
      { basePath: '/results' },
      ValueError,
      /must not begin with '\/results'/,
    ],
    ['a base path without a slash', { basePath: 'fairness' }, ValueError, /The basePath parameter/],
    ['a limit of 0', { limits: { jsonBytes: 0 } }, ValueError, /The limits parameter/],
  ];
  for (const [title, options, kind, message] of wrong) {
    it(`rejects ${title} immediately`, () => {
      expect(() => createApp(options)).to.throw(kind, message);
    });
  }

  it('accepts a monitor folder that is created later', async () => {
    const app = make({ monitorFolder: path.join(folder(), 'later') });
    expect((await ask(app, { method: 'GET', url: '/dashboard' })).statusCode).to.equal(200);
  });

  it('runs the middleware that is added around it, in order, with the types of its users', async () => {
    const app = make();
    const order: string[] = [];
    app
      .use(async (context, next) => {
        order.push(`${context.method} ${context.path}`);
        await next();
        order.push(String(context.status));
        context.set('x-own', context.get('x-own').toUpperCase());
      })
      .use(async (context: Koa.Context, next: Koa.Next) => {
        order.push(context.originalUrl);
        await next();
      });
    const answer = await ask(app, { method: 'GET', url: '/health?x=1', headers: { 'x-own': 'text' } });
    expect(order).to.deep.equal(['GET /health', '/health?x=1', '200']);
    expect([answer.statusCode, answer.headers['x-own']]).to.deep.equal([200, 'TEXT']);
    // @ts-expect-error -- a string is not a middleware
    expect(() => app.use('text')).to.throw(ValueError, 'middleware');
  });

  it('answers behind a proxy that removes its base path, and behind one that does not', async () => {
    const app = make({ basePath: '/fairness' });
    for (const prefix of ['', '/fairness']) {
      const accepted = await post(app, `${prefix}/validate`, BODY, { prefer: 'respond-async' });
      expect(accepted.statusCode, accepted.body).to.equal(202);
      const location = String(accepted.headers.location);
      expect(location).to.match(/^\/fairness\/results\/[\w-]+$/);
      const url = prefix === '' ? location.slice('/fairness'.length) : location;
      expect((await ask(app, { method: 'GET', url: `${url}?x=1` })).statusCode).to.equal(422);
      expect((await ask(app, { method: 'GET', url })).statusCode).to.equal(200);
      expect((await ask(app, { method: 'GET', url: `${prefix}/health` })).statusCode).to.equal(200);
      expect((await ask(app, { method: 'GET', url: `${prefix}/docs/` })).body).to.include('/fairness/openapi.json');
      expect((await ask(app, { method: 'GET', url: `${prefix}/nothing` })).statusCode).to.equal(404);
    }
    const root = await ask(app, { method: 'GET', url: '/fairness', headers: { accept: 'text/html' } });
    expect(root.statusCode).to.equal(200);
    expect(root.body).to.include('"/fairness/assets/');
    for (const url of ['/fairnessless/health', '/fairness/fairness/health', '//fairness/health']) {
      expect((await ask(app, { method: 'GET', url })).statusCode, url).to.equal(404);
    }
  });

  it('creates links with its base path when mounted in another app, and leaves other paths alone', async () => {
    const app = make({ basePath: '/fairness' });
    const outer = new Koa();
    const [service] = app.middleware;
    outer.use(async (context, next) => {
      if (!/^\/fairness(?:\/|$)/.test(context.path) || service === undefined) {
        await next();
        return;
      }
      context.path = context.path.slice('/fairness'.length) || '/';
      await service(context, next);
    });
    outer.use((context) => {
      context.body = 'the outer app';
    });
    expect((await ask(outer, { method: 'GET', url: '/elsewhere' })).body).to.equal('the outer app');
    expect((await ask(outer, { method: 'GET', url: '/fairnessless' })).body).to.equal('the outer app');
    expect((await ask(outer, { method: 'GET', url: '/fairness/nothing' })).statusCode).to.equal(404);
    const root = await ask(outer, { method: 'GET', url: '/fairness', headers: { accept: 'text/html' } });
    expect(root.statusCode).to.equal(200);
    const script = /src="(\/fairness\/assets\/[\w-]+\.js)"/.exec(root.body)?.[1] ?? '';
    const asset = await ask(outer, { method: 'GET', url: script });
    expect(asset.headers).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });

    const accepted = await post(outer, '/fairness/validate', BODY, { prefer: 'respond-async' });
    expect(accepted.statusCode, accepted.body).to.equal(202);
    expect(accepted.headers.location).to.match(/^\/fairness\/results\//);
    const found = await ask(outer, { method: 'GET', url: String(accepted.headers.location) });
    expect(found.json()).to.have.property('run_id', accepted.json<{ run_id: string }>().run_id);

    const ran = await ask(outer, {
      method: 'POST',
      url: '/fairness/pipeline',
      headers: { 'content-type': FORM_TYPE },
      payload: form(file(TABLE), field('config', CONFIG)),
    });
    expect(ran.statusCode, ran.body).to.equal(200);
    const { download } = ran.json<{ download: string }>();
    expect(download).to.match(/^\/fairness\/results\//);
    const data = await ask(outer, { method: 'GET', url: download });
    expect([data.statusCode, data.body.split('\n')[0]]).to.deep.equal([200, 'g,y,sample_weight']);
  });
});

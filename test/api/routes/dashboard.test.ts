import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect } from 'chai';

import type { Service } from '../../../src/api/context/service-context.ts';
import { answerProblems } from '../../../src/api/middleware/answer-problems.ts';
import { dashboardEventsRoute, dashboardPageRoute, dashboardRoute } from '../../../src/api/routes/dashboard.ts';
import { pageScript } from '../../../src/document/page-script.ts';
import { reportPage } from '../../../src/document/report-page.ts';
import { markup } from '../../../src/internal/html.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { ask, bareApp, serviceWith, withState } from '../middleware/bare-app.ts';

function appOf(parts: Partial<Service>, times: Parameters<typeof dashboardEventsRoute>[1] = {}) {
  const service = serviceWith(parts);
  const routes = {
    '/dashboard': dashboardRoute(service),
    '/dashboard/': dashboardRoute(service),
    '/dashboard/page': dashboardPageRoute(service),
    '/dashboard/events': dashboardEventsRoute(service, times),
  };
  return bareApp([withState(), answerProblems(service)], (context) =>
    routes[context.path as keyof typeof routes](context),
  );
}

const PAGE = reportPage({
  title: 'x',
  header: markup`x`,
  main: markup`<p>The page</p>`,
  footer: markup`x`,
  scripts: [pageScript('window.own = 1;')],
});

const alertsText = (alarms: number, watches: number) =>
  JSON.stringify({
    alerts: Array.from({ length: alarms }, () => ({})),
    watches: Array.from({ length: watches }, () => ({})),
  });

/** Writes files like the monitor: complete, under a temporary name first. */
function put(folder: string, name: string, text: string): void {
  writeFileSync(path.join(folder, `${name}.tmp`), text);
  renameSync(path.join(folder, `${name}.tmp`), path.join(folder, name));
}

/** Returns the sources of a directive in the policy of a page. */
const ownPolicy = (page: string) => (/content="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&#39;', "'").split('; ');

const hashesOf = (page: string) =>
  Array.from(
    page.matchAll(/<script>([\s\S]*?)<\/script>/g),
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );

describe('the dashboard without a folder', () => {
  for (const url of ['/dashboard', '/dashboard/page', '/dashboard/events']) {
    it(`answers ${url} with 404 and explains how to start one`, async () => {
      const answer = await ask(appOf({}), { method: 'GET', url });
      expect(answer.statusCode).to.equal(404);
      expect(answer.json<{ suggestion: string }>().suggestion)
        .to.include('--monitor FOLDER')
        .and.include('--output-dir');
    });
  }
});

describe('GET /dashboard', () => {
  const folder = useTemporaryFolder();

  it('has a policy that allows only its own script and style', async () => {
    const answer = await ask(appOf({ monitorFolder: folder() }), { method: 'GET', url: '/dashboard' });
    expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'").and.not.include('unsafe');
    expect(hashesOf(answer.body)).to.have.length(1);
    for (const hash of hashesOf(answer.body)) expect(policy).to.include(`script-src ${hash}`);
    const style = /<style>([\s\S]*?)<\/style>/.exec(answer.body)?.[1] ?? '';
    expect(policy).to.include(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(answer.body).to.not.match(/ style="| on\w+="|https?:/);
  });

  it('uses relative links, with or without a slash at its end', async () => {
    const app = appOf({ monitorFolder: folder(), basePath: '/fairness' });
    expect((await ask(app, { method: 'GET', url: '/dashboard' })).body).to.include('data-base="dashboard/"');
    expect((await ask(app, { method: 'GET', url: '/dashboard/' })).body).to.include('data-base="./"');
  });

  const states: readonly (readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, unknown>>])[] = [
    ['nothing', {}, { page: null, updated_at: null, alarms: null, watches: null }],
    ['no alerts', { 'dashboard.html': 'x' }, { alarms: null, watches: null }],
    [
      'two alarms and a watch',
      { 'dashboard.html': 'x', 'active_alerts.json': alertsText(2, 1) },
      { alarms: 2, watches: 1 },
    ],
    ['no alarms', { 'dashboard.html': 'x', 'active_alerts.json': alertsText(0, 0) }, { alarms: 0, watches: 0 }],
    ['a truncated file of alerts', { 'active_alerts.json': '{"alerts": [' }, { alarms: null, watches: null }],
    ['alerts in another format', { 'active_alerts.json': '[]' }, { alarms: null, watches: null }],
    ['alerts that are null', { 'active_alerts.json': 'null' }, { alarms: null, watches: null }],
  ];
  for (const [title, files, expected] of states) {
    it(`reports the state of a folder that contains ${title}`, async () => {
      const own = path.join(folder(), title.replaceAll(' ', '-'));
      mkdirSync(own);
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(own, name), text);
      const { body } = await ask(appOf({ monitorFolder: own }), { method: 'GET', url: '/dashboard' });
      const state = JSON.parse(/id="folder-state">(.*?)<\/script>/.exec(body)?.[1] ?? '') as Record<string, unknown>;
      expect(state).to.include(expected).and.include({ now: '2026-01-31T09:30:00.000Z' });
      if ('dashboard.html' in files)
        expect(Date.parse(String(state['updated_at'])))
          .to.be.a('number')
          .above(0);
    });
  }

  it('treats a missing folder like an empty one', async () => {
    const answer = await ask(appOf({ monitorFolder: '/no/such/folder' }), { method: 'GET', url: '/dashboard' });
    expect(answer.statusCode).to.equal(200);
    expect(answer.body).to.include('"page":null').and.not.include('/no/such');
  });
});

describe('GET /dashboard/page', () => {
  const folder = useTemporaryFolder();
  const pageOf = async (text: string) => {
    put(folder(), 'dashboard.html', text);
    return ask(appOf({ monitorFolder: folder() }), { method: 'GET', url: '/dashboard/page' });
  };

  it('answers 404 if the monitor has not written a page', async () => {
    const answer = await ask(appOf({ monitorFolder: '/no/such/folder' }), { method: 'GET', url: '/dashboard/page' });
    expect([answer.statusCode, answer.body.includes('/no/such')]).to.deep.equal([404, false]);
  });

  it('isolates the page from everything, including its own origin', async () => {
    const { headers } = await pageOf(PAGE);
    expect(headers['content-security-policy'])
      .to.match(/^sandbox allow-scripts;/)
      .and.include("frame-ancestors 'self'")
      .and.not.include('allow-same-origin');
    expect(headers['x-frame-options']).to.equal('SAMEORIGIN');
  });

  it('returns the file with one additional script, allowed by its hash', async () => {
    const { body } = await pageOf(PAGE);
    const scripts = ownPolicy(body).find((directive) => directive.startsWith('script-src ')) ?? '';
    expect(hashesOf(body)).to.have.length(2);
    for (const hash of hashesOf(body)) expect(scripts).to.include(hash);
    const without = body
      .replace(/<script>(?:(?!<\/script>)[\s\S])*evenhand(?:(?!<\/script>)[\s\S])*<\/script>\n/, '')
      .replace(/&#39;sha256-[^;]+&#39; (?=&#39;sha256)/, '');
    expect(without).to.equal(PAGE);
  });

  it('allows the script in a page without scripts too', async () => {
    const { body } = await pageOf(reportPage({ title: 'x', header: markup`x`, main: markup`x`, footer: markup`x` }));
    expect(hashesOf(body)).to.have.length(1);
    expect(ownPolicy(body)).to.include(`script-src ${hashesOf(body).join(' ')}`);
  });

  for (const text of ['<p>not ours</p>', '<html><body>$& $1</body></html>', '']) {
    it(`does not change a page from another source: ${JSON.stringify(text)}`, async () => {
      expect((await pageOf(text)).body).to.equal(text);
    });
  }

  it('returns a new file as soon as it exists', async () => {
    const app = appOf({ monitorFolder: folder() });
    for (const text of ['first', 'other', 'third']) {
      put(folder(), 'dashboard.html', text);
      expect((await ask(app, { method: 'GET', url: '/dashboard/page' })).body).to.equal(text);
    }
  });
});

interface Followed {
  readonly answer: IncomingMessage;
  readonly text: () => string;
  readonly until: (pattern: RegExp) => Promise<void>;
  readonly ended: Promise<void>;
}

describe('GET /dashboard/events', () => {
  const folder = useTemporaryFolder();
  let own = '';
  let server: Server | undefined;
  let reason: string | null = null;
  let count = 0;

  beforeEach(() => {
    own = path.join(folder(), `run-${String(count++)}`);
    reason = null;
  });
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  async function listen(times: Parameters<typeof dashboardEventsRoute>[1]): Promise<number> {
    const started = createServer(appOf({ monitorFolder: own, notReady: () => reason }, times));
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return (started.address() as AddressInfo).port;
  }

  async function follow(port: number, headers: Record<string, string> = {}): Promise<Followed> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, host: '127.0.0.1', path: '/dashboard/events', headers, agent: false }, resolve).on('error', reject);
    });
    let text = '';
    answer.on('data', (data: Buffer) => (text += data.toString()));
    answer.on('error', () => undefined);
    const ended = new Promise<void>((resolve) => answer.on('close', resolve));
    const until = async (pattern: RegExp) => {
      for (let wait = 0; wait < 250 && !pattern.test(text); wait++)
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect(text).to.match(pattern);
    };
    return { answer, text: () => text, until, ended };
  }

  it('sends the state immediately, and each change, to all followers', async () => {
    mkdirSync(own);
    put(own, 'dashboard.html', 'one');
    put(own, 'active_alerts.json', alertsText(0, 0));
    const port = await listen({});
    const all = [await follow(port), await follow(port)];
    for (const { until, answer } of all) {
      expect(answer.headers['content-type']).to.equal('text/event-stream; charset=utf-8');
      await until(/^retry: 2000\n\nid: \S+\nevent: changed\ndata: \{.*"alarms":0.*\}\n\n$/);
    }
    put(own, 'dashboard.html', 'two');
    put(own, 'active_alerts.json', alertsText(3, 0));
    for (const { until } of all) await until(/"alarms":3/);
  });

  it('finds a folder that is created later or replaced', async () => {
    const { until } = await follow(await listen({ pollMillis: 30 }));
    await until(/"page":null/);
    mkdirSync(own);
    put(own, 'active_alerts.json', alertsText(1, 0));
    await until(/"alarms":1/);
    rmSync(own, { recursive: true });
    mkdirSync(own);
    put(own, 'active_alerts.json', alertsText(2, 0));
    await until(/"alarms":2/);
  });

  it('does not resend a known state after a reconnect, but sends what was missed', async () => {
    mkdirSync(own);
    put(own, 'dashboard.html', 'one');
    const port = await listen({ pollMillis: 30 });
    const first = await follow(port);
    await first.until(/id: /);
    const id = /id: (\S+)/.exec(first.text())?.[1] ?? '';
    first.answer.destroy();
    const again = await follow(port, { 'last-event-id': id });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(again.text()).to.equal('retry: 2000\n\n');
    put(own, 'dashboard.html', 'other');
    await again.until(/event: changed/);
    const late = await follow(port, { 'last-event-id': id });
    await late.until(/event: changed/);
  });

  it('sends heartbeats while nothing changes', async () => {
    const { until } = await follow(await listen({ heartbeatMillis: 20 }));
    await until(/(?:: still here\n\n){3}/);
  });

  it('ends when the service accepts no more work', async () => {
    const { ended, until } = await follow(await listen({ pollMillis: 20 }));
    await until(/changed/);
    reason = 'The service ends.';
    await ended;
  });

  it('accepts a hundred followers, rejects the next with 503, and accepts others when some have left', async function () {
    this.timeout(20_000);
    const port = await listen({});
    const all = await Promise.all(Array.from({ length: 100 }, () => follow(port)));
    const refused = await follow(port);
    expect([refused.answer.statusCode, refused.answer.headers['retry-after']]).to.deep.equal([503, '30']);
    all[0]?.answer.destroy();
    let status: number | undefined;
    for (let tries = 0; tries < 50 && status !== 200; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const next = await follow(port);
      status = next.answer.statusCode;
    }
    expect(status).to.equal(200);
  });
});

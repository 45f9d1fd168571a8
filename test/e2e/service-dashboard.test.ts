import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import axe from 'axe-core';
import { expect } from 'chai';
import Koa from 'koa';
import type { Browser, Frame, Page } from 'puppeteer-core';

import { logAppErrors } from '../../src/api/app/process-app.ts';
import type { Handler } from '../../src/api/context/service-context.ts';
import { ServiceMetrics } from '../../src/api/middleware/metrics.ts';
import { serviceLayers } from '../../src/api/middleware/service-layers.ts';
import { dashboardEventsRoute, dashboardPageRoute, dashboardRoute } from '../../src/api/routes/dashboard.ts';
import { machineClock } from '../../src/internal/machine-clock.ts';
import { createRandom } from '../../src/internal/random.ts';
import { serviceWith } from '../api/middleware/bare-app.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const STEP_LIMIT_MILLIS = 60_000;
const KEY = 'a-key-for-the-browser';

/** The dashboard of the service under a prefix, as in a mounted app or behind a proxy. */
async function serve(monitorFolder: string, prefix: string, keys: readonly string[]): Promise<Server> {
  const service = serviceWith({ monitorFolder, keys, clock: machineClock });
  const metrics = new ServiceMetrics(() => Promise.resolve({ queued: 0, running: 0, kept: 0 }));
  const routes: Readonly<Record<string, Handler>> = {
    '/dashboard': dashboardRoute(service),
    '/dashboard/page': dashboardPageRoute(service),
    '/dashboard/events': dashboardEventsRoute(service),
  };
  const app = new Koa();
  app.on('error', logAppErrors(service.logger));
  app.use(async (context, next) => {
    if (context.path.startsWith(prefix)) context.path = context.path.slice(prefix.length);
    await next();
  });
  for (const layer of serviceLayers(service, metrics.middleware)) app.use(layer);
  app.use(async (context) => {
    await routes[context.path]?.(context);
  });
  const answer = app.callback();
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A page with its console messages and requests. */
interface Opened {
  readonly page: Page;
  readonly said: string[];
  readonly asked: string[];
}

async function open(browser: Browser, url: string, key?: string): Promise<Opened> {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MILLIS);
  const opened: Opened = { page, said: [], asked: [] };
  page.on('console', (line) => opened.said.push(`${line.type()}: ${line.text()}`));
  page.on('pageerror', (error) => opened.said.push(`error: ${String(error)}`));
  page.on('request', (request) => opened.asked.push(request.url()));
  await page.setViewport({ width: 1280, height: 900 });
  if (key !== undefined) await page.authenticate({ username: '', password: key });
  await page.goto(url, { waitUntil: 'domcontentloaded', timeout: STEP_LIMIT_MILLIS });
  return opened;
}

const says = (page: Page, id: string, words: string) =>
  page.waitForFunction(`document.getElementById('${id}').textContent.includes(${JSON.stringify(words)})`);

/** Waits for a visible frame that contains a text, and returns it. */
async function shownFrame(page: Page, words: string): Promise<Frame> {
  for (let wait = 0; wait < 600; wait++) {
    const handle = await page.$('iframe:not(.next)');
    const frame = await handle?.contentFrame();
    const text = await frame?.evaluate('document.body.textContent').catch(() => '');
    if (frame !== undefined && typeof text === 'string' && text.includes(words)) return frame;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no frame says ${words}`);
}

async function photograph(page: Page, name: string): Promise<void> {
  const folder = path.join(projectRoot, 'out');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

describeWithBrowser("the service's dashboard in a browser", (browser) => {
  const folder = useTemporaryFolder();
  let servers: Server[] = [];
  let opened: Opened[] = [];

  afterEach(async () => {
    for (const { page } of opened) await page.close();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    [opened, servers] = [[], []];
  });

  async function openDashboard(monitorFolder: string, prefix = '', key?: string): Promise<Opened> {
    const server = await serve(monitorFolder, prefix, key === undefined ? [] : [key]);
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    const one = await open(browser(), `http://127.0.0.1:${String(port)}${prefix}/dashboard`, key);
    opened.push(one);
    return one;
  }

  /** Monitors decisions of two groups by the command; the given number of b are approved. */
  async function monitor(monitorFolder: string, rows: number, shareOfB: number): Promise<void> {
    const random = createRandom(7);
    const lines = Array.from({ length: rows }, (_, row) => {
      const isB = row % 2 === 1;
      return `${random.next() < (isB ? shareOfB : 0.6) ? '1' : '0'},${isB ? 'b' : 'a'}`;
    });
    const csv = path.join(folder(), 'decisions.csv');
    writeFileSync(csv, ['approved,sex', ...lines, ''].join('\n'));
    const { code, stderr } = await runCli([
      'monitor',
      '--csv',
      csv,
      '--y-pred',
      'approved',
      '--sensitive',
      'sex',
      '--output-dir',
      monitorFolder,
    ]);
    expect(code, stderr).to.be.oneOf([0, 1]);
  }

  it('waits for a monitor, shows its output, and keeps the position of the reader on each new page', async function () {
    this.timeout(4 * STEP_LIMIT_MILLIS);
    const own = path.join(folder(), 'watched');
    const { page, said, asked } = await openDashboard(own);
    await says(page, 'connection', 'No dashboard yet');
    expect(await page.evaluate(`document.getElementById('missing').hidden`)).to.equal(false);
    await photograph(page, 'service-dashboard-missing');

    await monitor(own, 1200, 0.6);
    await says(page, 'connection', 'Live, updated');
    await says(page, 'alerts', 'No open alarms');
    const first = await shownFrame(page, '1,200 events');
    expect(await first.evaluate(`document.querySelectorAll('[data-chart] svg').length`)).to.be.at.least(1);
    await photograph(page, 'service-dashboard');

    const openTables = `Array.from(document.querySelectorAll('details[open] summary'), (one) => one.textContent)`;
    await first.evaluate(`document.querySelector('details').open = true; scrollTo(0, 700)`);
    const tables = await first.evaluate(openTables);
    expect(tables).to.have.length(1);
    await first.waitForFunction('scrollY >= 690');
    // The message of the frame arrives with a delay.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await monitor(own, 3000, 0.2);
    await says(page, 'alerts', 'alarm open');
    const second = await shownFrame(page, '3,000 events');
    expect(await second.evaluate('scrollY')).to.be.within(690, 710);
    expect(await second.evaluate(openTables)).to.deep.equal(tables);
    expect(await page.evaluate(`document.querySelectorAll('iframe').length`)).to.equal(1);
    await photograph(page, 'service-dashboard-alarm');

    const origin = new URL(page.url()).origin;
    expect(asked.filter((url) => !url.startsWith(`${origin}/dashboard`) && !url.startsWith('data:'))).to.deep.equal([]);
    expect(said, 'the console').to.deep.equal([]);
  });

  it('shows since when a monitor has not updated, and possible reasons @slow', async function () {
    this.timeout(2 * STEP_LIMIT_MILLIS);
    const own = path.join(folder(), 'stale');
    await monitor(own, 300, 0.6);
    const before = new Date(machineClock() - 17 * 60_000);
    utimesSync(path.join(own, 'dashboard.html'), before, before);
    const { page, said } = await openDashboard(own);
    await says(page, 'connection', '17 minutes ago');
    await says(page, 'stale', 'The monitor has ended, cannot write');
    await shownFrame(page, '300 events');
    await photograph(page, 'service-dashboard-stale');
    expect(said, 'the console').to.deep.equal([]);
  });

  it('reports a lost connection, and recovers when the service is back @slow', async function () {
    this.timeout(3 * STEP_LIMIT_MILLIS);
    const own = path.join(folder(), 'lost');
    await monitor(own, 300, 0.6);
    const { page } = await openDashboard(own);
    await says(page, 'connection', 'Live');
    servers[0]?.closeAllConnections();
    await says(page, 'connection', 'Connection lost');
    await says(page, 'connection', 'Live');
  });

  it('works under a prefix, with the key as browser password, in dark mode, without accessibility errors @slow', async function () {
    this.timeout(3 * STEP_LIMIT_MILLIS);
    const own = path.join(folder(), 'mounted');
    await monitor(own, 300, 0.6);
    const { page, said } = await openDashboard(own, '/fairness', KEY);
    await says(page, 'connection', 'Live');
    await shownFrame(page, '300 events');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await photograph(page, 'service-dashboard-dark');
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate('axe.run(document, { iframes: false })')) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).to.deep.equal([]);
    // The browser itself logs the response that requested the key.
    expect(said.filter((line) => !/status of 401/.test(line))).to.deep.equal([]);
  });

  it('prevents the framed page from accessing the service: it has an opaque origin @slow', async function () {
    this.timeout(2 * STEP_LIMIT_MILLIS);
    const own = path.join(folder(), 'shut');
    await monitor(own, 300, 0.6);
    const { page } = await openDashboard(own);
    const frame = await shownFrame(page, '300 events');
    expect(await frame.evaluate('origin')).to.equal('null');
    expect(await frame.evaluate(`fetch('/results').then(() => 'reached', () => 'refused')`)).to.equal('refused');
    expect(
      await frame.evaluate(`(() => { try { return parent.document.title } catch { return 'refused' } })()`),
    ).to.equal('refused');
  });
});

import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect } from 'chai';
import Koa from 'koa';
import type { Browser, Page } from 'puppeteer-core';

import type { ServiceApp } from '../../src/api/app/app-options.ts';
import { createApp } from '../../src/api/app/create-app.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';

const OUT = path.join(projectRoot, 'out');

/** The service, mounted under a path in another app as by koa-mount. */
function mounted(service: ServiceApp, basePath: string): Koa {
  const listener = service.callback();
  const app = new Koa();
  app.use((context) => {
    if (!context.path.startsWith(basePath)) return;
    context.req.url = (context.req.url ?? '').slice(basePath.length);
    // Koa leaves the response to the service.
    context.respond = false;
    void listener(context.req, context.res);
  });
  return app;
}

/** A page that can reach only the service, and its errors. */
async function openPage(browser: Browser, origin: string): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 1000 });
  const problems: string[] = [];
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || url.startsWith('data:') || url.startsWith('blob:');
    if (!isOwn) problems.push(`asked ${url}`);
    void (isOwn ? request.continue() : request.abort());
  });
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('requestfailed', (request) => problems.push(`failed ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${String(response.status())} ${response.url()}`);
  });
  return { page, faults: problems };
}

/** Returns the text of the element of a selector. */
async function textOf(page: Page, selector: string): Promise<string> {
  return String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`));
}

/** Tries an operation in Swagger UI with the proposed values; returns the status that it shows. */
async function tryOut(page: Page, tag: string, operationId: string): Promise<string> {
  const block = `#operations-${tag}-${operationId}`;
  await page.locator(`${block} .opblock-summary-control`).click();
  await page.locator(`${block} .try-out__btn`).click();
  await page.locator(`${block} .execute`).click();
  const status = `${block} .live-responses-table .response .response-col_status`;
  await page.waitForSelector(status);
  return textOf(page, status);
}

for (const [basePath, tag] of [
  ['', ' @slow'],
  ['/fairness', ''],
] as const) {
  describeWithBrowser(`the pages of the service, mounted at '${basePath}'${tag}`, (browser) => {
    let server: Server;
    let origin = '';
    let service: ServiceApp;
    before(async () => {
      mkdirSync(OUT, { recursive: true });
      service = createApp({ keys: [], basePath });
      await service.ready();
      const listener = mounted(service, basePath).callback();
      server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    });
    after(async () => {
      server.closeAllConnections();
      server.close();
      await service.close(1000);
    });

    it('shows the operations in Swagger UI, and sends no request to other hosts', async () => {
      const { page, faults: problems } = await openPage(browser(), origin);
      await page.goto(`${origin}${basePath}/docs`, { waitUntil: 'networkidle0' });
      // Line break opportunities are not part of the text.
      const shown = (await textOf(page, '.swagger-ui')).replaceAll('\u200B', '');
      expect(shown).to.include('/validate').and.to.include('/results/{run_id}').and.to.include('/dashboard/events');
      await page.screenshot({ path: path.join(OUT, `service-docs${basePath.replace('/', '-')}.png`) });
      expect(problems).to.deep.equal([]);
      await page.close();
    });

    it('tries GET /health and POST /validate with status 200 @slow', async () => {
      const { page, faults: problems } = await openPage(browser(), origin);
      await page.goto(`${origin}${basePath}/docs`, { waitUntil: 'networkidle0' });
      expect(await tryOut(page, 'Service', 'getHealth')).to.include('200');
      expect(await tryOut(page, 'Runs', 'validate')).to.include('200');
      const answer = '#operations-Runs-validate .live-responses-table .response .highlight-code';
      expect(await textOf(page, answer)).to.include('demographic_parity_difference');
      await page.screenshot({ path: path.join(OUT, `service-docs-tried${basePath.replace('/', '-')}.png`) });
      expect(problems).to.deep.equal([]);
      await page.close();
    });

    it('forgets a key when the page is reloaded @slow', async () => {
      const { page } = await openPage(browser(), origin);
      await page.goto(`${origin}${basePath}/docs`, { waitUntil: 'networkidle0' });
      await page.locator('.authorize').click();
      await page.locator('.auth-container input').fill('a-secret-key');
      await page.locator('.auth-btn-wrapper .authorize').click();
      const kept = await page.evaluate(
        'JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie',
      );
      expect(kept).to.not.include('a-secret-key');
      await page.close();
    });

    it('shows the operations in ReDoc, and sends no request to other hosts', async () => {
      const { page, faults: problems } = await openPage(browser(), origin);
      await page.goto(`${origin}${basePath}/redoc`, { waitUntil: 'networkidle0' });
      await page.waitForSelector('[data-section-id]');
      const text = await textOf(page, 'body');
      expect(text).to.include('Measure fairness between groups').and.to.include('Cancel or delete a run');
      await page.screenshot({ path: path.join(OUT, `service-redoc${basePath.replace('/', '-')}.png`) });
      expect(problems).to.deep.equal([]);
      await page.close();
    });
  });
}

import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect } from 'chai';

import { describeWithBrowser } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { saved } from '../helpers/workbench.ts';

const SITE = path.join(projectRoot, 'dist/workbench');

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Serves the files of the page below a folder, as a static host does. */
function startHost(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const name = pathname.replace(/^\/tools\//, '') || 'index.html';
    const file = path.join(SITE, name);
    const compressed = `${file}.gz`;
    if (!pathname.startsWith('/tools/') || name.includes('..') || !(existsSync(file) || existsSync(compressed))) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', MEDIA_TYPES[path.extname(name)] ?? 'application/octet-stream');
    if (existsSync(file)) response.end(readFileSync(file));
    else response.setHeader('content-encoding', 'gzip').end(readFileSync(compressed));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(server);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

describeWithBrowser('the page of a static host', (browser) => {
  const folder = useTemporaryFolder();

  it('audits and trains with the same numbers after its host is gone', async function () {
    this.timeout(120_000);
    const server = await startHost();
    const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/tools/`;
    const context = await browser().createBrowserContext();
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      const audit = async (): Promise<unknown> => {
        await page.evaluate(`document.querySelector('.sample').click()`);
        await page.waitForSelector('figure img');
        const text = await saved({ page }, folder(), 'Result (JSON)', '.json');
        const { manifest: _, ...result } = JSON.parse(text) as Record<string, unknown>;
        return result;
      };
      const train = async (): Promise<unknown> => {
        await page.evaluate(`document.querySelectorAll('nav a')[1].click()`);
        await page.waitForSelector('button[type=submit]:not(:disabled)');
        await page.evaluate(`document.querySelector('button[type=submit]').click()`);
        await page.waitForSelector('.confusion', { timeout: 60_000 });
        return page.evaluate(`document.querySelector('.trade-off .results').textContent`);
      };
      await page.goto(address);
      await page.waitForSelector('.sample');
      await page.evaluate(`navigator.serviceWorker.ready.then(() => undefined)`);
      const before = [await audit(), await train()];
      await stop(server);
      await page.goto('about:blank');
      await page.goto(address);
      await page.waitForSelector('.sample');
      expect([await audit(), await train()]).to.deep.equal(before);
      expect(problems).to.deep.equal([]);
    } finally {
      await context.close();
      if (server.listening) await stop(server);
    }
  });
});

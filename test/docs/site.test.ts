import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';

import { sections } from '../../docs/.vitepress/sections.ts';
import { describeWithBrowser, findingsOfAxe } from '../helpers/browser.ts';
import { hasPackage } from '../helpers/peers.ts';
import { filesIn, projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';

/** The pages that are checked in the browser. */
const CHECKED = [
  '/',
  '/fairness-in-20-minutes.html',
  '/which-metric.html',
  '/reading-a-report.html',
  '/glossary.html',
  '/measuring.html',
  '/llm-evals.html',
  '/migrating.html',
  '/reference/cli.html',
  '/reference/http.html',
] as const;

/** What readers search for, and the page that answers. */
const SEARCHES: readonly (readonly [term: string, page: string])[] = [
  ['demographic parity', '/glossary.html'],
  ['equalized odds', '/glossary.html'],
  ['four-fifths rule', '/compliance.html'],
  ['confidence interval', '/glossary.html'],
  ['minimum detectable difference', '/statistics.html'],
  ['cluster', '/statistics.html'],
  ['exit code', '/command-line.html'],
  ['junit', '/measuring.html'],
  ['kafka', '/monitoring.html'],
  ['clickhouse', '/scaling.html'],
  ['gpu', '/gpu.html'],
  ['docker', '/deploying.html'],
  ['model card', '/compliance.html'],
  ['subgroups', '/subgroups.html'],
  ['anytime', '/sequential.html'],
  ['promptfoo', '/migrating.html'],
  ['judge', '/llm-evals.html'],
  ['reweighing', '/transformers.html'],
  ['false alarm', '/alarms.html'],
  ['signature', '/verifying.html'],
];

/** The limit for what a page transfers without pictures, in bytes. */
const MAX_PAGE_BYTES = 300_000;

describe('the navigation of the site', () => {
  it('has every page of the project exactly once', () => {
    const listed = sections.flatMap(({ pages }) => pages);
    const index = readFileSync(path.join(projectRoot, 'docs/reference/README.md'), 'utf8');
    const pages = filesIn('docs', '.md').filter((file) => {
      // The contents of the reference list small entry points, which the navigation leaves out.
      const [, name = ''] = /^docs\/reference\/(.+)$/.exec(file) ?? [];
      return !(name.startsWith('library/') && index.includes(`(${name})`) && !listed.includes(file));
    });
    const others = ['README.md', 'examples/README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
    expect([...listed].sort()).to.deep.equal([...pages, ...others].sort());
  });
});

describe('the documentation site @slow', function () {
  this.timeout(300_000);
  const folder = useTemporaryFolder();
  const site = (): string => path.join(folder(), 'site');
  let server: Server | undefined;
  let address: string;

  before(async function () {
    if (!hasPackage('vitepress')) {
      console.log('      skipped: VitePress is not installed: npm run peers');
      this.skip();
    }
    const program = path.join(projectRoot, 'scripts/peers/node_modules/vitepress/bin/vitepress.js');
    await promisify(execFile)(process.execPath, [program, 'build', 'docs', '--outDir', site()], { cwd: projectRoot });
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      const name = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const file = path.join(site(), name);
      if (!existsSync(file) || !file.startsWith(site())) return response.writeHead(404).end();
      const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
      // Hosts compress text.
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      return response.writeHead(200, headers).end(gzipSync(readFileSync(file)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${String((server.address() as { port: number }).port)}`;
  });

  after(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it('has the target of every link, and loads nothing from elsewhere', () => {
    const pages = new Map(builtPages(site()).map((file) => [file, readFileSync(path.join(site(), file), 'utf8')]));
    const ids = new Map([...pages].map(([file, html]) => [file, new Set(matches(html, / id="([^"]+)"/g))]));
    const problems = [...pages].flatMap(([file, html]) => {
      const links = matches(html, /<a [^>]*?href="([^"]+)"/g).filter((href) => !/^(https?|mailto):/.test(href));
      const broken = links.filter((href) => {
        const { pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site/${file}`);
        const target = decodeURIComponent(pathname)
          .slice(1)
          .replace(/(^|\/)$/, '$1index.html');
        const page = [target, `${target}.html`].find((name) => existsSync(path.join(site(), name)));
        if (page === undefined || hash === '') return page === undefined;
        return ids.get(page)?.has(decodeURIComponent(hash.slice(1))) !== true;
      });
      const loaded = matches(html, /<(?:script|link|img)[^>]*? (?:src|href)="(https?:[^"]+)"/g);
      return [...broken, ...loaded].map((href) => `${file}: ${href}`);
    });
    expect(pages.size).to.be.above(60);
    expect(problems).to.deep.equal([]);
  });

  describeWithBrowser('in a browser', (browser) => {
    for (const scheme of ['light', 'dark'] as const) {
      it(`has no finding of axe on ten pages, in ${scheme} colours`, async () => {
        for (const name of CHECKED) {
          const { page, problems, close } = await open(browser(), `${address}${name}`, scheme);
          expect(await findingsOfAxe(page), name).to.deep.equal([]);
          expect(problems, name).to.deep.equal([]);
          await close();
        }
      });
    }

    for (const width of [400, 1400]) {
      it(`does not scroll sideways at ${String(width)} pixels`, async () => {
        for (const name of CHECKED) {
          const { page, close } = await open(browser(), `${address}${name}`, 'light', width);
          const { scroll, client } = (await page.evaluate(
            '({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth })',
          )) as { scroll: number; client: number };
          expect(scroll, name).to.be.at.most(client);
          const pictures = process.env['EVENHAND_WRITE_SCREENSHOTS'];
          if (pictures !== undefined) {
            const file = name === '/' ? 'index' : name.slice(1).replace('.html', '').replace('/', '-');
            await page.screenshot({ path: `${path.join(pictures, `${file}-${String(width)}`)}.png` });
          }
          await close();
        }
      });
    }

    it('transfers less than 300 kB a page without pictures', async () => {
      const bySize = builtPages(site()).sort(
        (a, b) => statSync(path.join(site(), b)).size - statSync(path.join(site(), a)).size,
      );
      for (const name of new Set([...bySize.slice(0, 10).map((file) => `/${file}`), ...CHECKED])) {
        const { bytes, close } = await open(browser(), `${address}${name}`);
        expect(bytes(), name).to.be.within(10_000, MAX_PAGE_BYTES);
        if (process.env['EVENHAND_WRITE_SCREENSHOTS'] !== undefined) console.log(name, bytes());
        await close();
      }
    });

    it('finds each of 20 terms', async () => {
      const { page, close } = await open(browser(), `${address}/`);
      await page.click('.VPNavBarSearch button');
      const field = await page.waitForSelector('.VPLocalSearchBox input');
      for (const [term, expected] of SEARCHES) {
        await field?.click({ count: 3 });
        await field?.type(term);
        const results = (): Promise<string[]> =>
          page.$$eval('.VPLocalSearchBox .result', (links) =>
            links.map((link) => (link as unknown as { getAttribute(name: string): string }).getAttribute('href')),
          );
        await until(async () => (await results()).some((href) => href.startsWith(expected)), 10).catch(async () => {
          expect.fail(`${term} does not find ${expected}, but ${(await results()).join(', ')}`);
        });
      }
      await close();
    });

    it('is kept for reading without a connection, if the reader asks for it', async () => {
      const { page, close } = await open(browser(), `${address}/faq.html`);
      await page.waitForSelector('.offline-button');
      await page.click('.offline-button');
      await page.waitForFunction(`document.querySelector('.offline-button').textContent.startsWith('Saved')`);
      await page.setOfflineMode(true);
      for (const [name, text] of [
        ['/glossary.html', 'Glossary'],
        ['/', 'evenhand'],
      ] as const) {
        await page.goto(`${address}${name}`);
        expect(
          await page.$eval('h1', (heading) => (heading as unknown as { textContent: string }).textContent),
        ).to.include(text);
      }
      await page.click('.VPNavBarSearch button');
      const field = await page.waitForSelector('.VPLocalSearchBox input');
      await field?.type('equalized odds');
      await page.waitForSelector('.VPLocalSearchBox .result');
      await close();
    });
  });
});

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

function builtPages(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, first = '']) => first);
}

/** Opens a page, and records what it did besides its work and how many bytes it got, pictures apart. */
async function open(
  browser: Browser,
  url: string,
  scheme: 'light' | 'dark' = 'light',
  width = 1400,
): Promise<{ page: Page; problems: string[]; bytes: () => number; close: () => Promise<void> }> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const problems: string[] = [];
  const sizes = new Map<string, number>();
  const pictures = new Set<string>();
  page.on('console', (line) => problems.push(`console: ${line.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${String(error)}`));
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(new URL(url).origin) || request.url().startsWith('data:');
    if (!isOwn) problems.push(`request: ${request.url()}`);
  });
  const client = await page.createCDPSession();
  await client.send('Network.enable');
  client.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Image') pictures.add(requestId);
  });
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(url, { waitUntil: 'networkidle0' });
  return {
    page,
    problems,
    bytes: () => [...sizes].filter(([id]) => !pictures.has(id)).reduce((sum, [, size]) => sum + size, 0),
    close: () => context.close(),
  };
}

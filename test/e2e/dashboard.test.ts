import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import axe from 'axe-core';
import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';

import { dashboardToHtml } from '../../src/monitoring/dashboard/dashboard-to-html.ts';
import type { MonitoringView } from '../../src/monitoring/dashboard/monitoring-view.ts';
import { describeWithBrowser } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { HOSTILE_LABELS, viewOfGroups } from '../monitoring/dashboard/large-views.ts';
import { emptyView, fullView } from '../monitoring/dashboard/views.ts';

const STEP_LIMIT_MILLIS = 60_000;

type Scheme = 'light' | 'dark';

/** A page opened from disk, with its console messages and requests. */
interface Opened {
  readonly page: Page;
  readonly said: string[];
  readonly asked: string[];
}

async function open(browser: Browser, file: string, width: number, scheme: Scheme): Promise<Opened> {
  const page = await browser.newPage();
  page.setDefaultTimeout(STEP_LIMIT_MILLIS);
  const opened: Opened = { page, said: [], asked: [] };
  page.on('console', (line) => opened.said.push(`${line.type()}: ${line.text()}`));
  page.on('pageerror', (error) => opened.said.push(`error: ${String(error)}`));
  page.on('request', (request) => opened.asked.push(request.url()));
  page.on('requestfailed', (request) => opened.said.push(`failed: ${request.url()}`));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
  await page.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: STEP_LIMIT_MILLIS });
  // Two frames, so that pending drawing is done.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return opened;
}

/** How many shapes each chart has that are more than its ground, by an expression for the page. */
const SHAPES = `Array.from(document.querySelectorAll('[data-chart]'), (box) =>
  Array.from(box.querySelectorAll('svg path, svg text')).filter((shape) => {
    const { width, height } = shape.getBoundingClientRect();
    return width + height > 0;
  }).length)`;

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Saves a screenshot of a page, as a build artefact. */
async function photograph(page: Page, name: string): Promise<void> {
  const folder = path.join(projectRoot, 'out');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}

async function seriousViolations(page: Page): Promise<unknown[]> {
  // By the debugger, which the page's policy does not hold.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    violations: { id: string; impact: string | null; nodes: { html: string; failureSummary: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [
      id,
      nodes.slice(0, 3).map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary]),
    ]);
}

describeWithBrowser('the dashboard in a browser', (browser) => {
  const folder = useTemporaryFolder();
  const views: Readonly<Record<string, () => MonitoringView>> = {
    full: fullView,
    empty: emptyView,
    hostile: () => viewOfGroups(HOSTILE_LABELS),
  };
  const fileOf = (name: string) => path.join(folder(), `${name}.html`);
  before(async () => {
    for (const [name, view] of Object.entries(views)) writeFileSync(fileOf(name), await dashboardToHtml(view()));
  });
  let opened: Opened[] = [];
  const openPage = async (name: string, width = 1280, scheme: Scheme = 'light'): Promise<Opened> => {
    const one = await open(browser(), fileOf(name), width, scheme);
    opened.push(one);
    return one;
  };
  afterEach(async () => {
    for (const { page } of opened) await page.close();
    opened = [];
  });

  for (const name of Object.keys(views)) {
    for (const [width, scheme, tag] of [
      [1280, 'light', ''],
      [1280, 'dark', ' @slow'],
      [400, 'light', ' @slow'],
      [400, 'dark', ''],
    ] as const) {
      it(`${name}, ${width} px, ${scheme}: draws every chart, fits, loads nothing, has no accessibility errors${name === 'full' ? tag : ' @slow'}`, async function () {
        this.timeout(3 * STEP_LIMIT_MILLIS);
        const { page, said, asked } = await openPage(name, width, scheme);
        for (const shapes of (await page.evaluate(SHAPES)) as number[]) expect(shapes).to.be.at.least(8);
        expect(await page.evaluate(OVERFLOW), 'pixels beyond the page').to.be.at.most(0);
        expect(asked.filter((url) => !/^(?:file|data|blob):/.test(url))).to.deep.equal([]);
        if (name === 'full')
          await photograph(page, `dashboard${width === 400 ? '-400' : ''}${scheme === 'dark' ? '-dark' : ''}`);
        expect(await seriousViolations(page)).to.deep.equal([]);
        expect(said, 'the console').to.deep.equal([]);
      });
    }
  }

  it('draws all charts of the page in the preferred colour scheme, also when it changes @slow', async () => {
    const { page } = await openPage('full');
    const grounds = `Array.from(document.querySelectorAll('[data-chart] svg > rect:first-of-type'), (one) => one.getAttribute('fill'))`;
    expect(await page.evaluate(grounds)).to.deep.equal(Array.from({ length: 11 }, () => '#ffffff'));
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.evaluate(grounds)).to.deep.equal(Array.from({ length: 11 }, () => '#14191f'));
  });

  it('redraws its charts when the page gets narrower @slow', async () => {
    const { page } = await openPage('full');
    await page.setViewport({ width: 400, height: 900 });
    await page.waitForFunction(
      `Array.from(document.querySelectorAll('[data-chart] svg')).every((one) => one.clientWidth <= 400)`,
    );
    expect(await page.evaluate(OVERFLOW)).to.be.at.most(0);
  });

  it('works by keyboard only: the skip link first, then every control in order, each with visible focus @slow', async () => {
    const { page } = await openPage('full');
    const controls = (await page.evaluate(
      `(window.controls = Array.from(document.querySelectorAll('a[href], summary, [tabindex="0"]'))
        .filter((one) => one.matches('details:not([open]) *:not(summary)') === false)).length`,
    )) as number;
    expect(controls).to.be.above(30);
    const reached: unknown[] = [];
    for (let index = 0; index < controls; index++) {
      await page.keyboard.press('Tab');
      reached.push(
        await page.evaluate(`(() => {
          const one = document.activeElement;
          const box = one.getBoundingClientRect();
          const isSeen = box.bottom > 0 && box.top < innerHeight && getComputedStyle(one).outlineStyle !== 'none';
          return [window.controls.indexOf(one), isSeen];
        })()`),
      );
    }
    expect(reached).to.deep.equal(Array.from({ length: controls }, (_, index) => [index, true]));
  });

  it('opens the table of a chart by the keyboard @slow', async () => {
    const { page } = await openPage('full');
    await page.focus('summary');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(`document.querySelector('details').open`)).to.equal(true);
    expect(await page.evaluate(`document.querySelector('details table').getBoundingClientRect().height > 0`)).to.equal(
      true,
    );
  });

  it('shows a tooltip for a line, with any label as text @slow', async () => {
    const { page, said } = await openPage('hostile');
    const boxes = await page.$$('[data-chart]');
    for (const box of boxes) {
      await box.scrollIntoView();
      const { x, y, width, height } = (await box.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      for (const share of [0.06, 0.3, 0.6, 0.95])
        await page.mouse.move(x + share * width, y + height / 2, { steps: 4 });
    }
    const words = await page.evaluate(`Array.from(document.querySelectorAll('[data-chart]')).at(-1).textContent`);
    expect(words)
      .to.include('<script>alert(1)</script>')
      .and.to.match(/\d\.\d%/);
    expect(await page.evaluate(`document.querySelectorAll('[data-chart] img, [data-chart] script').length`)).to.equal(
      0,
    );
    expect(said).to.deep.equal([]);
    expect(await page.evaluate(`Object.keys(Object.prototype).length + ({}.value === undefined ? 0 : 1)`)).to.equal(0);
  });

  it('prints in light colours with charts as wide as the paper @slow', async function () {
    this.timeout(2 * STEP_LIMIT_MILLIS);
    const { page } = await openPage('full', 400, 'dark');
    await page.evaluate(`addEventListener('afterprint', () => {}); window.seen = [];
      addEventListener('beforeprint', () => {
        const svg = document.querySelector('[data-chart] svg');
        window.seen.push(svg.getAttribute('width'), svg.querySelector('rect').getAttribute('fill'));
      })`);
    const bytes = await page.pdf({ timeout: STEP_LIMIT_MILLIS, format: 'A4' });
    expect(Buffer.from(bytes.slice(0, 5)).toString()).to.equal('%PDF-');
    expect(await page.evaluate('window.seen')).to.deep.equal(['680', '#ffffff']);
    expect(await page.evaluate(`document.querySelector('[data-chart] svg rect').getAttribute('fill')`)).to.equal(
      '#14191f',
    );
  });

  it('has its tables, and no empty boxes, without scripts', async () => {
    const page = await browser().newPage();
    opened.push({ page, said: [], asked: [] });
    await page.setJavaScriptEnabled(false);
    await page.goto(pathToFileURL(fileOf('full')).href, { timeout: STEP_LIMIT_MILLIS });
    const heights = `Array.from(document.querySelectorAll('.chart'), (box) => box.getBoundingClientRect().height)`;
    expect(await page.evaluate(heights)).to.deep.equal(Array.from({ length: 11 }, () => 0));
    expect(await page.evaluate(`document.querySelector('main').textContent`)).to.include('The charts need JavaScript');
  });
});

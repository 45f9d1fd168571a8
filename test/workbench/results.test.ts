import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

import axe from 'axe-core';
import { expect } from 'chai';

import { describeWithBrowser } from '../helpers/browser.ts';
import { projectRoot } from '../helpers/project-files.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { until } from '../helpers/waiting.ts';

const CLI = path.join(projectRoot, 'dist/cli/main.js');

/** Starts a command that prints where it listens as JSON, and returns the address. */
function listening(args: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const { EVENHAND_API_KEYS: _, ...env } = process.env;
  const child = spawn(process.execPath, [CLI, ...args, '--json'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      if (text.includes('\n')) resolve({ url: (JSON.parse(text) as { url: string }).url, child });
    });
    child.on('exit', (code) => {
      reject(new Error(`It ended with code ${String(code)}.`));
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null || child.signalCode !== null, 40);
}

describeWithBrowser('the Results page', (browser) => {
  const folder = useTemporaryFolder();

  it('lists, searches, opens and compares the runs of a service, also from its folder', async function () {
    this.timeout(120_000);
    const store = path.join(folder(), 'runs');
    const service = await listening(['serve', '--port', '0', '--store', store, '--quiet']);
    const validate = async (positives: number): Promise<string> => {
      const body = {
        y_pred: Array.from({ length: 400 }, (_, row) => Number(row % 2 === 0 ? row % 4 === 0 : row % 100 < positives)),
        sensitive: Array.from({ length: 400 }, (_, row) => (row % 2 === 0 ? 'a' : '<b>&"')),
        threshold: 0.2,
      };
      const answer = await fetch(`${service.url}/validate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { run_id: string }).run_id;
    };
    const [first, second] = [await validate(10), await validate(50)];
    const context = await browser().createBrowserContext();
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (line) => problems.push(line.text()));
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(service.url) && !url.startsWith('blob:')) problems.push(url);
      });
      const text = (selector: string) =>
        page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`) as Promise<string>;
      await page.goto(`${service.url}/#results`);
      await page.waitForSelector('.run');
      expect((await page.$$('.run')).length).to.equal(2);
      expect(await text('.run'))
        .to.include(second)
        .and.to.include('succeeded');
      await page.type('#run-search', first.slice(0, 13));
      await until(async () => (await page.$$('.run')).length === 1);
      await page.click('.run button');
      await page.waitForSelector('.run-details a');
      expect(await text('.run-details'))
        .to.include('Failed')
        .and.to.include('demographic_parity_difference');
      const report = await page.evaluate(`fetch(document.querySelector('.run-details a').href, { headers: { accept: 'text/html' } }).then((answer) => answer.text())`); // prettier-ignore
      expect(report).to.include('<h1>Fairness validation</h1>');
      await page.evaluate(`{
        const search = document.querySelector('#run-search');
        search.value = '';
        search.dispatchEvent(new Event('input', { bubbles: true }));
      }`);
      await until(async () => (await page.$$('.run')).length === 2);
      await page.evaluate(`document.querySelectorAll('.run input').forEach((box) => box.click())`);
      await page.waitForSelector('section[aria-labelledby="comparison"] table');
      expect(await text('section[aria-labelledby="comparison"]')).to.include('Demographic parity difference');
      await page.evaluate(axe.source);
      expect(
        await page.evaluate(
          `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))`,
        ),
      ).to.deep.equal([]);
      // The other pages work in a service too, whose answers usually forbid scripts.
      await page.evaluate(`document.querySelector('nav a').click()`);
      await page.evaluate(`document.querySelector('.sample').click()`);
      await page.waitForSelector('figure img');
      await page.evaluate(`document.querySelectorAll('nav a')[1].click()`);
      await page.waitForSelector('button[type=submit]:not(:disabled)');
      await page.evaluate(`document.querySelector('button[type=submit]').click()`);
      await page.waitForSelector('.point-details');
      expect(problems).to.deep.equal([]);

      await ended(service.child);
      const view = await listening(['view', store, '--quiet']);
      try {
        const other = await context.newPage();
        await other.goto(view.url);
        await other.waitForSelector('.run');
        expect((await other.$$('.run')).length).to.equal(2);
      } finally {
        await ended(view.child);
      }
    } finally {
      await context.close();
      if (service.child.exitCode === null) await ended(service.child);
    }
  });
});

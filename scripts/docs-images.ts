// Writes the plots and the screenshots of the documentation to docs/images. Run from the root of the project, after
// `npm run build` and `npm run peers`. The screenshots need Chromium, whose fonts differ between machines:
//   node --import tsx scripts/docs-images.ts
// With --check, it only compares the plots, which are the same on every machine, and exits with 1 if one is out of date.

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Page } from 'puppeteer-core';

import { startView } from '../src/cli/view-server.ts';
import { browserPath, launchBrowser } from '../test/helpers/browser.ts';

const root = path.resolve(import.meta.dirname, '..');
const images = path.join(root, 'docs/images');
const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-images-'));
const file = (name: string): string => path.join(folder, name);

/** Runs a command of the command line in the folder. A gate that fails (exit code 1) is a result, too. */
function evenhand(...args: readonly string[]): void {
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'dist/cli/main.js'), ...args], options);
  if (status !== 0 && status !== 1) throw new Error(`evenhand ${args.join(' ')}: ${stderr}`);
}

function drawPlots(): Record<string, string> {
  evenhand('sample-data', 'berkeley', '--out', 'berkeley.csv');
  const admitted = ['validate', '--csv', 'berkeley.csv', '--y-pred', 'admitted', '--sensitive'];
  evenhand(...admitted, 'gender', '--out-plot', 'gender.svg');
  evenhand(...admitted, 'gender,department', '--out-plot', 'departments.svg');
  execFileSync(process.execPath, [path.join(root, 'scripts/quickstart.mjs')], { stdio: 'ignore' });
  return {
    'berkeley-gender.svg': file('gender.svg'),
    'berkeley-departments.svg': file('departments.svg'),
    'pareto-cps-wages.svg': path.join(root, 'out/pareto.svg'),
  };
}

async function takeScreenshots(): Promise<void> {
  const program = browserPath();
  if (program === undefined) throw new Error('The screenshots need Chromium, in the PATH or EVENHAND_BROWSER.');
  const browser = await launchBrowser(program);
  const page = await browser.newPage();
  try {
    evenhand('sample-data', 'cps-wages', '--out', 'wages.csv');
    evenhand(
      ...['validate', '--csv', 'wages.csv', '--y-pred', 'wage_above_median', '--sensitive', 'gender'],
      ...['--metric', 'demographic_parity_difference<=0.1', '--out', 'report.html'],
    );
    await page.goto(`file://${file('report.html')}`);
    await save(page, 'report');

    evenhand(
      ...['monitor', '--csv', 'wages.csv', '--y-pred', 'wage_above_median', '--sensitive', 'gender'],
      ...['--limit', '0.3', '--output-dir', 'monitoring'],
    );
    await page.goto(`file://${file('monitoring/dashboard.html')}`);
    await save(page, 'dashboard');

    const view = await startView({ file: file('berkeley.csv'), port: 0 });
    try {
      await page.goto(`${view.url}#audit?decision=admitted&group=gender&limit=demographic_parity_difference:0.1`);
      await page.waitForSelector('.made', { timeout: 60_000 });
      await save(page, 'workbench');
    } finally {
      await view.stop();
    }
  } finally {
    await browser.close();
  }
}

/** Saves the upper part of a page. */
async function save(page: Page, name: string): Promise<void> {
  await page.setViewport({ width: 1000, height: 760 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await page.screenshot({ path: path.join(images, `${name}.webp`), type: 'webp', quality: 55 });
}

try {
  const plots = drawPlots();
  if (process.argv.includes('--check')) {
    const old = Object.entries(plots)
      .filter(([name, drawn]) => !readFileSync(drawn).equals(readFileSync(path.join(images, name))))
      .map(([name]) => name);
    if (old.length > 0) {
      console.error(`Out of date: ${old.join(', ')}. Run: npm run docs:images`);
      process.exitCode = 1;
    }
  } else {
    for (const [name, drawn] of Object.entries(plots)) copyFileSync(drawn, path.join(images, name));
    await takeScreenshots();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

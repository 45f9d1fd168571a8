import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import axe from 'axe-core';
import type { Browser, Page } from 'puppeteer-core';

import { hasPackage } from './peers.ts';

/** The default program names of the browser. EVENHAND_BROWSER overrides them. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The time limit of a step. Steps take seconds, or longer on a busy machine. */
const STEP_LIMIT_MILLIS = 60_000;

/** Returns the path of the browser; undefined if there is none. */
export function browserPath(): string | undefined {
  const named = process.env['EVENHAND_BROWSER'];
  if (named !== undefined) return isProgram(named) ? named : undefined;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts the browser. */
export async function launchBrowser(program: string, flags: readonly string[] = []): Promise<Browser> {
  const { launch } = await import('puppeteer-core');
  return launch({
    executablePath: program,
    // The pages are our own, and Chromium has no sandbox for the root user.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run', ...flags],
    timeout: STEP_LIMIT_MILLIS,
    protocolTimeout: STEP_LIMIT_MILLIS,
  });
}

/**
 * Describes a suite that needs a browser, which is started before it and ended after it. Without a browser the suite is
 * skipped with the reason, or fails if the browser is required.
 * @param flags further flags of the browser
 */
export function describeWithBrowser(
  title: string,
  suite: (browser: () => Browser) => void,
  flags: readonly string[] = [],
): void {
  const program = browserPath();
  if (program === undefined || !hasPackage('puppeteer-core')) {
    const missing =
      program === undefined ? 'Chromium, in the PATH or EVENHAND_BROWSER' : 'puppeteer-core: npm run peers';
    describe(title, () => {
      it(`needs ${missing}`, function () {
        if (process.env['EVENHAND_REQUIRE_BROWSER'] === '1') {
          throw new Error(`EVENHAND_REQUIRE_BROWSER is 1, but there is no ${missing}`);
        }
        this.skip();
      });
    });
    return;
  }
  describe(title, () => {
    let browser: Browser | undefined;
    before(async function () {
      this.timeout(2 * STEP_LIMIT_MILLIS);
      browser = await launchBrowser(program, flags);
    });
    after(async function () {
      this.timeout(STEP_LIMIT_MILLIS);
      const own = browser?.process();
      const closed = await Promise.race([
        browser?.close().then(() => true) ?? true,
        new Promise<false>((resolve) => setTimeout(resolve, 20_000, false).unref()),
      ]);
      if (!closed) own?.kill('SIGKILL');
    });
    suite(() => {
      if (browser === undefined) throw new Error('the browser was not started');
      return browser;
    });
  });
}

/** Returns what axe finds on a page, with the first elements of each finding. */
export async function findingsOfAxe(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, impact, nodes }) => id + ' (' + impact + '): ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(', ')))`,
  )) as string[];
}

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { Browser, Page } from 'puppeteer-core';

import { startView } from '../../src/cli/view-server.ts';
import { decodeUtf8 } from '../../src/internal/decode-utf8.ts';
import { projectRoot } from './project-files.ts';
import { useTemporaryFolder } from './run-cli.ts';
import { until } from './waiting.ts';

/** A page of the workbench, and what it did besides its work. */
export interface WorkbenchPage {
  readonly page: Page;
  /** Lines of the console, errors, and requests to other places than those of the page. */
  readonly problems: string[];
  close(): Promise<void>;
}

/** How the page is opened: from a server, or as one file without a network. */
export type WorkbenchKind = 'hosted' | 'self-contained';

/** Builds the self-contained page before the tests, and removes it after them. Returns a function that gives its path. */
export function useBuiltPage(): () => string {
  const folder = useTemporaryFolder();
  const file = (): string => path.join(folder(), 'workbench.html');
  before(function () {
    this.timeout(120_000);
    execFileSync(process.execPath, [path.join(projectRoot, 'scripts/build-workbench.mjs'), '--page', file()], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
  return file;
}

/**
 * Opens the workbench.
 * @param options.file the self-contained page
 * @param options.offered the file that `evenhand view` offers
 * @param options.hash the settings in the address
 * @param options.script a script that runs in the page before its own
 */
export async function openWorkbench(
  browser: Browser,
  {
    kind,
    file,
    offered,
    hash = '',
    script,
  }: { kind: WorkbenchKind; file?: string | undefined; offered?: string; hash?: string; script?: string },
): Promise<WorkbenchPage> {
  const view = kind === 'hosted' ? await startView({ file: offered, port: 0 }) : undefined;
  const base = view?.url ?? `file://${file ?? ''}`;
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (line) => problems.push(`console: ${line.text()}`));
  page.on('pageerror', (error) => problems.push(`error: ${String(error)}`));
  page.on('request', (request) => {
    const url = request.url();
    const isOwn = url.startsWith(base) || url.startsWith('blob:') || url.startsWith('data:');
    if (!isOwn) problems.push(`request: ${url}`);
  });
  if (kind === 'self-contained') await page.setOfflineMode(true);
  await page.setViewport({ width: 1440, height: 900 });
  if (script !== undefined) await page.evaluateOnNewDocument(script);
  await page.goto(`${base}${hash}`);
  await page.waitForSelector('#main');
  return {
    page,
    problems,
    async close() {
      await context.close();
      await view?.stop();
    },
  };
}

/** A field for a file. Tests have no types of pages. */
interface FileField {
  uploadFile(file: string): Promise<void>;
}

/** Returns the text of an element. */
export function textOf({ page }: WorkbenchPage, selector: string): Promise<string> {
  return page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`) as Promise<string>;
}

/** Gives the page a file, as the dialogue for files does, and waits for the result. */
export async function giveFile({ page }: WorkbenchPage, file: string, timeout = 30_000): Promise<void> {
  const input = await page.$('.drop input[type=file]');
  await (input as unknown as FileField).uploadFile(file);
  await page.waitForSelector('.made, .problem, .waiting', { timeout });
}

/** Saves a report with the button of the page, as a download of the browser, and returns its text. */
export async function saved(
  { page }: Pick<WorkbenchPage, 'page'>,
  folder: string,
  title: string,
  ending: string,
): Promise<string> {
  const target = path.join(folder, 'downloads');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const session = await page.createCDPSession();
  await session.send('Browser.setDownloadBehavior', {
    behavior: 'allow',
    downloadPath: target,
    browserContextId: page.browserContext().id ?? '',
  });
  await page.evaluate(
    `[...document.querySelectorAll('.exports button, .trade-off button, .run-details button')].find((one) => one.textContent.includes(${JSON.stringify(title)})).click()`,
  );
  const found = (): string | undefined => readdirSync(target).find((name) => name.endsWith(ending));
  await until(() => found() !== undefined);
  return decodeUtf8(readFileSync(path.join(target, found() ?? '')), 'The file');
}

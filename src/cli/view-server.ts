import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { ConfigValidationError, DataValidationError } from '../exceptions/index.ts';
import { reportPage } from '../document/report-page.ts';
import { markup } from '../internal/html.ts';
import { workbenchFile, workbenchPage } from '../io/workbench-files.ts';

/** The address on which the program listens: only this machine can reach it. */
const HOST = '127.0.0.1';

/** What is shown. */
interface ViewOptions {
  /** The file that the page opens; without it, the page asks for one. */
  readonly file?: string | undefined;
  /**
   * The report pages that are shown instead of the workbench, by name. Several pages get an index.
   * @defaultValue none
   */
  readonly pages?: ReportPages | undefined;
  /** 0 for any free port. */
  readonly port: number;
}

/** Report pages by the name of their file. A page is made when it is requested, from the file as it then is. */
export type ReportPages = ReadonlyMap<string, () => Promise<string>>;

/** A running server of the workbench. */
interface RunningView {
  readonly url: string;
  /** Whether report pages are shown, and not the workbench. */
  readonly isReport: boolean;
  /** Resolves when the server has stopped. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Serves the workbench on this machine. The address contains a secret, so that neither other users of this machine nor
 * pages of other hosts can read the file.
 * @throws {DataValidationError} if the file does not exist or is a folder
 * @throws {ConfigValidationError} if the port is in use
 */
export async function startView({ file, pages, port }: ViewOptions): Promise<RunningView> {
  if (file !== undefined) await assertFile(file);
  // Without the pages, the error comes before the program says that it listens.
  if (pages === undefined) await workbenchPage('view');
  const base = `/${randomBytes(12).toString('base64url')}/`;
  const server = createServer((request, response) => {
    answer(request, response, { base, file, pages }).catch(() => {
      response.destroy();
    });
  });
  await listen(server, port);
  const done = new Promise<void>((resolve) => server.once('close', resolve));
  const url = `http://${HOST}:${String((server.address() as AddressInfo).port)}${base}`;
  return {
    url,
    isReport: pages !== undefined,
    done,
    stop: () => {
      server.close();
      server.closeAllConnections();
      return done;
    },
  };
}

async function assertFile(file: string): Promise<void> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new DataValidationError(`Cannot read '${file}': there is no such file.`, {
      code: 'unreadable-file',
      context: { path: file },
      suggestion: 'Check the path.',
      cause,
    });
  });
  if (found.isFile()) return;
  throw new DataValidationError(`Cannot show '${file}': it is not a file.`, {
    code: 'unreadable-file',
    context: { path: file },
    suggestion: 'Give a file.',
  });
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  }).catch((cause: unknown) => {
    const isUsed = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw new ConfigValidationError(
      `Port ${String(port)} ${isUsed ? 'is in use by another program' : 'cannot be used'}.`,
      { context: { parameter: 'port', value: port }, suggestion: 'Omit --port to use any free port.', cause },
    );
  });
}

interface Shown {
  readonly base: string;
  readonly file: string | undefined;
  readonly pages: ReportPages | undefined;
}

async function answer(request: IncomingMessage, response: ServerResponse, { base, file, pages }: Shown): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', `http://${HOST}`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Cache-Control', 'no-store');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    return;
  }
  if (!pathname.startsWith(base)) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Open the address that evenhand printed.\n');
    return;
  }
  const name = pathname.slice(base.length);
  if (pages !== undefined) {
    await sendReport(pages, name, request, response);
    return;
  }
  const { html, policy } = await workbenchPage('view');
  // A worker has the policy of its script, not that of the page.
  response.setHeader('Content-Security-Policy', policy);
  if (name === '') {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end(request.method === 'HEAD' ? undefined : html);
    return;
  }
  if (name === 'offered') {
    await sendFile(file, request, response);
    return;
  }
  const found = await workbenchFile(name);
  if (found === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'Content-Type': found.mediaType, 'Content-Length': found.bytes.length });
  response.end(request.method === 'HEAD' ? undefined : found.bytes);
}

/** Sends a report page, or the list of pages. A page cannot read others: it runs in a sandbox. */
async function sendReport(
  pages: ReportPages,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [only] = pages.size === 1 ? pages.values() : [];
  const page = path === '' ? (only ?? (() => Promise.resolve(indexPage([...pages.keys()])))) : pages.get(decoded(path));
  if (page === undefined) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such report.\n');
    return;
  }
  const html = await page();
  response.setHeader(
    'Content-Security-Policy',
    "sandbox allow-scripts allow-top-navigation-by-user-activation; connect-src 'none'; form-action 'none'",
  );
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
  response.end(request.method === 'HEAD' ? undefined : html);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function indexPage(names: readonly string[]): string {
  return reportPage({
    title: 'Reports',
    header: markup`<h1>Reports</h1>`,
    main: markup`<ul>${names.map((name) => markup`<li><a href="${encodeURIComponent(name)}">${name}</a></li>\n`)}</ul>`,
    footer: markup`<p>Reports of evaluations in this folder.</p>`,
  });
}

/** Sends the file, as it is now. */
async function sendFile(file: string | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (file === undefined) {
    response.writeHead(204).end();
    return;
  }
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': found.size,
    'X-File-Name': encodeURIComponent(path.basename(file)),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await pipeline(createReadStream(file, { end: Math.max(0, found.size - 1) }), response);
}

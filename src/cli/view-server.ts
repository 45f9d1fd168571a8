import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import { ConfigValidationError, DataValidationError } from '../exceptions/index.ts';
import { workbenchFile, workbenchPage } from '../io/workbench-files.ts';

/** The address on which the program listens: only this machine can reach it. */
const HOST = '127.0.0.1';

/** What is shown. */
interface ViewOptions {
  /** The file that the page opens; without it, the page asks for one. */
  readonly file?: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
}

/** A running server of the workbench. */
interface RunningView {
  readonly url: string;
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
export async function startView({ file, port }: ViewOptions): Promise<RunningView> {
  if (file !== undefined) await assertFile(file);
  // Without the pages, the error comes before the program says that it listens.
  await workbenchPage('view');
  const base = `/${randomBytes(12).toString('base64url')}/`;
  const server = createServer((request, response) => {
    answer(request, response, { base, file }).catch(() => {
      response.destroy();
    });
  });
  await listen(server, port);
  const done = new Promise<void>((resolve) => server.once('close', resolve));
  const url = `http://${HOST}:${String((server.address() as AddressInfo).port)}${base}`;
  return {
    url,
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
}

async function answer(request: IncomingMessage, response: ServerResponse, { base, file }: Shown): Promise<void> {
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

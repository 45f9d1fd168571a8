import { readFile } from 'node:fs/promises';

import { DependencyError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { builtFile, readCompressed } from '../internal/packages.ts';

/** A file of the workbench, as a server sends it. */
export interface WorkbenchFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** Whether the name of the file changes with its content, so that browsers may keep it. */
  readonly isImmutable: boolean;
}

/** The media types of the files, by extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
};

/** Matches the names of the files. No name leads out of the folder. */
const NAME = /^(?:assets\/)?[\w-]+\.(css|js|svg|wasm)$/;

/** Matches the policy in the page, which a server sends as a header too. */
const POLICY = /http-equiv="Content-Security-Policy" content="([^"]*)"/;

/** A mark in the page of a static host. Only there does the page keep its files for use without a connection. */
const STATIC = ' data-host="static"';

const kept = new Map<string, Promise<WorkbenchFile | undefined>>();

/**
 * Returns a file of the workbench, which the build wrote; undefined if there is none with this name. Each file is read
 * once.
 * @param name the path below the page
 */
export function workbenchFile(name: string): Promise<WorkbenchFile | undefined> {
  const extension = NAME.exec(name)?.[1];
  if (extension === undefined || name === 'service-worker.js') return Promise.resolve(undefined);
  const known = kept.get(name);
  if (known !== undefined) return known;
  const bytesOf = name.startsWith('assets/')
    ? readCompressed(`workbench/${name}`)
    : readFile(builtFile(`workbench/${name}`));
  const file = bytesOf.then(
    (bytes) => ({
      bytes,
      mediaType: MEDIA_TYPES[extension] ?? 'application/octet-stream',
      isImmutable: name.startsWith('assets/'),
    }),
    () => undefined,
  );
  kept.set(name, file);
  // A file may appear later, for example after the build.
  void file.then((found) => {
    if (found === undefined) kept.delete(name);
  });
  return file;
}

/** The page of the workbench, and its content security policy. */
interface WorkbenchPage {
  readonly html: string;
  readonly policy: string;
}

const pages = new Map<string, Promise<WorkbenchPage>>();

/**
 * Returns the page of the workbench and its content security policy. The page is read once.
 * @param host the kind of server, which the page reads: `view` offers a file, and `service` runs jobs
 * @throws {DependencyError} if the pages were not built
 */
export function workbenchPage(host: 'view' | 'service'): Promise<WorkbenchPage> {
  const known = pages.get(host);
  if (known !== undefined) return known;
  const page = readPage(host);
  pages.set(host, page);
  // The page may appear later, for example after the build.
  page.catch(() => pages.delete(host));
  return page;
}

async function readPage(host: 'view' | 'service'): Promise<WorkbenchPage> {
  const bytes = await readFile(builtFile('workbench/index.html')).catch((cause: unknown) => {
    throw new DependencyError('The pages of the workbench are missing.', {
      suggestion: 'Install evenhand again; in a checkout, run: npm run build.',
      cause,
    });
  });
  const html = decodeUtf8(bytes, 'The page of the workbench').replace(STATIC, ` data-host="${host}"`);
  const policy = POLICY.exec(html)?.[1] ?? "default-src 'none'";
  return { html, policy: `${policy}; frame-ancestors 'none'` };
}

import type { Context } from 'koa';
import { koaSwagger } from 'koa2-swagger-ui';

import { policyHash } from '../../document/page-script.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { escapeHtml } from '../../internal/html.ts';
import { readCompressed } from '../../internal/packages.ts';
import { VERSION } from '../../internal/version.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** A file of a documentation page. */
interface AssetFile {
  readonly mediaType: string;
  /**
   * The package that contains the file (a development dependency), and the path of the file in this package. The build
   * copies the file to the name that it has in this list.
   */
  readonly source: readonly [packageName: string, file: string];
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** The files of the pages, by the names under which they are built and served. */
export const ASSET_FILES = {
  'swagger-ui.min.css': { mediaType: 'text/css; charset=utf-8', source: ['swagger-ui-dist', 'swagger-ui.css'] },
  'swagger-ui-bundle.js': { mediaType: SCRIPT, source: ['swagger-ui-dist', 'swagger-ui-bundle.js'] },
  'swagger-ui-standalone-preset.js': {
    mediaType: SCRIPT,
    source: ['swagger-ui-dist', 'swagger-ui-standalone-preset.js'],
  },
  'favicon.png': { mediaType: 'image/png', source: ['swagger-ui-dist', 'favicon-32x32.png'] },
  'redoc.standalone.js': { mediaType: SCRIPT, source: ['redoc', 'bundles/redoc.standalone.js'] },
} as const satisfies Readonly<Record<string, AssetFile>>;

/** The name of a file of the pages. */
type AssetName = keyof typeof ASSET_FILES;

/**
 * Returns whether a file of the pages has this name. All other names are rejected, so that no path can lead to other
 * files.
 */
function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSET_FILES, name);
}

/** A logo that ReDoc loads from an external host. Pages of the service must not load external resources. */
const OUTSIDE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/** A transparent pixel. */
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const read = new Map<AssetName, Promise<Buffer>>();

/** Returns the bytes of a file of the pages. Each file is read once. */
function readAsset(name: AssetName): Promise<Buffer> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const bytes = load(name);
  read.set(name, bytes);
  // After a failure, the next call reads the file again.
  bytes.catch(() => read.delete(name));
  return bytes;
}

async function load(name: AssetName): Promise<Buffer> {
  const bytes = await readCompressed(`api/assets/${name}`);
  return name === 'redoc.standalone.js'
    ? Buffer.from(decodeUtf8(bytes, name).replaceAll(OUTSIDE_LOGO, NO_PICTURE))
    : bytes;
}

const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g;

/**
 * Returns the handler of a page. Inline scripts are allowed by their digests; all other resources must come from this
 * service.
 */
function pageHandler(html: string): Handler {
  const digests = [...html.matchAll(INLINE_SCRIPT)].map(([, script = '']) => `'${policyHash(script)}'`);
  const contentSecurityPolicy = [
    "default-src 'self'",
    ["script-src 'self'", ...digests].join(' '),
    // Both pages add inline styles while they render.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "worker-src 'self' blob:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return (context) => {
    context.set({ 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-cache' });
    context.type = 'text/html; charset=utf-8';
    context.body = html;
  };
}

/** Returns the page of ReDoc. The asset paths contain the version, so that browsers can cache the assets. */
function redocPage(basePath: string): string {
  const base = escapeHtml(basePath);
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>evenhand</title>
  <link rel="icon" type="image/png" href="${base}/docs/assets/${VERSION}/favicon.png">
  <style>body { margin: 0; padding: 0; }</style>
</head>
<body>
  <redoc spec-url="${base}/openapi.json"></redoc>
  <script src="${base}/docs/assets/${VERSION}/redoc.standalone.js"></script>
</body>
</html>
`;
}

/**
 * Matches the link to a font host in the page that the package renders. The link is removed, and the browser's own
 * fonts are used.
 */
const FONT_LINK = /[ \t]*<link href="https:\/\/fonts\.googleapis\.com[^>]*>\n?/;

/** Returns the page of Swagger UI, rendered once. */
function swaggerPage(basePath: string): string {
  const assets = `${basePath}/docs/assets`;
  const render = koaSwagger({
    title: 'evenhand',
    routePrefix: false,
    swaggerCdnUrl: assets,
    swaggerVersion: VERSION,
    favicon: `${assets}/${VERSION}/favicon.png`,
    hideTopbar: true,
    swaggerOptions: {
      url: `${basePath}/openapi.json`,
      // The validator is disabled, because the address of this service would be sent to an external validator.
      validatorUrl: null,
      // An entered key is not stored after the page is closed.
      persistAuthorization: false,
      deepLinking: true,
      displayRequestDuration: true,
    },
  });
  const context: { path: string; type?: string; body?: unknown } = { path: '/docs' };
  void render(context as unknown as Context, () => Promise.resolve());
  return String(context.body).replace(FONT_LINK, '');
}

/** Matches paths such as `/docs/assets/0.9.0/swagger-ui-bundle.js`: a folder for the version, and a file name. */
const ASSET_PATH = /\/docs\/assets\/([^/]+)\/([^/]+)$/;

/** Handles GET /docs and GET /redoc: the API documentation as pages without external resources. */
export function docsRoutes({ basePath }: Service): Readonly<Record<'getDocs' | 'getRedoc', Handler>> {
  return { getDocs: pageHandler(swaggerPage(basePath)), getRedoc: pageHandler(redocPage(basePath)) };
}

/**
 * Handles GET /docs/assets/…: the files of both pages, from a fixed list. Browsers cache them until the version
 * changes.
 */
export function assetHandler(): Handler {
  return async (context) => {
    const [, version, name = ''] = ASSET_PATH.exec(context.path) ?? [];
    if (version !== VERSION || !isAssetName(name)) {
      throw new ServiceProblem(404, { detail: 'The file does not exist.', suggestion: 'Reload the page.' });
    }
    context.set('Cache-Control', 'public, max-age=31536000, immutable');
    context.type = ASSET_FILES[name].mediaType;
    context.body = await readAsset(name);
  };
}

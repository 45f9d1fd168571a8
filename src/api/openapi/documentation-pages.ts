import { createHash } from 'node:crypto';

import type { Context } from 'koa';

import { escapeHtml } from '../../internal/html.ts';
import { loadPackage } from '../packages.ts';

/** A page, with the content security policy that allows only its own resources. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g;

/** Creates a page. Inline scripts are allowed by their digests; all other resources must come from this service. */
function pageOf(html: string): Page {
  const digests = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
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
  return { html, contentSecurityPolicy };
}

/**
 * Returns the page of ReDoc.
 * @param version a part of the asset paths, so that browsers can cache the assets
 */
export function redocPage({ basePath, version }: { readonly basePath: string; readonly version: string }): Page {
  const base = escapeHtml(basePath);
  return pageOf(`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>evenhand</title>
  <link rel="icon" type="image/png" href="${base}/docs/assets/${version}/favicon.png">
  <style>body { margin: 0; padding: 0; }</style>
</head>
<body>
  <redoc spec-url="${base}/openapi.json"></redoc>
  <script src="${base}/docs/assets/${version}/redoc.standalone.js"></script>
</body>
</html>
`);
}

/** The link to a font host in the package's page. It is removed; the browser's own fonts are used. */
const FONT_LINK = /[ \t]*<link href="https:\/\/fonts\.googleapis\.com[^>]*>\n?/;

/**
 * Returns the page of Swagger UI, rendered once.
 * @param version a part of the asset paths, so that browsers can cache the assets
 */
export function swaggerPage({ basePath, version }: { readonly basePath: string; readonly version: string }): Page {
  const assets = `${basePath}/docs/assets`;
  const render = loadPackage('koa2-swagger-ui').koaSwagger({
    title: 'evenhand',
    routePrefix: false,
    swaggerCdnUrl: assets,
    swaggerVersion: version,
    favicon: `${assets}/${version}/favicon.png`,
    hideTopbar: true,
    swaggerOptions: {
      url: `${basePath}/openapi.json`,
      // Disabled, because the address of this service would be sent to an external validator.
      validatorUrl: null,
      // An entered key is not stored after the page is closed.
      persistAuthorization: false,
      deepLinking: true,
      displayRequestDuration: true,
    },
  });
  const context: { path: string; type?: string; body?: unknown } = { path: '/docs' };
  void render(context as unknown as Context, () => Promise.resolve());
  return pageOf(String(context.body).replace(FONT_LINK, ''));
}

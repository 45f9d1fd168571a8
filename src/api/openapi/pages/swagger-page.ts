import type { Context } from 'koa';

import { loadSwaggerUi } from '../../packages.ts';
import { type Page, pageOf } from './page.ts';

/** The link to a host of fonts that the package's page has. The browser's own fonts do. */
const FONT_LINK = /[ \t]*<link href="https:\/\/fonts\.googleapis\.com[^>]*>\n?/;

/**
 * Swagger UI's page, rendered once.
 * @param version in the paths of its files, so that browsers may keep them
 */
export function swaggerPage({ basePath, version }: { readonly basePath: string; readonly version: string }): Page {
  const assets = `${basePath}/docs/assets`;
  const render = loadSwaggerUi().koaSwagger({
    title: 'evenhand',
    routePrefix: false,
    swaggerCdnUrl: assets,
    swaggerVersion: version,
    favicon: `${assets}/${version}/favicon.png`,
    hideTopbar: true,
    swaggerOptions: {
      url: `${basePath}/openapi.json`,
      // A validator elsewhere would be sent the address of this service.
      validatorUrl: null,
      // A key that was typed in is forgotten with the page.
      persistAuthorization: false,
      deepLinking: true,
      displayRequestDuration: true,
    },
  });
  const context: { path: string; type?: string; body?: unknown } = { path: '/docs' };
  void render(context as unknown as Context, () => Promise.resolve());
  return pageOf(String(context.body).replace(FONT_LINK, ''));
}

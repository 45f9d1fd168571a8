import { VERSION } from '../../internal/version.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { ASSET_FILES, isAssetName, readAsset } from '../openapi/asset-files.ts';
import { type Page, redocPage, swaggerPage } from '../openapi/documentation-pages.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** `/docs/assets/0.9.0/swagger-ui-bundle.js`: a folder per version, and a file name. */
const ASSET_PATH = /\/docs\/assets\/([^/]+)\/([^/]+)$/;

/** Handles GET /docs and GET /redoc: the API documentation as pages without external resources. */
export function docsRoutes({ basePath }: Service): Readonly<Record<'getDocs' | 'getRedoc', Handler>> {
  const index = { basePath, version: VERSION };
  return { getDocs: pageHandler(swaggerPage(index)), getRedoc: pageHandler(redocPage(index)) };
}

function pageHandler({ html, contentSecurityPolicy }: Page): Handler {
  return (context) => {
    context.set({ 'Content-Security-Policy': contentSecurityPolicy, 'Cache-Control': 'no-cache' });
    context.type = 'text/html; charset=utf-8';
    context.body = html;
  };
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

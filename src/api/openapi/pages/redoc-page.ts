import { escapeHtml } from '../../../internal/html.ts';
import { type Page, pageOf } from './page.ts';

/**
 * ReDoc's page.
 * @param version in the paths of its files, so that browsers may keep them
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

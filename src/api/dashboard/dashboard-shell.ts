import { createHash } from 'node:crypto';

import { markup, trusted } from '../../internal/html.ts';
import { SHELL_SCRIPT } from './shell-script.ts';
import { SHELL_STYLE } from './shell-style.ts';

/** Only what the page holds runs; it shows and follows the service's own, and nobody frames it. */
export const SHELL_POLICY = [
  "default-src 'none'",
  `style-src '${digest(SHELL_STYLE)}'`,
  `script-src '${digest(SHELL_SCRIPT)}'`,
  "connect-src 'self'",
  "frame-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The page around a monitor's dashboard: a line that says how things are, and the dashboard in a frame.
 * @param base where its parts are, seen from the page: `dashboard/`
 * @param state what a `changed` event would hold now, as JSON text
 */
export function dashboardShell(base: string, state: string): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fairness of a monitored stream</title>
<link rel="icon" href="data:,">
<style>${trusted(SHELL_STYLE)}</style>
</head>
<body data-base="${base}">
<header>
<h1>Fairness of a monitored stream</h1>
<p id="connection" role="status">Connecting</p>
<p id="alerts" role="status"></p>
<a id="alone" href="${base}page">The dashboard alone, to print or save</a>
</header>
<main>
<noscript><p>This page follows the monitor by JavaScript. Without it, open the dashboard alone and load it anew from time to time.</p></noscript>
<div class="note" id="missing" hidden><p>The monitor has written nothing yet. It writes here as soon as it has counted an event:</p>
<p><code>evenhand monitor --y-pred … --sensitive … --output-dir …</code> with the folder that the service was started with.</p>
<p>This page fills by itself.</p></div>
<p id="stale" hidden>The monitor has ended, cannot write, or writes more rarely than every five minutes; below is its last word.</p>
<div id="frames"></div>
</main>
<script type="application/json" id="folder-state">${trusted(state.replaceAll('<', '\\u003c'))}</script>
<script>${trusted(SHELL_SCRIPT)}</script>
</body>
</html>
`.text;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

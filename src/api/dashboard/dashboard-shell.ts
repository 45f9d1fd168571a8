import { policyHash } from '../../document/page-script.ts';
import { markup, trusted } from '../../internal/html.ts';
import { SHELL_SCRIPT } from './shell-script.ts';

/**
 * The script that runs in the page of a monitor while the page is shown in the frame. The script reports the scroll
 * position and the open tables, and restores them from the previous page. The frame has an opaque origin, so the page
 * and the frame cannot read each other's content.
 */
const VIEW_KEEPER = `
(() => {
  'use strict';
  if (parent === window) return;
  // A table is identified by its title and its number among tables with that title, because others may be added before
  // it.
  const tables = () => {
    const seen = new Map();
    return Array.from(document.querySelectorAll('details'), (details) => {
      const title = details.querySelector('summary')?.textContent ?? '';
      const position = seen.get(title) ?? 0;
      seen.set(title, position + 1);
      return { details, key: title + '#' + position };
    });
  };
  let isReported = false;
  const report = () => {
    if (isReported) return;
    isReported = true;
    requestAnimationFrame(() => {
      isReported = false;
      const open = tables().filter(({ details }) => details.open).map(({ key }) => key);
      parent.postMessage({ evenhand: 'view', view: { left: scrollX, top: scrollY, open } }, '*');
    });
  };
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || data?.evenhand !== 'restore') return;
    const open = new Set(data.view.open);
    for (const { details, key } of tables()) details.open = open.has(key);
    scrollTo({ left: data.view.left, top: data.view.top, behavior: 'instant' });
    parent.postMessage({ evenhand: 'restored' }, '*');
    report();
  });
  addEventListener('scroll', report, { passive: true });
  addEventListener('toggle', report, true);
})();
`;

const KEEPER_HASH = `&#39;${policyHash(VIEW_KEEPER)}&#39;`;

/** Matches the content security policy in a report's page. */
const OWN_POLICY = /(<meta http-equiv="Content-Security-Policy" content=")([^"]*)(">)/;

/**
 * Adds the script that preserves the view to a dashboard page. The page allows scripts by their hashes. The function
 * therefore adds the script's hash to the page's policy. A page without such a policy is not changed.
 */
export function framedPage(page: string): string {
  const end = page.lastIndexOf('</body>');
  if (end === -1 || !OWN_POLICY.test(page)) return page;
  const withScript = `${page.slice(0, end)}<script>${VIEW_KEEPER}</script>\n${page.slice(end)}`;
  return withScript.replace(
    OWN_POLICY,
    (_, before: string, policy: string, after: string) => `${before}${withHash(policy)}${after}`,
  );
}

function withHash(policy: string): string {
  return policy.includes('script-src ')
    ? policy.replace('script-src ', `script-src ${KEEPER_HASH} `)
    : `${policy}; script-src ${KEEPER_HASH}`;
}

/**
 * The style of the bar above the dashboard. It has the colours of the reports, and a dark scheme if the user's system
 * prefers dark colours. Colour is never the only way to convey information.
 */
const SHELL_STYLE = `
:root { color-scheme: light dark; --ground: #fff; --ink: #1f2933; --quiet: #52606d; --line: #cbd2d9; --soft: #f5f7fa;
  --accent: #00527f; --good: #00704f; --bad: #b3261e; --warn: #8a5a00; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .5rem 1.5rem;
  border-bottom: 1px solid var(--line); background: var(--soft); font-size: .9375rem; }
h1 { font-size: 1rem; margin: 0; }
header p { margin: 0; font-variant-numeric: tabular-nums; }
header a { margin-left: auto; }
a { color: var(--accent); }
a:focus-visible, iframe:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
#connection::before { content: "○ "; }
#connection[data-kind="live"]::before { content: "● "; color: var(--good); }
#connection[data-kind="stale"], #connection[data-kind="lost"] { color: var(--warn); font-weight: 600; }
#connection[data-kind="stale"]::before, #connection[data-kind="lost"]::before { content: "▲ "; }
#alerts[data-kind="open"] { color: var(--bad); font-weight: 700; }
#alerts[data-kind="open"]::before { content: "! "; }
#alerts[data-kind="unknown"] { color: var(--warn); }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
main > p, main > div.note { margin: 0; padding: .75rem 1.5rem; max-width: 60rem; }
#stale { border-bottom: 1px solid var(--line); max-width: none; font-size: .9375rem; }
code { font-size: .9375em; overflow-wrap: anywhere; }
#frames { flex: 1; min-height: 0; position: relative; }
iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; background: var(--ground); }
iframe.next { visibility: hidden; }
@media (max-width: 40rem) { header { padding: .5rem 1rem; } header a { margin-left: 0; } }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14191f; --ink: #e6ebf0; --quiet: #aab6c2; --line: #3b4652; --soft: #1d242c; --accent: #7cc6f5;
    --good: #5fd6ac; --bad: #ff9d94; --warn: #f0c05a; }
}
`;

/**
 * The content security policy. It allows only the script and the style of the page, and requests to this service. Other
 * pages cannot embed the page in a frame.
 */
export const SHELL_POLICY = [
  "default-src 'none'",
  `style-src '${policyHash(SHELL_STYLE)}'`,
  `script-src '${policyHash(SHELL_SCRIPT)}'`,
  "connect-src 'self'",
  "frame-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Returns the page around a monitor's dashboard: a status line, and the dashboard in a frame.
 * @param base the path prefix of the page's resources, relative to the page: `dashboard/`
 * @param state the data of a `changed` event for the current state, as JSON text
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
<a id="alone" href="${base}page">Open the dashboard alone to print or save it</a>
</header>
<main>
<noscript><p>This page needs JavaScript to follow the monitor. Without JavaScript, open the dashboard alone and reload it to see changes.</p></noscript>
<div class="note" id="missing" hidden><p>The monitor has not written a dashboard yet. It does so after the first event:</p>
<p><code>evenhand monitor --y-pred … --sensitive … --output-dir …</code> with the folder that the service was started with.</p>
<p>This page then updates automatically.</p></div>
<p id="stale" hidden>The monitor has ended, cannot write, or writes less often than every five minutes. The last dashboard is shown below.</p>
<div id="frames"></div>
</main>
<script type="application/json" id="folder-state">${trusted(state.replaceAll('<', '\\u003c'))}</script>
<script>${trusted(SHELL_SCRIPT)}</script>
</body>
</html>
`.text;
}

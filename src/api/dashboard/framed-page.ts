import { createHash } from 'node:crypto';

/**
 * What runs in the page of a monitor when it is shown in the frame: tells how far it is scrolled and which tables are
 * open, and takes this up from the page before. The frame is of no origin, so that neither can look into the other.
 */
const VIEW_KEEPER = `
(() => {
  'use strict';
  if (parent === window) return;
  // A table by its title, and by which of that title it is: others may have come in before it.
  const tables = () => {
    const seen = new Map();
    return Array.from(document.querySelectorAll('details'), (details) => {
      const title = details.querySelector('summary')?.textContent ?? '';
      const place = seen.get(title) ?? 0;
      seen.set(title, place + 1);
      return { details, key: title + '#' + place };
    });
  };
  let isTold = false;
  const tell = () => {
    if (isTold) return;
    isTold = true;
    requestAnimationFrame(() => {
      isTold = false;
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
    tell();
  });
  addEventListener('scroll', tell, { passive: true });
  addEventListener('toggle', tell, true);
})();
`;

const KEEPER_HASH = `&#39;sha256-${createHash('sha256').update(VIEW_KEEPER).digest('base64')}&#39;`;

/** The policy that a page carries with it, as reports write it. */
const OWN_POLICY = /(<meta http-equiv="Content-Security-Policy" content=")([^"]*)(">)/;

/**
 * A dashboard with the script that keeps its view. Its own policy lets scripts run by their hashes, so the hash is added
 * there. A page of another make stays as it is.
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

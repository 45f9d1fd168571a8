import { createHash } from 'node:crypto';

import type { PageScript } from './report-page.ts';

/** Returns a script with its hash, for a page with a content security policy. */
export function pageScript(code: string): PageScript {
  return { code, hash: `sha256-${createHash('sha256').update(code).digest('base64')}` };
}

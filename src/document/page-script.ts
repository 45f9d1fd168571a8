import { createHash } from 'node:crypto';

import type { PageScript } from './report-page.ts';

/** Returns the hash of an inline script or style as a content security policy has it: `sha256-` and base64. */
export function policyHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Returns a script with its hash, for a page with a content security policy. */
export function pageScript(code: string): PageScript {
  return { code, hash: policyHash(code) };
}

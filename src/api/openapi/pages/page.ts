import { createHash } from 'node:crypto';

/** A page, with the policy that lets a browser load just what is its own. */
export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

const INLINE_SCRIPT = /<script>([\s\S]*?)<\/script>/g;

/** A page whose inline scripts are allowed by their digests; everything else comes from this service or not at all. */
export function pageOf(html: string): Page {
  const digests = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  const contentSecurityPolicy = [
    "default-src 'self'",
    ["script-src 'self'", ...digests].join(' '),
    // Both pages style what they draw as they draw it.
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

import type { Service } from '../app/service-context.ts';
import { loadCors } from '../packages.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/** Headers of requests and answers that pages of allowed origins may send and read. */
const ALLOWED = ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'Prefer', 'X-Request-Id'];
const EXPOSED = [
  'Content-Disposition',
  'Idempotency-Replayed',
  'Location',
  'Preference-Applied',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Evenhand-Worker',
  'X-Request-Id',
];

/** How long a browser may remember what it was allowed. */
const MAX_AGE_SECONDS = 600;

/**
 * Lets pages of the named origins read answers; null where none is named, so that the package is not loaded for nothing.
 * No cookies and no passwords of the browser: such a page shows a key of its own.
 */
export function crossOrigin({ corsOrigins }: Service): ServiceMiddleware | null {
  if (corsOrigins.length === 0) return null;
  const origins = new Set(corsOrigins);
  const cors = loadCors()({
    origin: (context) => {
      const origin = context.get('Origin');
      return origins.has(origin) ? origin : '';
    },
    allowMethods: ['GET', 'HEAD', 'POST', 'DELETE'],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_SECONDS,
    // Problems are answered with the headers that are set by then.
    keepHeadersOnError: false,
  });
  return async (context, next) => {
    // What a page may read is not for its own origin only.
    if (origins.has(context.get('Origin'))) context.set('Cross-Origin-Resource-Policy', 'cross-origin');
    await cors(context, next);
  };
}

import { loadHelmet } from '../packages.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/**
 * Headers that keep a browser from doing anything with an answer but reading it: nothing may be loaded, framed, guessed
 * from its bytes or kept. Pages set a policy of their own afterwards. Nothing asks for HTTPS, which plain HTTP on one's own
 * machine has not; whoever ends TLS in front of the service says so there.
 */
export function securityHeaders(): ServiceMiddleware {
  // Asked anew for each answer: that takes 5 to 10 µs, and setting the same headers by ourselves 4 to 9.
  const helmet = (loadHelmet() as unknown as HelmetOfCommonJs)({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: false,
    // Browsers ignore these two, with a complaint, on plain HTTP from elsewhere.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    // For browsers that are gone.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xXssProtection: false,
  });
  return (context, next) => {
    context.res.setHeader('Cache-Control', 'no-store');
    return helmet(context, next);
  };
}

/** The package gives its function itself to `require`, whatever its types say. */
type HelmetOfCommonJs = (options: Readonly<Record<string, unknown>>) => ServiceMiddleware;

import type { Service, ServiceContext } from '../app/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what pages of other origins make a browser send. Two ways lead in from there: a request that changes something
 * and needs no answer to do so, and a name of the page's own that leads to this machine (DNS rebinding). The first is told
 * by Origin and Sec-Fetch-Site, the second by a Host that the service does not go by.
 */
export function sameOrigin({ allowedHosts, corsOrigins }: Service): ServiceMiddleware {
  const hosts = allowedHosts === null ? null : new Set(allowedHosts.map((host) => nameOf(host)));
  const origins = new Set(corsOrigins);
  return async (context, next) => {
    const host = context.req.headers.host ?? '';
    if (hosts !== null && !hosts.has(nameOf(host))) throw strangeHost();
    if (!READING.has(context.method) && isFromElsewhere(context, host, origins)) throw strangeOrigin();
    await next();
  };
}

/** A host without its port, as names are compared. */
function nameOf(host: string): string {
  const address = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1];
  // Several colons outside brackets are an IPv6 address, not a port.
  const name = address ?? (/^[^:]*:\d*$/.test(host) ? host.slice(0, host.indexOf(':')) : host);
  return name.toLowerCase();
}

function isFromElsewhere({ req }: ServiceContext, host: string, origins: ReadonlySet<string>): boolean {
  const { origin } = req.headers;
  if (origin !== undefined && origins.has(origin)) return false;
  const site = req.headers['sec-fetch-site'];
  // A browser's own word, which no page can write; a proxy may have changed the Host.
  if (site === 'same-origin') return false;
  if (site === 'cross-site' || site === 'same-site') return true;
  return origin !== undefined && hostOf(origin) !== host.toLowerCase();
}

/** Of `https://audit.example.com:8443` what a Host header would have; undefined for `null` and what is no origin. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function strangeHost(): ServiceProblem {
  return new ServiceProblem(403, {
    detail: 'The service does not go by the name in the Host header.',
    suggestion: 'Use the name it was started for, or start it with --allowed-host NAME for this one too.',
  });
}

function strangeOrigin(): ServiceProblem {
  return new ServiceProblem(403, {
    detail: 'A page of another origin may not change anything here.',
    suggestion: 'Start the service with --cors-origin ORIGIN to let the pages of an origin do so.',
  });
}

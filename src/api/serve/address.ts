import { isIP, isIPv4, isIPv6 } from 'node:net';

import { ConfigValidationError } from '../../exceptions/index.ts';

/** The host names with which a browser on this machine reaches the service. */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const;

/**
 * Returns whether only this machine can reach an address: 127.0.0.0/8, ::1 or localhost. Other names may resolve to any
 * address.
 */
export function isLoopback(host: string): boolean {
  return (isIPv4(host) && host.startsWith('127.')) || host === '::1' || host.toLowerCase() === 'localhost';
}

/** The address of the service, and the settings that control access to it. */
export interface Exposure {
  readonly host: string;
  readonly keys: readonly string[];
  /** Whether the user allowed access from other machines without a key. */
  readonly insecure: boolean;
}

/**
 * Checks that an address that other machines can reach is protected by keys, or explicitly allowed without keys.
 * @throws {ConfigValidationError} if the address is not protected; the suggestion names both fixes
 */
export function assertSafe({ host, keys, insecure }: Exposure): void {
  if (insecure || keys.length > 0 || isLoopback(host)) return;
  throw new ConfigValidationError(
    `The address ${host} can be reached from other machines, and no keys are set: anyone could read and send data.`,
    {
      context: { host },
      suggestion:
        'Set keys in EVENHAND_API_KEYS (comma-separated), or pass --insecure if a proxy in front of the service controls access.',
    },
  );
}

/**
 * Returns the accepted names in a request's Host header; null if any name is accepted. Without keys, only local names
 * are accepted. Otherwise, a page whose host name resolves to this machine (DNS rebinding) could read the data of the
 * service.
 * @param given the names that the user allows
 */
export function allowedHostsOf(
  { host, keys, insecure }: Exposure,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  if (keys.length > 0 || insecure || !isLoopback(host)) return given;
  return [...new Set([...LOCAL_NAMES, inUrl(host), ...(given ?? [])])];
}

/** Returns the URL of the service. If the service listens on all interfaces, this is the local URL. */
export function urlOf(host: string, port: number): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : isIP(host) === 6 && /^[0:]+$/.test(host) ? '::1' : host;
  return `http://${inUrl(local)}:${String(port)}`;
}

/**
 * Returns the address for display. The address is shown in full, so that a public address is not mistaken for a local
 * one.
 */
export function positionText(host: string, port: number): string {
  return `http://${inUrl(host)}:${String(port)}${isLoopback(host) ? '' : ', reachable from other machines'}`;
}

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** The messages for an address on which the service cannot listen, by Node.js error code. */
const LISTEN_PROBLEMS: Readonly<Record<string, readonly [what: string, fix: string]>> = {
  EADDRINUSE: ['is in use by another program', 'Stop that program, or choose another port with --port.'],
  EACCES: ['may not be used by this user', 'Choose a port above 1023 with --port.'],
  EADDRNOTAVAIL: ['is not an address of this machine', 'Name one of its addresses with --host, such as 127.0.0.1.'],
  ENOTFOUND: ['has an unknown host name', 'Name an address of this machine with --host.'],
};

/** Returns the error for an address on which the service cannot listen. */
export function cannotListen(host: string, port: number, cause: unknown): ConfigValidationError {
  const { code = String(cause) } = cause as NodeJS.ErrnoException;
  const [what, fix] = LISTEN_PROBLEMS[code] ?? [
    `cannot be used for listening (${code})`,
    'Choose another address with --host and --port.',
  ];
  return new ConfigValidationError(`Port ${String(port)} of ${host} ${what}.`, {
    context: { host, port, code },
    suggestion: fix,
    cause,
  });
}

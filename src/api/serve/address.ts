import { isIP, isIPv4, isIPv6 } from 'node:net';

import { ConfigValidationError } from '../../exceptions/index.ts';

/** Names under which a browser on this machine asks for the service. */
const LOCAL_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const;

/** Whether only this machine reaches an address: 127.0.0.0/8, ::1 or localhost. Other names may resolve to anything. */
export function isLoopback(host: string): boolean {
  return (isIPv4(host) && host.startsWith('127.')) || host === '::1' || host.toLowerCase() === 'localhost';
}

/** Who may reach the service, and how. */
export interface Exposure {
  readonly host: string;
  readonly keys: readonly string[];
  /** Whether the user said that others may reach it without a key. */
  readonly insecure: boolean;
}

/**
 * An address that others can reach needs keys, or the word that none are wanted.
 * @throws {ConfigValidationError} that says both
 */
export function assertSafe({ host, keys, insecure }: Exposure): void {
  if (insecure || keys.length > 0 || isLoopback(host)) return;
  throw new ConfigValidationError(
    `The address ${host} can be reached from other machines, and no keys are set: anyone could read and send data.`,
    {
      context: { host },
      suggestion:
        'Set keys in EVENHAND_API_KEYS (a comma list), or pass --insecure if something in front of the service lets only the right people through.',
    },
  );
}

/**
 * The names that a request's Host header may have; null for any. Without keys, a page elsewhere whose name is made to
 * resolve to this machine (DNS rebinding) could read what the service has, so that only local names are let in.
 * @param given names that the user allows
 */
export function allowedHostsOf(
  { host, keys, insecure }: Exposure,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  if (keys.length > 0 || insecure || !isLoopback(host)) return given;
  return [...new Set([...LOCAL_NAMES, inUrl(host), ...(given ?? [])])];
}

/** Where the service is found; an address that stands for all of them is told as the local one. */
export function urlOf(host: string, port: number): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : isIP(host) === 6 && /^[0:]+$/.test(host) ? '::1' : host;
  return `http://${inUrl(local)}:${String(port)}`;
}

/** The address as it is printed, all of it, so that nobody takes an open one for a local one. */
export function placeText(host: string, port: number): string {
  return `http://${inUrl(host)}:${String(port)}${isLoopback(host) ? '' : ', reachable from other machines'}`;
}

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** What is said of an address that cannot be listened on, by Node's code. */
const LISTEN_FAULTS: Readonly<Record<string, readonly [what: string, mend: string]>> = {
  EADDRINUSE: ['is in use by another program', 'Stop that program, or choose another port with --port.'],
  EACCES: ['may not be used by this user', 'Choose a port above 1023 with --port.'],
  EADDRNOTAVAIL: ['is not an address of this machine', 'Name one of its addresses with --host; 127.0.0.1 always is.'],
  ENOTFOUND: ['has a name that is not known', 'Name an address of this machine with --host.'],
};

/** The error of an address that cannot be listened on. */
export function cannotListen(host: string, port: number, cause: unknown): ConfigValidationError {
  const { code = String(cause) } = cause as NodeJS.ErrnoException;
  const [what, mend] = LISTEN_FAULTS[code] ?? [
    `cannot be listened on (${code})`,
    'Choose another with --host and --port.',
  ];
  return new ConfigValidationError(`Port ${String(port)} of ${host} ${what}.`, {
    context: { host, port, code },
    suggestion: mend,
    cause,
  });
}

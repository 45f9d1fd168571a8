import { createHmac } from 'node:crypto';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { fieldProblem } from '../problem/service-problem.ts';

/** The name of the query parameter of an address that is called when a run has ended. */
export const WEBHOOK_PARAMETER = 'webhook_url';

/** The minimum length of the secret, so that a receiver can rely on the signature. */
const MIN_SECRET = 16;
/** The maximum length of an address. */
const MAX_URL_LENGTH = 2000;
/** What a service needs to call the addresses that clients name. */
export interface WebhookSettings {
  /** The hosts that may be called, such as `hooks.example.com` or `10.0.0.7:8443`. Without any, webhooks are refused. */
  readonly hosts: readonly string[];
  readonly secret: string;
}

/**
 * Checks the options of webhooks.
 * @throws {ConfigValidationError} if a host is not one, or hosts are named without a sufficient secret
 */
export function checkWebhooks(hosts: readonly string[], secret: string): void {
  const wrong = hosts.find((host) => !isHost(host));
  if (wrong !== undefined) {
    throw new ConfigValidationError(`'${wrong}' is not a host that webhooks can call.`, {
      context: { parameter: 'webhookHosts', value: wrong },
      suggestion: 'Name a host, perhaps with a port, such as hooks.example.com or 10.0.0.7:8443.',
    });
  }
  if (hosts.length === 0 || secret.length >= MIN_SECRET) return;
  throw new ConfigValidationError(
    `Webhooks need a secret of at least ${String(MIN_SECRET)} characters, with which they are signed.`,
    {
      context: { variable: 'EVENHAND_WEBHOOK_SECRET' },
      suggestion: 'Set EVENHAND_WEBHOOK_SECRET, for example to the output of: openssl rand -hex 24',
    },
  );
}

function isHost(given: string): boolean {
  if (!URL.canParse(`http://${given}`)) return false;
  const { host, username, pathname, search, hash } = new URL(`http://${given}`);
  return host !== '' && username === '' && pathname === '/' && `${search}${hash}` === '' && !/[/?#@\s]/.test(given);
}

/**
 * Returns the signature of a webhook: the time and the HMAC-SHA256 of the time, a dot and the body, as
 * `t=1700000000,v1=5257a8…`. The time lets a receiver refuse an old message that is sent again.
 */
export function signatureOf(secret: string, seconds: number, body: string): string {
  const digest = createHmac('sha256', secret)
    .update(`${String(seconds)}.${body}`)
    .digest('hex');
  return `t=${String(seconds)},v1=${digest}`;
}

/**
 * Checks an address. Only the listed hosts can be called, because the service may reach hosts that its clients cannot.
 * @throws {ServiceProblem} 403 if its host is not allowed, 422 if it is not a usable address
 */
export function checkWebhookUrl({ hosts }: Pick<WebhookSettings, 'hosts'>, given: string): void {
  const url = given.length <= MAX_URL_LENGTH && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    const detail = `${WEBHOOK_PARAMETER} must be an http or https address without a user name and a password.`;
    throw fieldProblem(
      422,
      WEBHOOK_PARAMETER,
      detail,
      'Encode the address, as in ?webhook_url=https%3A%2F%2Fhooks.example.com%2Fdone.',
    );
  }
  // `host` has a port only if it is not the default one of the scheme.
  if (!hosts.some((host) => host.toLowerCase() === url.host)) {
    const detail = `This service sends no webhooks to ${url.host}.`;
    throw fieldProblem(
      403,
      WEBHOOK_PARAMETER,
      detail,
      'Ask the operator of the service to allow it with --webhook-host.',
    );
  }
}

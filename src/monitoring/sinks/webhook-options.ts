import { decodePart } from '../../internal/values.ts';
import { ConfigValidationError, ValueError } from '../../exceptions/index.ts';
import { type FilledOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { MAX_TIMER_MILLIS } from '../../internal/retry.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { requireFields, shownKind } from '../require-kind.ts';

/** Options of a webhook sink. */
export interface WebhookSinkOptions {
  /**
   * The http or https address to which alerts are posted. If the address contains a user name and password, they are
   * sent as basic authorization.
   */
  readonly url: string;
  /**
   * HTTP headers of each request.
   * @defaultValue none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The name of an environment variable whose value is sent as `Authorization: Bearer …`, so that the code contains no
   * secret.
   * @defaultValue none
   */
  readonly secretFromEnvironment?: string | undefined;
  /**
   * The time limit of one attempt, in milliseconds.
   * @defaultValue 5000
   */
  readonly timeoutMillis?: number | undefined;
  /**
   * The maximum number of retries to deliver an alert.
   * @defaultValue 5
   */
  readonly retries?: number | undefined;
  /**
   * The wait before the first retry, in milliseconds. The wait doubles with each retry.
   * @defaultValue 500
   */
  readonly backoffMillis?: number | undefined;
  /**
   * The maximum number of alerts that wait to be sent. If there are more, the oldest alerts are dropped and counted as
   * failures.
   * @defaultValue 1000
   */
  readonly mostWaiting?: number | undefined;
  /**
   * The maximum time that `close` waits for undelivered alerts, in milliseconds.
   * @defaultValue 10_000
   */
  readonly closeMillis?: number | undefined;
  /**
   * The seed of the random jitter in retry delays.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  /**
   * A replacement for the global `fetch`.
   * @defaultValue globalThis.fetch
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Lists the options of {@link WebhookSinkOptions}. */
export const WEBHOOK_SINK_OPTION_NAMES: OptionNames<WebhookSinkOptions> = {
  url: true,
  headers: true,
  secretFromEnvironment: true,
  timeoutMillis: true,
  retries: true,
  backoffMillis: true,
  mostWaiting: true,
  closeMillis: true,
  seed: true,
  fetch: true,
};

/** {@link WebhookSinkOptions} with every default filled in. */
export interface WebhookSettings extends FilledOptions<Omit<WebhookSinkOptions, 'url' | 'secretFromEnvironment'>> {
  /** The address without credentials. */
  readonly address: string;
  /** The part of the address that is shown in messages. The path is not shown, because it can contain a secret. */
  readonly origin: string;
}

/**
 * Returns options with their defaults filled in.
 * @throws {ValueError} if the address is not http or https, or an option is out of range
 * @throws {ConfigValidationError} if the environment variable is not set
 */
export function toWebhookSettings(
  options: WebhookSinkOptions,
  environment: Readonly<Record<string, string | undefined>>,
): WebhookSettings {
  requireFields('options', options, "be an object with a url, as in { url: 'https://alerts.example.org/hook' }");
  if (options.fetch !== undefined && typeof options.fetch !== 'function') {
    throw invalidParameter('fetch', 'be a function like fetch in Node.js', shownKind(options.fetch));
  }
  const url = parseUrl(options.url);
  const authorization = authorizationOf(url, options.secretFromEnvironment, environment);
  url.username = '';
  url.password = '';
  url.hash = '';
  return {
    address: url.href,
    origin: url.origin,
    headers: readHeaders(requireFields('headers', options.headers ?? {}), authorization),
    timeoutMillis: requireMillis('timeoutMillis', options.timeoutMillis ?? 5000, 1),
    retries: requireInteger('retries', options.retries ?? 5, 0),
    backoffMillis: requireMillis('backoffMillis', options.backoffMillis ?? 500, 0),
    mostWaiting: requireInteger('mostWaiting', options.mostWaiting ?? 1000, 1),
    closeMillis: requireMillis('closeMillis', options.closeMillis ?? 10_000, 0),
    seed: requireInteger('seed', options.seed ?? 42, Number.MIN_SAFE_INTEGER),
    fetch: options.fetch ?? globalThis.fetch,
  };
}

/** Parses an address. Errors never include the address, because it may contain a password. */
function parseUrl(given: string): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ValueError(
    `The url parameter must be an http or https address. Got ${url === undefined ? 'something else' : `one that begins with '${url.protocol}'`} instead.`,
    { context: { parameter: 'url' }, suggestion: 'Give the complete address, as in https://alerts.example.org/hook.' },
  );
}

function authorizationOf(
  { username, password }: URL,
  variable: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const hasCredentials = username !== '' || password !== '';
  if (variable !== undefined && typeof variable !== 'string') {
    throw invalidParameter('secretFromEnvironment', 'be the name of a variable', shownKind(variable));
  }
  if (variable === undefined) {
    if (!hasCredentials) return undefined;
    return `Basic ${Buffer.from(`${decodePart(username)}:${decodePart(password)}`).toString('base64')}`;
  }
  if (hasCredentials) {
    throw new ValueError('The url parameter must not contain credentials if secretFromEnvironment is given.', {
      context: { parameter: 'url' },
      suggestion: 'Remove the credentials from the url, or leave out secretFromEnvironment.',
    });
  }
  const secret = environment[variable]?.trim() ?? '';
  if (/^[\x21-\x7E]+$/.test(secret)) return `Bearer ${secret}`;
  throw new ConfigValidationError(
    `The environment variable ${variable} ${secret === '' ? 'is not set' : 'contains characters that are not allowed in an HTTP header'}.`,
    { context: { variable }, suggestion: 'Set it to the secret that the webhook expects.' },
  );
}

/** Returns the headers by lower-case name. Errors never include a header's value, because it may be a secret. */
function readHeaders(
  given: Readonly<Record<string, string>>,
  authorization: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    try {
      headers[name.toLowerCase()] = new Headers([[name, value]]).get(name) ?? '';
    } catch {
      throw new ValueError(
        `The headers parameter must contain valid names and values of HTTP headers; '${name}' is not valid.`,
        {
          context: { parameter: 'headers', name },
        },
      );
    }
  }
  if (authorization === undefined) return headers;
  if (headers['authorization'] === undefined) return { ...headers, authorization };
  throw new ValueError(
    'The headers parameter must not include an Authorization header if the URL or the environment already provides credentials.',
    {
      context: { parameter: 'headers' },
      suggestion: 'Remove the authorization header, or the other source of credentials.',
    },
  );
}

function requireMillis(parameter: string, given: number, min: number): number {
  if (Number.isInteger(given) && given >= min && given <= MAX_TIMER_MILLIS) return given;
  throw invalidParameter(parameter, `be a whole number from ${String(min)} to ${String(MAX_TIMER_MILLIS)}`, given);
}

import { hash, timingSafeEqual } from 'node:crypto';

import type { Logger } from 'pino';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { readSecret } from '../../io/read-secret.ts';
import type { RequestState, Service, ServiceContext } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { countRequest, type ServiceMiddleware } from './service-middleware.ts';

/** The minimum length of a key. A shorter key could be guessed. */
const MIN_CHARACTERS = 16;

/** A suggestion with a command that creates a key. */
const MAKE_ONE = 'Generate one with: node -p "crypto.randomBytes(24).toString(\'base64url\')"';

/** Matches keys whose characters are safe in headers, lists and logs. */
const USABLE = /^[\x21-\x7e]+$/;

/** Matches a key with the name of its tenant. */
const WITH_TENANT = /^([A-Za-z0-9][\w.-]{0,63}):(.+)$/;

/** Returns the tenant and the key in an entry such as `team-a:KEY`; the tenant is '' if there is none. */
function partsOfKey(given: string): { readonly tenant: string; readonly key: string } {
  const [, tenant = '', key = given] = WITH_TENANT.exec(given) ?? [];
  return { tenant, key };
}

/**
 * Reads the keys of the service from the environment: `EVENHAND_API_KEYS`, or the file that `EVENHAND_API_KEYS_FILE`
 * names. Keys are separated by commas or new lines, each perhaps with a tenant (`team-a:KEY`). Returns no keys if both
 * variables are unset or empty.
 * @throws {ConfigValidationError} if a key contains characters that a header cannot contain, or the file has no key
 * @throws {DataValidationError} if the file cannot be read
 */
export function readKeys(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const text = readSecret(environment, 'EVENHAND_API_KEYS');
  const listed = (text ?? '').split(/[,\r\n]/).map((key) => key.trim());
  const keys = listed.filter((key) => key !== '');
  const file = environment['EVENHAND_API_KEYS_FILE'] ?? '';
  if (keys.length === 0 && file !== '') {
    throw new ConfigValidationError(`The file of EVENHAND_API_KEYS_FILE contains no key: '${file}'.`, {
      context: { variable: 'EVENHAND_API_KEYS_FILE', path: file },
      suggestion: MAKE_ONE,
    });
  }
  return checkKeys(keys, 'EVENHAND_API_KEYS');
}

/**
 * Returns the given keys without duplicates. An empty key is rejected, so that an unset variable does not make the
 * service public.
 * @param from the source of the keys, which the error message names
 * @throws {ConfigValidationError} if a key is invalid; the message contains its position and never the key
 */
export function checkKeys(given: readonly string[], from: string): readonly string[] {
  const wrong = given.findIndex((key) => !USABLE.test(key));
  if (wrong === -1) {
    const keys = [...new Set(given)];
    assertOneTenant(keys, from);
    return Object.freeze(keys);
  }
  const problem = given[wrong] === '' ? 'is empty' : 'is not valid';
  throw new ConfigValidationError(
    `${from} must contain keys of printable ASCII characters without spaces; key ${String(wrong + 1)} ${problem}.`,
    { context: { variable: from, index: wrong + 1 }, suggestion: MAKE_ONE },
  );
}

/** Throws if a key belongs to two tenants, because its results would then depend on the order of the keys. */
function assertOneTenant(given: readonly string[], from: string): void {
  const keys = given.map((one) => partsOfKey(one).key);
  const twice = keys.findIndex((key, index) => keys.indexOf(key) !== index);
  if (twice === -1) return;
  throw new ConfigValidationError(`${from} must name one tenant for each key; key ${String(twice + 1)} has two.`, {
    context: { variable: from, index: twice + 1 },
    suggestion: MAKE_ONE,
  });
}

/**
 * Logs a warning for keys that are short enough to be guessed. Short keys are still accepted, because the operator may
 * have a reason.
 */
export function warnOfShortKeys(keys: readonly string[], logger: Logger): void {
  const short = keys.flatMap((given, index) =>
    partsOfKey(given).key.length < MIN_CHARACTERS ? [String(index + 1)] : [],
  );
  if (short.length === 0) return;
  logger.warn(
    `${short.length === 1 ? 'Key' : 'Keys'} ${short.join(', ')} of the service ${short.length === 1 ? 'has' : 'have'} fewer than ${String(MIN_CHARACTERS)} characters, and could be guessed. ${MAKE_ONE}`,
  );
}

const BEARER = 'Bearer realm="evenhand"';
const BASIC = 'Basic realm="evenhand", charset="UTF-8"';

/** The maximum length of a header that can contain a key. */
const MAX_CHARACTERS = 4096;

/**
 * Allows requests that contain a valid key, as `Authorization: Bearer KEY`. For read requests the key may also be the
 * password of Basic authentication, so that a browser can open the pages. Basic authentication is not accepted for
 * requests that change something, because a browser also sends it with requests from other pages. GET /health and the
 * files of the workbench, which contain no data, need no key. Without keys, every request passes.
 *
 * The SHA-256 digest of the given key is compared with the digest of each key in constant time.
 */
export function authenticate({ keys, limiter }: Service): ServiceMiddleware {
  const known = keys.map(knownKey);
  return async (context, next) => {
    if (known.length > 0) {
      const shown = shownKey(context);
      const client = clientOf(known, shown?.key);
      const isPassing = client !== undefined && (isReading(context) || shown?.scheme === 'bearer');
      if (isPassing) Object.assign(context.state, client);
      else if (!isPublic(context)) {
        // Failed attempts are counted by address, like requests without a key.
        if (limiter !== null) await countRequest(limiter, context);
        throw refused(context, client !== undefined);
      }
    }
    await next();
  };
}

/** A key of the service, with the client and the tenant that it identifies. */
interface KnownKey extends Pick<RequestState, 'client' | 'tenant'> {
  readonly digest: Buffer;
}

/**
 * Returns what a key of the service identifies. The client is named by the first hexadecimal characters of the key's
 * digest, which distinguish clients in logs and do not reveal the key. A key without a tenant is a tenant of its own.
 */
function knownKey(given: string): KnownKey {
  const { tenant, key } = partsOfKey(given);
  const digest = hash('sha256', key, 'buffer');
  const client = digest.toString('hex').slice(0, 12);
  return { digest, client, tenant: tenant === '' ? `key:${digest.toString('hex')}` : `tenant:${tenant}` };
}

/** Returns the client and the tenant whose key a request contains. */
function clientOf(
  known: readonly KnownKey[],
  shown: string | undefined,
): Pick<RequestState, 'client' | 'tenant'> | undefined {
  if (shown === undefined) return undefined;
  const digest = hash('sha256', shown, 'buffer');
  // All keys are compared, so that the response time does not reveal which key matched.
  const [match] = known.filter((one) => timingSafeEqual(one.digest, digest));
  return match === undefined ? undefined : { client: match.client, tenant: match.tenant };
}

/** Returns the key that a request contains. */
function shownKey(context: ServiceContext): { readonly scheme: 'bearer' | 'basic'; readonly key: string } | undefined {
  const { authorization } = context.req.headers;
  if (authorization === undefined || authorization.length > MAX_CHARACTERS) return undefined;
  const space = authorization.indexOf(' ');
  const scheme = authorization.slice(0, Math.max(space, 0)).toLowerCase();
  const rest = authorization.slice(space + 1).trim();
  if (scheme === 'bearer') return { scheme, key: rest };
  if (scheme !== 'basic') return undefined;
  try {
    const pair = decodeUtf8(Buffer.from(rest, 'base64'), 'The password');
    return { scheme, key: pair.slice(pair.indexOf(':') + 1) };
  } catch {
    // A password that is not UTF-8 is not a valid key.
    return undefined;
  }
}

function isReading({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Matches the paths that need no key: the health of the process, and the files of the workbench, which asks for a key. */
const PUBLIC = /^\/(?:health|icon\.svg|assets\/[\w.-]+)?$/;

function isPublic(context: ServiceContext): boolean {
  return isReading(context) && PUBLIC.test(context.path);
}

/**
 * Returns the problem for a request without an accepted key.
 * @param isPassword whether a valid key was sent as a password, which is not accepted for requests that change
 * something
 */
function refused(context: ServiceContext, isPassword: boolean): ServiceProblem {
  // Two header lines, because browsers that support only one scheme read a combined list as the first scheme.
  context.set('WWW-Authenticate', isReading(context) ? [BEARER, BASIC] : [BEARER]);
  const isShown = context.req.headers.authorization !== undefined;
  return new ServiceProblem(401, {
    detail: isPassword
      ? 'Passwords work for reading only; send Authorization: Bearer.'
      : isShown
        ? 'The request contains no valid key.'
        : 'The request contains no key.',
    suggestion: 'Send the header "Authorization: Bearer KEY" with one of the keys of the service.',
  });
}

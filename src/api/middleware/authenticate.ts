import { hash, timingSafeEqual } from 'node:crypto';

import type { Logger } from 'pino';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { Service, ServiceContext } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { countRequest, type ServiceMiddleware } from './service-middleware.ts';

/** A shorter key could be found by trying. */
const MIN_CHARACTERS = 16;

/** How a good key is made. */
const MAKE_ONE = 'Make one with: node -p "crypto.randomBytes(24).toString(\'base64url\')"';

/** A header can carry these, and no list or log is broken by them. */
const USABLE = /^[\x21-\x7e]+$/;

/**
 * The keys of the service from the environment: `EVENHAND_API_KEYS`, a comma list; none where it is unset or empty.
 * @throws {ConfigValidationError} for a key with characters that no header carries
 */
export function readKeys(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const listed = (environment['EVENHAND_API_KEYS'] ?? '').split(',').map((key) => key.trim());
  return checkKeys(
    listed.filter((key) => key !== ''),
    'EVENHAND_API_KEYS',
  );
}

/**
 * Keys as they are given, each once. An empty one is refused: a variable that was never set must not open the service.
 * @param from where they were named, for the message
 * @throws {ConfigValidationError} naming the place of the key, never the key
 */
export function checkKeys(given: readonly string[], from: string): readonly string[] {
  const wrong = given.findIndex((key) => !USABLE.test(key));
  if (wrong === -1) return Object.freeze([...new Set(given)]);
  const fault = given[wrong] === '' ? 'is empty' : 'is none';
  throw new ConfigValidationError(
    `${from} must hold keys of printable ASCII characters without spaces; key ${String(wrong + 1)} ${fault}.`,
    { context: { variable: from, place: wrong + 1 }, suggestion: MAKE_ONE },
  );
}

/** Says which keys are short enough to be found by trying. They hold all the same: whoever set them may have reasons. */
export function warnOfShortKeys(keys: readonly string[], logger: Logger): void {
  const short = keys.flatMap((key, place) => (key.length < MIN_CHARACTERS ? [String(place + 1)] : []));
  if (short.length === 0) return;
  logger.warn(
    `${short.length === 1 ? 'Key' : 'Keys'} ${short.join(', ')} of the service ${short.length === 1 ? 'has' : 'have'} fewer than ${String(MIN_CHARACTERS)} characters, and could be found by trying. ${MAKE_ONE}`,
  );
}

/** A key as the service remembers it. */
interface KnownKey {
  readonly digest: Buffer;
  /** The first characters of the digest, hexadecimal: tells clients apart in logs, and tells nothing of the key. */
  readonly client: string;
}

/** What a request shows. */
interface ShownKey {
  readonly scheme: 'bearer' | 'basic';
  readonly key: string;
}

const BEARER = 'Bearer realm="evenhand"';
const BASIC = 'Basic realm="evenhand", charset="UTF-8"';

/** A longer header holds no key of ours. */
const MAX_CHARACTERS = 4096;

/**
 * Lets requests pass that show a key: as `Authorization: Bearer KEY`, or to read also as the password of Basic, so that a
 * browser can open the pages. Basic changes nothing, since a browser sends it by itself also when another page asks it to.
 * GET /health needs none. Without keys every request passes.
 *
 * What is shown is compared as a SHA-256 digest, with each key, in a time that does not depend on where they differ.
 */
export function authenticate({ keys, limiter }: Service): ServiceMiddleware {
  const known = keys.map((key): KnownKey => {
    const digest = hash('sha256', key, 'buffer');
    return { digest, client: digest.toString('hex').slice(0, 12) };
  });
  return async (context, next) => {
    if (known.length > 0) {
      const shown = shownKey(context);
      const client = clientOf(known, shown?.key);
      const isPassing = client !== undefined && (isReading(context) || shown?.scheme === 'bearer');
      if (isPassing) context.state.client = client;
      else if (!isHealth(context)) {
        // Who tries keys is counted by address, as those without one are.
        if (limiter !== null) await countRequest(limiter, context);
        throw refused(context, client !== undefined);
      }
    }
    await next();
  };
}

function clientOf(known: readonly KnownKey[], shown: string | undefined): string | undefined {
  if (shown === undefined) return undefined;
  const digest = hash('sha256', shown, 'buffer');
  let client: string | undefined;
  // All keys are looked at: how long it takes says nothing of which was found.
  for (const key of known) if (timingSafeEqual(key.digest, digest)) client = key.client;
  return client;
}

function shownKey(context: ServiceContext): ShownKey | undefined {
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
    // What is not UTF-8 is no key of ours.
    return undefined;
  }
}

function isReading({ method }: ServiceContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

function isHealth(context: ServiceContext): boolean {
  return isReading(context) && context.path === '/health';
}

/** @param isPassword whether the key is right, and was shown in a way that changes nothing */
function refused(context: ServiceContext, isPassword: boolean): ServiceProblem {
  // Two lines: browsers that know only one of the schemes read a list of both as the first of it.
  context.set('WWW-Authenticate', isReading(context) ? [BEARER, BASIC] : [BEARER]);
  const isShown = context.req.headers.authorization !== undefined;
  return new ServiceProblem(401, {
    detail: isPassword
      ? 'Passwords work for reading only; send Authorization: Bearer.'
      : isShown
        ? 'The request shows no key that is known here.'
        : 'The request shows no key.',
    suggestion: 'Send the header "Authorization: Bearer KEY" with one of the keys of the service.',
  });
}

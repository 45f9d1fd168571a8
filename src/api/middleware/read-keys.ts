import type { Logger } from 'pino';

import { ConfigValidationError } from '../../exceptions/index.ts';

/** A shorter key could be found by trying. */
const LEAST_CHARACTERS = 16;

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
  const short = keys.flatMap((key, place) => (key.length < LEAST_CHARACTERS ? [String(place + 1)] : []));
  if (short.length === 0) return;
  logger.warn(
    `${short.length === 1 ? 'Key' : 'Keys'} ${short.join(', ')} of the service ${short.length === 1 ? 'has' : 'have'} fewer than ${String(LEAST_CHARACTERS)} characters, and could be found by trying. ${MAKE_ONE}`,
  );
}

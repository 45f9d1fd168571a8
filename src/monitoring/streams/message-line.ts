import { tryDecodeUtf8 } from '../../internal/decode-utf8.ts';
import type { UnreadableLine } from '../follow-lines.ts';

/** The size from which a message is refused. Events are much smaller. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Returns the value of a message as a line, or the reason why it cannot be read. */
export function lineOf(value: Uint8Array | null): string | UnreadableLine {
  if (value === null || value.length === 0) return { problem: 'it is empty' };
  if (value.length >= MAX_MESSAGE_BYTES) return { problem: 'it has 1 MiB or more' };
  return tryDecodeUtf8(value) ?? { problem: 'it is not UTF-8' };
}

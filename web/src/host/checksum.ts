import { sha256Of } from '../engine/sha256.ts';

/** Returns the SHA-256 of content, in hexadecimal digits. */
export function checksumOf(content: string | Uint8Array): string {
  return sha256Of(typeof content === 'string' ? new TextEncoder().encode(content) : content);
}

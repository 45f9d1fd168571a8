import { gunzipSync, gzipSync } from 'node:zlib';

/** The maximum size of a decoded state, which still fits in one string. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Encodes a state as compressed JSON with a checksum. Fast compression is enough, because most numbers of a state are
 * zeros.
 */
export function encodeState(state: object): Buffer {
  return gzipSync(JSON.stringify(state), { level: 1 });
}

/** Decodes the result of {@link encodeState}. Throws an error if the bytes are damaged. */
export function decodeState(bytes: Uint8Array): unknown {
  return JSON.parse(gunzipSync(bytes, { maxOutputLength: MAX_BYTES }).toString());
}

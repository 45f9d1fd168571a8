/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2). */
const K = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let next = 2; found.length < count; next++) if (found.every((prime) => next % prime !== 0)) found.push(next);
  return found;
}

function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32);
}

/** Returns the SHA-256 of bytes as hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  const state = start();
  const words = new Uint32Array(64);
  const padded = pad(bytes, bytes.length);
  for (let block = 0; block < padded.length; block += 64) compress(state, words, padded, block);
  return digits(state);
}

function start(): Uint32Array {
  return Uint32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));
}

function digits(state: Uint32Array): string {
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

/**
 * Returns the SHA-256 of a file as hexadecimal digits. The function of browsers needs all bytes in memory, and is absent
 * from pages that were not loaded over HTTPS.
 */
export async function sha256(blob: Blob, chunkBytes = 4 * 2 ** 20): Promise<string> {
  const state = start();
  const words = new Uint32Array(64);
  const size = Math.ceil(chunkBytes / 64) * 64;
  for (let from = 0; from < blob.size || from === 0; from += size) {
    const bytes = new Uint8Array(await blob.slice(from, from + size).arrayBuffer());
    const isLast = from + size >= blob.size;
    const padded = isLast ? pad(bytes, blob.size) : bytes;
    for (let block = 0; block < padded.length; block += 64) compress(state, words, padded, block);
  }
  return digits(state);
}

function pad(bytes: Uint8Array, total: number): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, 8n * BigInt(total));
  return padded;
}

function compress(state: Uint32Array, w: Uint32Array, bytes: Uint8Array, block: number): void {
  for (let i = 0; i < 16; i++) {
    const at = block + 4 * i;
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let i = 16; i < 64; i++) {
    const [x, y] = [w[i - 15] as number, w[i - 2] as number];
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] as number) + (w[i] as number)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => (state[index] = ((state[index] as number) + value) | 0));
}

function rotate(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

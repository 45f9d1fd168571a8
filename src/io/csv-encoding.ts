/** Bytes that are looked at. */
export const START_BYTES = 64;

/** What is wrong with the encoding of a text table, and what to do. */
interface EncodingFault {
  readonly reason: string;
  readonly suggestion: string;
}

const UTF_16: EncodingFault = {
  reason: 'it is text in UTF-16',
  suggestion: 'Save it as UTF-8 (CSV UTF-8 in Excel).',
};

/**
 * What the first bytes tell of an encoding that cannot be read: a byte order
 * mark of UTF-16, or NUL bytes. Those of Latin text in UTF-16 are all at even
 * or all at odd places.
 */
export function findEncodingFault(start: Uint8Array): EncodingFault | undefined {
  const [first, second] = start;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return UTF_16;
  const nuls = [...start.keys()].filter((place) => start[place] === 0);
  if (nuls.length === 0) return undefined;
  const isEverySecond = new Set(nuls.map((place) => place % 2)).size === 1 && nuls.length > start.length / 4;
  return isEverySecond
    ? UTF_16
    : { reason: 'it holds NUL bytes, so it is no text', suggestion: 'Export it again as CSV in UTF-8, or as Parquet.' };
}

/** Returns two token lists as numbers, equal tokens as equal numbers, for fast comparison. */
export function encodeTokens(a: readonly string[], b: readonly string[]): [a: Int32Array, b: Int32Array] {
  const codes = new Map<string, number>();
  const encode = (token: string): number => {
    const code = codes.get(token) ?? codes.size;
    codes.set(token, code);
    return code;
  };
  return [Int32Array.from(a, encode), Int32Array.from(b, encode)];
}

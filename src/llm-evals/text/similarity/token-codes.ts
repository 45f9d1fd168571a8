/** Converts two lists of tokens to lists of numbers for fast comparison. Equal tokens have equal numbers. */
export function encodeTokens(a: readonly string[], b: readonly string[]): [a: Int32Array, b: Int32Array] {
  const codes = new Map<string, number>();
  const encode = (token: string): number => {
    const code = codes.get(token) ?? codes.size;
    codes.set(token, code);
    return code;
  };
  return [Int32Array.from(a, encode), Int32Array.from(b, encode)];
}

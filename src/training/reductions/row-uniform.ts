/** Odd constants of MurmurHash3. */
const [FIRST, SECOND] = [0xcc9e2d51, 0x1b873593];

/**
 * A number in [0, 1) from a row of features and a seed, the same wherever and
 * beside whichever rows it stands: two MurmurHash3 streams over the bits of
 * the float64 values give 53 bits. Rows of equal values get equal numbers.
 */
export function rowUniforms(values: ArrayLike<number>, columns: number, seed: number): (row: number) => number {
  const number = new Float64Array(1);
  const halves = new Uint32Array(number.buffer);
  return (row) => {
    let a = mix(seed ^ 0x9e3779b9);
    let b = mix(seed ^ 0x85ebca6b);
    for (let place = row * columns; place < (row + 1) * columns; place++) {
      // -0 and 0 are one value.
      number[0] = (values[place] as number) + 0;
      const [low, high] = [halves[0] as number, halves[1] as number];
      a = absorb(absorb(a, low), high);
      b = absorb(absorb(b, high), low);
    }
    const [high, low] = [mix(a ^ columns) >>> 5, mix(b ^ columns) >>> 6];
    return (high * 67108864 + low) / 9007199254740992;
  };
}

function absorb(state: number, word: number): number {
  let scrambled = Math.imul(word, FIRST);
  scrambled = Math.imul((scrambled << 15) | (scrambled >>> 17), SECOND);
  const mixed = state ^ scrambled;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

import { createRandom } from '../../../src/internal/random.ts';
import type { PlainRows } from './definitions.ts';

/** Generates columns of every kind: dense, far from 0, tiny, with two values other than 0 and 1, one-hot, mostly 0. */
export function makeRows(count: number, seed = 1): PlainRows {
  const random = createRandom(seed);
  const x = Array.from({ length: count }, () => {
    const level = random.integer(3);
    return [
      random.normal(),
      2000 + random.integer(20),
      1e-4 * random.normal(),
      random.next() < 0.3 ? 7 : 3,
      Number(level === 0),
      Number(level === 1),
      random.next() < 0.9 ? 0 : random.next(),
    ];
  });
  const y = x.map(([a = 0, b = 0, c = 0, d = 0, e = 0]) =>
    Number(a + (b - 2010) / 5 + c * 1e4 + (d - 4) / 4 - e + 2 * random.normal() > 0),
  );
  return { x, y, weights: x.map(() => 2 * random.next()) };
}

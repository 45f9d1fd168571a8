import { createRandom } from '../../../src/internal/random.ts';

/** Rows whose groups differ in their base rates, with two features and a column of ones. */
export interface GroupedRows {
  readonly x: number[][];
  readonly y: number[];
  readonly sensitive: string[];
}

export function groupedRows({ rows = 120, groups = 3, seed = 7 } = {}): GroupedRows {
  const random = createRandom(seed);
  const drawn = Array.from({ length: rows }, () => {
    const group = random.integer(groups);
    const first = random.normal() + group * 0.8;
    const second = random.normal();
    return { group, features: [first, second, 1], label: Number(first + second + random.normal() > 1) };
  });
  return {
    x: drawn.map(({ features }) => features),
    y: drawn.map(({ label }) => label),
    sensitive: drawn.map(({ group }) => `g${group}`),
  };
}

import { expect } from 'chai';

import { murmurHash } from '../../../../src/training/murmur-hash.ts';
import {
  drawInSequence,
  drawStably,
} from '../../../../src/training/postprocessing/threshold-optimizer/draw-uniforms.ts';

describe('MurmurHash3, x86, 32 bits', () => {
  // Published test vectors of implementations (Wikipedia, "MurmurHash").
  for (const [text, seed, hash] of [
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['', 0xffffffff, 0x81f16f39],
    ['test', 0, 0xba6bd213],
    ['test', 0x9747b28c, 0x704b81dc],
    ['Hello, world!', 0, 0xc0363e43],
    ['Hello, world!', 0x9747b28c, 0x24884cba],
    ['The quick brown fox jumps over the lazy dog', 0, 0x2e4ff723],
    ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
  ] as const) {
    it(`of '${text}', seed ${seed}`, () => {
      expect(murmurHash(new TextEncoder().encode(text), seed)).to.equal(hash);
    });
  }
});

describe('drawn numbers', () => {
  const count = 20_000;
  for (const [title, draw] of [
    ['in sequence', (seed: number) => drawInSequence(count, seed)],
    ['from rows', (seed: number) => drawStably(count, seed, (row) => [row / count, 'group', null])],
  ] as const) {
    it(`${title}: are uniform in [0, 1)`, () => {
      const sorted = draw(1).sort();
      expect(sorted[0]).to.be.at.least(0);
      expect(sorted.at(-1)).to.be.below(1);
      // Kolmogorov's distance; one sample in a thousand exceeds 1.95 / sqrt(n).
      const distance = sorted.reduce(
        (most, value, index) => Math.max(most, Math.abs(value - (index + 0.5) / count)),
        0,
      );
      expect(distance).to.be.below(1.95 / Math.sqrt(count));
    });

    it(`${title}: another seed gives unrelated numbers`, () => {
      const [one, other] = [draw(1), draw(2)];
      const covariance = one.reduce((sum, value, row) => sum + (value - 0.5) * ((other[row] ?? NaN) - 0.5), 0) / count;
      // For independent numbers, its standard error is 1 / (12 sqrt(n)).
      expect(Math.abs(covariance)).to.be.below(4 / (12 * Math.sqrt(count)));
    });
  }

  it('from rows: each part of a row matters', () => {
    const of = (...content: (string | number | null)[]): number | undefined => drawStably(1, 1, () => content)[0];
    const numbers = [of(0.5, 'a', null), of(0.25, 'a', null), of(0.5, 'b', null), of(0.5, 'a', 1), of(0.5, 'a', '1')];
    expect(new Set(numbers).size).to.equal(numbers.length);
  });
});

import type { Random } from '../internal/random.ts';
import { createNormalSampler } from './draw-normal.ts';

/**
 * A sampler of the gamma distribution with scale 1 by rejection from a cubed
 * normal (Marsaglia and Tsang 2000); below shape 1 a draw at shape + 1 is
 * scaled by U^(1 / shape). Exact; about one normal and one uniform a draw.
 * @param shape above 0
 */
export function createGammaSampler(shape: number, random: Random): () => number {
  if (shape < 1) {
    const draw = createGammaSampler(shape + 1, random);
    return () => draw() * (1 - random.next()) ** (1 / shape);
  }
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  const drawNormal = createNormalSampler(random);
  return () => {
    for (;;) {
      const normal = drawNormal();
      const root = 1 + c * normal;
      if (root <= 0) continue;
      const cube = root * root * root;
      const square = normal * normal;
      const uniform = 1 - random.next();
      // The squeeze spares most draws the logarithms.
      if (uniform < 1 - 0.0331 * square * square) return d * cube;
      if (Math.log(uniform) < 0.5 * square + d - d * cube + d * Math.log(cube)) return d * cube;
    }
  };
}

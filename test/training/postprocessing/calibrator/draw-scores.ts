import { createRandom } from '../../../../src/internal/random.ts';

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
export const logit = (p: number): number => Math.log(p / (1 - p));

/** Draws scores spread over (0, 1), with labels drawn from a probability of each score. */
export function drawScores(
  rows: number,
  probability: (score: number) => number,
  seed = 1,
): { readonly scores: Float64Array; readonly y: Uint8Array } {
  const random = createRandom(seed);
  const scores = Float64Array.from({ length: rows }, () => sigmoid(1.5 * random.normal()));
  const y = Uint8Array.from(scores, (score) => Number(random.next() < probability(score)));
  return { scores, y };
}

/** Assigns all rows to one group. */
export const oneGroup = (rows: number): string[] => Array<string>(rows).fill('g');

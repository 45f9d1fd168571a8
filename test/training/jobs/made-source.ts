import { createRandom } from '../../../src/internal/random.ts';
import type { TrainingSource } from '../../../src/training/data/training-data.ts';

/** A source whose table consists of plain columns. */
export interface MadeSource extends Omit<TrainingSource, 'table'> {
  readonly table: Record<string, (number | string | null)[]>;
}

/**
 * Two groups that differ in a feature that determines the target, with a text and a number that have missing values.
 */
export function makeSource(rows = 1200, seed = 3): MadeSource {
  const random = createRandom(seed);
  const s = Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 'few' : 'many'));
  const x = s.map((group) => random.normal() + (group === 'many' ? 0.8 : -0.8));
  const y = x.map((value) => Number(value + 0.7 * random.normal() > 0));
  return {
    table: {
      x,
      noise: x.map((_, row) => (row % 50 === 7 ? null : random.normal())),
      job: x.map(() => ['clerk', 'nurse'][random.integer(2)] as string),
      s,
      y,
    },
  };
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

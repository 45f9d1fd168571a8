import { createRandom } from '../../../src/internal/random.ts';

/** An event of a random stream. */
export interface MadeEvent extends Record<string, unknown> {
  readonly id: number;
  readonly p: number;
  readonly y: number;
  readonly sex: string | null;
  readonly race: string | null;
  readonly at: number;
}

/** Returns a seeded stream of two attributes; some groups are missing. */
export function randomEvents(count: number, seed = 1): MadeEvent[] {
  const random = createRandom(seed);
  const pick = (labels: readonly string[]): string | null =>
    random.next() < 0.03 ? null : (labels[random.integer(labels.length)] as string);
  return Array.from({ length: count }, (_, id) => {
    const sex = pick(['female', 'male']);
    const y = Number(random.next() < 0.4);
    return {
      id,
      sex,
      race: pick(['a', 'b', 'c']),
      y,
      p: Number(random.next() < (sex === 'female' ? 0.3 : 0.45) + 0.2 * y),
      at: 1_700_000_000_000 + 1000 * id,
    };
  });
}

/** Returns records as columns. */
export function columnsOf(events: readonly MadeEvent[]): Record<string, unknown[]> {
  const names = ['id', 'p', 'y', 'sex', 'race', 'at'] as const;
  return Object.fromEntries(names.map((name) => [name, events.map((event) => event[name])]));
}

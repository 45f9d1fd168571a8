import { createRandom, type Random } from '../../src/internal/random.ts';
import type { PlainRow } from './stats.ts';

/** The shape of random rows. */
export interface Shape {
  readonly rows: number;
  readonly levels: readonly (readonly (string | number | boolean)[])[];
  /** The share of missing values in every column. */
  readonly missing?: number;
  readonly isWeighted?: boolean;
  readonly seed?: number;
}

/** Creates random rows, which are the same for the same seed. */
export function makeRows({ rows, levels, missing = 0, isWeighted = false, seed = 1 }: Shape): PlainRow[] {
  const random = createRandom(seed);
  const orMissing = <T>(value: T): T | null => (random.next() < missing ? null : value);
  const bit = (): 0 | 1 => (random.next() < 0.4 ? 1 : 0);
  return Array.from({ length: rows }, () => ({
    groups: levels.map((own) => orMissing(own[random.integer(own.length)] ?? '')),
    decision: orMissing(bit()),
    label: orMissing(bit()),
    guess: orMissing(100 * random.normal()),
    amount: orMissing(100 * random.normal()),
    score: orMissing(random.integer(50) / 50),
    weight: isWeighted ? orMissing(weightOf(random)) : 1,
  }));
}

/** Returns a random weight: a fraction, and sometimes 0. */
function weightOf(random: Random): number {
  return random.next() < 0.05 ? 0 : 3 * random.next();
}

/** Converts rows to columns; one attribute becomes a column, several an object of columns. */
export function columnsOf(rows: readonly PlainRow[]) {
  const column = <Name extends keyof PlainRow>(name: Name) => rows.map((row) => row[name]);
  const attributes = (rows[0]?.groups ?? []).map((_, index) => rows.map(({ groups }) => groups[index] ?? null));
  return {
    decision: column('decision'),
    label: column('label'),
    guess: column('guess'),
    amount: column('amount'),
    score: column('score'),
    weight: rows.some(({ weight }) => weight !== 1) ? column('weight') : undefined,
    sensitive:
      attributes.length === 1
        ? (attributes[0] ?? [])
        : Object.fromEntries(attributes.map((values, index) => [`attribute ${index}`, values])),
  };
}

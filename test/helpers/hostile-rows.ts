import { createRandom } from '../../src/internal/random.ts';
import { Table } from '../../src/table/index.ts';

/** Labels that SQL could confuse with its syntax. */
export const HOSTILE_LABELS = [
  'female',
  'male',
  "it's",
  '(missing)',
  '||',
  '🐦',
  'a,b',
  '"q"',
  '__proto__',
  "'; DROP TABLE t; --",
  String.raw`back\slash`,
  String.raw`\'; SELECT 1 --`,
  '/* comment */',
  '{a:String}',
  '$1 ? :x %s',
  'ſſ K',
  '男性',
] as const;

/** 3,000 rows with missing values in every column; names and labels that SQL could confuse with its syntax. */
export function hostileRows(seed = 12): Table {
  const random = createRandom(seed);
  return Table.from(
    Array.from({ length: 3000 }, () => {
      const orMissing = <T>(value: T): T | null => (random.next() < 0.05 ? null : value);
      const pick = <T>(values: readonly T[]): T | null => orMissing(values[random.integer(values.length)] as T);
      return {
        y: pick([0, 1]),
        hired: pick([0, 1]),
        'class "x"': pick(['yes', 'no', 'YES']),
        eh_k0: pick(HOSTILE_LABELS),
        w: orMissing(3 * random.next()),
        p: orMissing(1000 + 100 * random.normal()),
        t: orMissing(1000 + 100 * random.normal()),
        exact: pick([0, 0.25, 0.5, 1, -3]),
        score: orMissing(random.next()),
        level: pick([1, 2.5, 10]),
        known: pick(['a', 'b']),
      };
    }),
  );
}

/** The types of the columns in a database. */
export const HOSTILE_COLUMNS = {
  y: 'integer',
  hired: 'integer',
  'class "x"': 'text',
  eh_k0: 'text',
  w: 'double',
  p: 'double',
  t: 'double',
  exact: 'double',
  score: 'double',
  level: 'double',
  known: 'text',
} as const;

/** The sensitive attributes to measure. */
export const HOSTILE_ATTRIBUTES = [['eh_k0'], ['known', 'level'], ['level']] as const;

import { createRandom } from '../../../src/internal/random.ts';
import type { PlainValue } from './plain-tfjs.ts';

/** Rows of two groups with a number that is sometimes missing, a text and a number; y depends on all of them. */
export interface MadeRows {
  readonly records: readonly Readonly<Record<string, PlainValue>>[];
  readonly columns: Readonly<Record<string, readonly PlainValue[]>>;
  readonly y: readonly number[];
  readonly values: readonly number[];
  readonly sensitive: readonly string[];
}

export function makeRows(n = 400, seed = 11): MadeRows {
  const random = createRandom(seed);
  const sensitive = Array.from({ length: n }, (_, row) => (row % 3 === 0 ? 'few' : 'many'));
  const records = sensitive.map((group, row) => ({
    age: row % 17 === 5 ? null : Math.round(40 + 12 * random.normal()),
    job: ['clerk', 'driver', 'nurse'][random.integer(3)] as string,
    priors: random.normal() + (group === 'many' ? 0.8 : -0.8),
  }));
  const values = records.map(
    ({ age, job, priors }) => priors + ((age ?? 40) - 40) / 24 + (job === 'nurse' ? 0.7 : 0) + 0.5 * random.normal(),
  );
  const columnOf = (name: 'age' | 'job' | 'priors'): PlainValue[] => records.map((record) => record[name]);
  return {
    records,
    columns: { age: columnOf('age'), job: columnOf('job'), priors: columnOf('priors') },
    y: values.map((value) => Number(value > 0)),
    values: values.map((value) => 1000 + 250 * value),
    sensitive,
  };
}

/** The two numbers without missing values, as rows of a matrix. */
export function matrixOf({ records }: MadeRows): number[][] {
  return records.map(({ age, priors }) => [(Number(age ?? 40) - 40) / 12, Number(priors)]);
}

import type { CategoricalColumn } from '../../table/index.ts';
import { nameSome } from './name-some.ts';

/** How many rows have no group. */
export function countMissing({ codes }: CategoricalColumn): number {
  let count = 0;
  for (const code of codes) if (code < 0) count++;
  return count;
}

/** "3 rows without a value of 'race'". */
export function nameMissing(count: number, columns: readonly string[]): string {
  return `${count === 1 ? '1 row' : `${String(count)} rows`} without a value of ${nameSome(columns)}`;
}

/** That a fit has left rows out, where it has. */
export function leftOutWarning(count: number, columns: readonly string[]): string[] {
  return count === 0 ? [] : [`${nameMissing(count, columns)} ${count === 1 ? 'is' : 'are'} left out of the fit`];
}

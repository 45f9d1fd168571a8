import type { ABInterval } from './ab-test-fields.ts';

/** What stands in a cell that has no number. */
export const NOTHING = '\u2013';

/** A number for a table: four decimals, or four digits where these would hide it. */
export function numberWords(value: number | null): string {
  if (value === null) return NOTHING;
  const size = Math.abs(value);
  return size !== 0 && (size < 5e-5 || size >= 1e15) ? value.toExponential(3) : value.toFixed(4);
}

/** A change with its sign. */
export function changeWords(value: number | null): string {
  return `${value !== null && value > 0 ? '+' : ''}${numberWords(value)}`;
}

/** An interval from end to end. */
export function intervalWords(interval: ABInterval | null): string {
  return interval === null ? NOTHING : `${changeWords(interval[0])} to ${changeWords(interval[1])}`;
}

/** A p-value in a cell of a table. */
export function pCell(p: number | null): string {
  if (p === null) return NOTHING;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** A number of rows. */
export function countWords(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/** A text with a capital at its start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

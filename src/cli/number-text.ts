/** A whole number with separators: 32,561. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** A number with so many decimals, or the word undefined. */
export function number(value: number, digits = 4): string {
  return Number.isNaN(value) ? 'undefined' : value.toFixed(digits);
}

/** An interval in brackets; nothing where there is none. */
export function range(interval: readonly [number, number] | null): string {
  return interval === null ? '' : `[${interval[0].toFixed(3)}, ${interval[1].toFixed(3)}]`;
}

/** A change with its sign; nothing where it is undefined. */
export function change(value: number): string {
  return Number.isNaN(value) ? '' : `${value > 0 ? '+' : ''}${value.toFixed(4)}`;
}

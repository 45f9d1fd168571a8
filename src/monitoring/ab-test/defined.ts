import type { ABInterval } from './ab-test-fields.ts';

/** A number, or null where it is undefined. */
export function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** An interval, or null where an end is undefined. */
export function definedInterval([low, high]: ABInterval): ABInterval | null {
  return Number.isNaN(low) || Number.isNaN(high) ? null : Object.freeze<ABInterval>([low, high]);
}

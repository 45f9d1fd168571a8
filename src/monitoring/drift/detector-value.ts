import { DataValidationError } from '../../exceptions/index.ts';

/** Sums of squares of values up to this size stay finite for as long as anybody watches. */
const LARGEST_VALUE = 1e100;

/** What values a detector takes: any number, or numbers from 0 to 1 (decisions and shares). */
export type DetectorDomain = 'number' | 'share';

/** Whether a value is a number of the domain; NaN, infinities, text and booleans are not. */
export function isInDomain(value: number, domain: DetectorDomain): boolean {
  if (typeof value !== 'number') return false;
  return domain === 'share' ? value >= 0 && value <= 1 : Math.abs(value) <= LARGEST_VALUE;
}

/** The error of a value that a detector does not take. */
export function invalidValue(detector: string, value: unknown, domain: DetectorDomain): DataValidationError {
  const required = domain === 'share' ? 'a number from 0 to 1' : 'a number from -1e100 to 1e100';
  return new DataValidationError(`The value for ${detector} must be ${required}. Got ${describe(value)} instead.`, {
    context: { argument: 'value', detector, value },
    suggestion: 'Leave out events without a value, and count them apart: the detector has not changed.',
  });
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return (typeof value === 'object' && value !== null) || typeof value === 'function' ? 'an object' : String(value);
}

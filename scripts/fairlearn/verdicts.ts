import type { Convention } from './conventions.ts';
import { isRejection } from './values.ts';

/** The largest deviation, relative to the largest of the compared numbers and 1. */
export const TOLERANCE = 1e-12;

/** A value that differs from fairlearn's, or from what a convention says. */
export interface Difference {
  /** The measure or metric, and what of it differs. */
  readonly what: string;
  readonly own: number | string;
  readonly expected: number | string;
}

/** The result of the comparison of a frame. */
export interface Comparison {
  /** The number of values that were compared with fairlearn's. */
  readonly compared: number;
  readonly differences: readonly Difference[];
  /** How many values differ because of each convention. */
  readonly conventions: ReadonlyMap<Convention, number>;
}

/** Collects the verdicts about the values of a frame. */
export class Verdicts implements Comparison {
  compared = 0;
  readonly differences: Difference[] = [];
  readonly conventions = new Map<Convention, number>();

  /** Expects a number. `scale` is the largest number that went into it. */
  expect(what: string, own: number | undefined, expected: number, scale = 0): void {
    this.compared += 1;
    if (own !== undefined && isClose(own, expected, scale)) return;
    this.differences.push({ what, own: own ?? 'missing', expected });
  }

  /** Expects a number that follows from a convention instead of fairlearn's. */
  expectByConvention(what: string, own: number | undefined, expected: number, convention: Convention, scale = 0): void {
    this.count(convention);
    if (own === undefined || !isClose(own, expected, scale)) this.fail(what, own ?? 'missing', expected);
  }

  /** Expects that the package has no number where fairlearn has one, or none either. */
  expectNone(what: string, own: number | undefined, theirs: number, convention: Convention): void {
    if (Number.isNaN(theirs)) {
      this.expect(what, own, NaN);
      return;
    }
    this.count(convention);
    if (own === undefined || !Number.isNaN(own)) this.fail(what, own ?? 'missing', `NaN (${convention})`);
  }

  /** Expects that the package rejects a frame without the positive label. */
  expectRejection(what: string, own: unknown): void {
    this.count('no row of the positive label');
    const isExpected = isRejection(own) && own.error.includes('holds the positive label');
    if (!isExpected) this.fail(what, 'values', 'an error about the positive label');
  }

  fail(what: string, own: number | string, expected: number | string): void {
    this.differences.push({ what, own, expected });
  }

  count(convention: Convention): void {
    this.conventions.set(convention, (this.conventions.get(convention) ?? 0) + 1);
  }
}

function isClose(own: number, expected: number, scale: number): boolean {
  if (Number.isNaN(expected)) return Number.isNaN(own);
  if (own === expected) return true;
  return Math.abs(own - expected) <= TOLERANCE * Math.max(1, scale, Math.abs(own), Math.abs(expected));
}

import { expect } from 'chai';

import { ValueError } from '../../src/exceptions/index.ts';
import {
  requireCount,
  requireInteger,
  requireLevel,
  requireRate,
  requireSeed,
  requireSuccesses,
} from '../../src/stats/parameters.ts';

describe('checks of parameters', () => {
  for (const [name, check, accepted, rejected, expected] of [
    ['a level', (own: number) => requireLevel('x', own), [1e-9, 0.5, 1 - 1e-9], [0, 1, -0.1, 1.1, NaN], 'be a number between 0 and 1, both excluded'],
    ['a rate', (own: number) => requireRate('x', own), [0, 0.5, 1], [-1e-9, 1 + 1e-9, NaN], 'be a number from 0 to 1'],
    ['an integer with two bounds', (own: number) => requireInteger('x', own, 2, 5), [2, 3, 5], [1, 6, 2.5, NaN], 'be a whole number of at least 2 and at most 5'],
    ['an integer with one bound', (own: number) => requireInteger('x', own, 2), [2, 2 ** 53 - 1], [1, 2 ** 53, Infinity], 'be a whole number of at least 2'],
    ['a seed', (own: number) => requireSeed(own, 'x'), [0, -7, 2 ** 53 - 1], [0.5, NaN, Infinity, 2 ** 53], 'be a whole number'],
    ['a count', (own: number) => requireCount('x', own), [0, 2.5, 1e300], [-1e-9, Infinity, NaN], 'be a finite number of at least 0'],
    ['successes', (own: number) => requireSuccesses('x', own, 'n', 4), [0, 2.5, 4], [-1e-9, 4.1, NaN], 'be a number from 0 to n = 4'],
  ] as const) {
    it(`accepts ${name} within its bounds, and names the bounds otherwise`, () => {
      for (const value of accepted) expect(check(value)).to.equal(value);
      for (const value of rejected) {
        expect(() => check(value)).to.throw(ValueError, `The x parameter must ${expected}. Got ${String(value)} instead.`);
      }
    });
  } // prettier-ignore

  it('calls a seed by its usual name', () => {
    expect(() => requireSeed(0.5)).to.throw(ValueError, 'The seed parameter must be a whole number. Got 0.5 instead.');
  });
});

import fc from 'fast-check';

/** The seed of every property. If a property fails, fast-check prints the seed and the smallest failing case. */
export const SEED = 20_260;

/** The share of the random inputs that a test uses. */
let share = 1;

/** Asserts a property over random inputs. */
export function check<Input>(input: fc.Arbitrary<Input>, law: (input: Input) => void, numRuns = 100): void {
  fc.assert(fc.property(input, law), { seed: SEED, numRuns: Math.ceil(share * numRuns) });
}

/** Tests that a property holds for the first quarter of the random inputs, and in the slow tests for all of them. */
export function itHolds(title: string, assertHolds: () => void): void {
  it(title, () => {
    share = 0.25;
    try {
      assertHolds();
    } finally {
      share = 1;
    }
  });
  it(`${title}, for all inputs @slow`, assertHolds);
}

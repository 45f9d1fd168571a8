import fc from 'fast-check';

/** The seed of every property. If a property fails, fast-check prints the seed and the smallest failing case. */
const SEED = 20_260;

/** Asserts a property over random inputs. */
export function check<Input>(input: fc.Arbitrary<Input>, law: (input: Input) => void, numRuns = 100): void {
  fc.assert(fc.property(input, law), { seed: SEED, numRuns });
}

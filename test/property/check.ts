import fc from 'fast-check';

/** The seed of every property; fast-check prints it, with the smallest case that fails, where one does. */
const SEED = 20_260;

/** Asserts a law over random inputs. */
export function check<Input>(input: fc.Arbitrary<Input>, law: (input: Input) => void, numRuns = 100): void {
  fc.assert(fc.property(input, law), { seed: SEED, numRuns });
}

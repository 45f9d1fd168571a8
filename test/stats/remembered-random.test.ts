import { expect } from 'chai';
import fc from 'fast-check';

import { createRandom, rememberedRandom } from '../../src/internal/random.ts';
import { drawMaxT } from '../../src/stats/max-t.ts';
import { estimateRates } from '../../src/stats/rate-family.ts';
import { check } from '../property/check.ts';

describe('rememberedRandom', () => {
  it('gives the numbers of createRandom, one by one and together, also beyond the remembered ones', () => {
    check(
      fc.tuple(fc.integer({ min: 0, max: 30 }), fc.array(fc.oneof(fc.nat(50), fc.constantFrom(0, 3000, 40_000)), { maxLength: 6 })), // prettier-ignore
      ([seed, counts]) => {
        const expected = createRandom(seed);
        const random = rememberedRandom(seed);
        for (const count of counts) {
          expect(random.next()).to.equal(expected.next());
          const taken = random.take(count);
          expect(taken.length).to.equal(count);
          for (const number of taken) if (number !== expected.next()) expect.fail('another number');
          expect(random.normal()).to.equal(expected.normal());
          expect(random.integer(10)).to.equal(expected.integer(10));
        }
      },
      200,
    );
  });
});

describe('drawMaxT', () => {
  const group = fc
    .tuple(
      fc.oneof(fc.integer({ min: 10, max: 60 }), fc.integer({ min: 10, max: 30_000 })),
      fc.double({ min: 0, max: 1, noNaN: true }),
    ) // prettier-ignore
    .map(([trials, share]) => ({ trials, successes: Math.round(trials * share) }));
  const families = fc.array(
    fc.tuple(fc.constantFrom('rates', 'log-rates'), fc.array(group, { minLength: 2, maxLength: 5 })),
    { minLength: 1, maxLength: 3 },
  );

  it('gives the same maxima from tables as from one draw after another', () => {
    check(fc.tuple(families, fc.integer({ min: 0, max: 99 })), ([given, seed]) => {
      const draw = (usesTables: boolean, random = usesTables ? rememberedRandom(seed) : createRandom(seed)) => {
        const estimated = given.map(([kind, groups]) =>
          estimateRates(
            { kind, trials: groups.map(({ trials }) => trials), successes: groups.map(({ successes }) => successes) },
            random,
          ),
        );
        if (usesTables) expect(estimated.map((family) => family.tables?.() !== undefined)).to.not.include(false);
        return drawMaxT(
          usesTables ? estimated : estimated.map((family) => ({ ...family, tables: () => undefined })),
          50,
          random,
        );
      };
      expect(draw(true)).to.deep.equal(draw(false));
    });
  });
});

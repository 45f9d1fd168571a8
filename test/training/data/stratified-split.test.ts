import { expect } from 'chai';
import fc from 'fast-check';

import { stratifiedSplit } from '../../../src/training/data/row-splits.ts';

describe('stratified split', () => {
  it('assigns every row to one part', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), fc.integer(), (strata, seed) => {
        const parts = stratifiedSplit(strata, [0.5, 0.3, 0.2], seed);
        const rows = parts.flatMap((part) => [...part]).sort((a, b) => a - b);
        expect(rows).to.deep.equal([...strata.keys()]);
      }),
    );
  });

  it('gives each part its share of every stratum, to a row', () => {
    const strata = Array.from({ length: 1000 }, (_, row) => (row % 10 === 0 ? 1 : 0));
    const [train, test] = stratifiedSplit(strata, [0.8, 0.2], 1);
    const ofOne = (rows: Int32Array | undefined): number => [...(rows ?? [])].filter((row) => strata[row] === 1).length;
    expect([train?.length, test?.length, ofOne(train), ofOne(test)]).to.deep.equal([800, 200, 80, 20]);
  });

  it('keeps the total sizes of the parts even if strata have single rows', () => {
    const strata = Array.from({ length: 100 }, (_, row) => row);
    const [train, test] = stratifiedSplit(strata, [0.8, 0.2], 3);
    expect([train?.length, test?.length]).to.deep.equal([80, 20]);
  });

  it('is the same for the same seed, and differs for another', () => {
    const strata = new Int32Array(50);
    expect(stratifiedSplit(strata, [0.5, 0.5], 1)).to.deep.equal(stratifiedSplit(strata, [0.5, 0.5], 1));
    expect(stratifiedSplit(strata, [0.5, 0.5], 1)).to.not.deep.equal(stratifiedSplit(strata, [0.5, 0.5], 2));
  });
});

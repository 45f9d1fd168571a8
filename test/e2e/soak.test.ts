import { expect } from 'chai';

import { growthOf } from '../../scripts/soak.ts';

describe('the soak of the service', () => {
  it('compares the last fifth of the samples with the second, and ignores the warm-up', () => {
    // The means are 200 and 300.
    expect(growthOf([1, 50, 150, 250, 200, 200, 200, 200, 250, 350])).to.equal(1.5);
    expect(growthOf([1, 400, 400, 400, 400])).to.equal(1);
    expect(growthOf([100, 400, 300, 200, 100])).to.equal(0.25);
  });
});

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { checkNumerics, NUMERICS_CASES } from '../../src/numerics/check-numerics.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** A kernel is compiled when it is used for the first time. */
const CASE_LIMIT_MILLIS = 60_000;

describe('the cases of tensor ops', () => {
  it('have unique names', () => {
    const names = NUMERICS_CASES.map(({ op, name }) => `${op}: ${name}`);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('have tolerances that float32 needs, and at most a thousandth', () => {
    for (const { tolerance } of NUMERICS_CASES) expect(tolerance).to.be.within(0, 1e-3);
  });
});

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `every tensor op against float64, on ${backend}`, () => {
    onDevice(backend);

    for (const one of NUMERICS_CASES) {
      it(`${one.op}: ${one.name}, to ${one.tolerance.toExponential(0)}`, async function () {
        this.timeout(CASE_LIMIT_MILLIS);
        const [finding] = await checkNumerics(tf, [one]);
        expect(finding?.reason).to.equal(null);
        expect(finding?.passes).to.equal(true);
      });
    }
  });
}

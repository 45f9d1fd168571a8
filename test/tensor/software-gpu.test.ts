import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { loadTensorflow } from '../../src/tensor/index.ts';
import { describeOnSoftwareGpu, softwareGpuEnv } from '../helpers/software-gpu.ts';

/** Collects garbage, with V8's own function. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** The state that a suite on a software GPU must not change for others. */
interface Surroundings {
  readonly driver: string | undefined;
  readonly hasNavigator: boolean;
}

function surroundings(): Surroundings {
  return { driver: process.env['VK_DRIVER_FILES'], hasNavigator: 'navigator' in globalThis };
}

describe('a software GPU in tests @slow', () => {
  let earlier: Surroundings;
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
    earlier = surroundings();
  });

  describeOnSoftwareGpu('while its suite runs', () => {
    it('computes the tensors, with the driver that was found', async () => {
      expect(tf.getBackend()).to.equal('webgpu');
      expect(process.env['VK_DRIVER_FILES']).to.equal(softwareGpuEnv()?.VK_DRIVER_FILES);
      const product = tf.matMul(tf.ones([100, 30]), tf.ones([30, 2]));
      expect(new Set(await product.data())).to.deep.equal(new Set([30]));
      product.dispose();
    });
  });

  // A separate suite, because Mocha runs the tests of a suite before its nested suites.
  describe('after its suite', () => {
    it('leaves the backend, the environment and the navigator as they were', () => {
      expect(tf.getBackend()).to.equal('cpu');
      expect(surroundings()).to.deep.equal(earlier);
    });
  });

  describeOnSoftwareGpu('in a later suite', () => {
    it('still computes after garbage collection, although the global object does not reference it', async () => {
      collectGarbage();
      const sum = tf.matMul(tf.ones([200, 300]), tf.ones([300, 200])).sum();
      collectGarbage();
      expect([...(await sum.data())]).to.deep.equal([200 * 300 * 200]);
      sum.dispose();
    });
  });
});

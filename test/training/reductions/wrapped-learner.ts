import { expect } from 'chai';

import type { ReductionsOptions } from '../../../src/training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { LeastSquares } from './least-squares.ts';

/** Creates a reduction of least squares, with a bound of 0.05. */
export function wrap(options: ReductionsOptions = {}): ReductionsWrapper {
  const isValue = options.constraint === 'bounded_group_loss' && options.loss !== 'zero_one';
  return new ReductionsWrapper({ estimator: new LeastSquares({ isClassifier: !isValue }), eps: 0.05, ...options });
}

/** Returns what some work throws. */
export async function failure(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** Checks the values that must agree between two fits that differ only in names, order or form. */
export function expectSame({ result: own }: ReductionsWrapper, { result: other }: ReductionsWrapper): void {
  expect(own.oracleCalls).to.equal(other.oracleCalls);
  expect(own.bestIteration).to.equal(other.bestIteration);
  for (const [index, weight] of other.weights.entries()) expect(own.weights[index]).to.be.closeTo(weight, 1e-9);
  for (const [index, step] of other.history.entries()) {
    expect(own.history[index]?.error).to.be.closeTo(step.error, 1e-9);
    expect(own.history[index]?.violation).to.be.closeTo(step.violation, 1e-9);
  }
}

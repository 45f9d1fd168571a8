import { expect } from 'chai';

import { TrainingError } from '../../../src/exceptions/index.ts';
import { minimise, type Objective } from '../../../src/pipeline/transformers/representations/minimise.ts';

/** Rosenbrock's valley, in pairs of dimensions; its minimum 0 is at the point with all coordinates 1. */
const rosenbrock: Objective = (point, gradient) => {
  let value = 0;
  for (let index = 0; index < point.length; index += 2) {
    const [x, y] = [point[index] ?? NaN, point[index + 1] ?? NaN];
    value += 100 * (y - x * x) ** 2 + (1 - x) ** 2;
    gradient[index] = -400 * x * (y - x * x) - 2 * (1 - x);
    gradient[index + 1] = 200 * (y - x * x);
  }
  return value;
};

/** |x| + x^2 / 2, with a kink at its minimum. */
const kink: Objective = (point, gradient) => {
  const [x = NaN] = point;
  gradient[0] = Math.sign(x) + x;
  return Math.abs(x) + (x * x) / 2;
};

describe('minimise', () => {
  for (const size of [2, 10, 40]) {
    it(`finds the end of Rosenbrock's valley in ${size} dimensions`, async () => {
      const start = Float64Array.from({ length: size }, (_, index) => (index % 2 === 0 ? -1.2 : 1));
      const { point, hasConverged } = await minimise(rosenbrock, start, { maxIterations: 1000 });
      expect(hasConverged).to.equal(true);
      for (const value of point) expect(value).to.be.closeTo(1, 1e-4);
    });
  }

  it('converges near a kink', async () => {
    const { point } = await minimise(kink, Float64Array.of(3.7), { maxIterations: 200 });
    expect(point[0]).to.be.closeTo(0, 1e-6);
  });

  it('stays where it starts if that is a minimum', async () => {
    const { iterations, hasConverged } = await minimise(rosenbrock, Float64Array.of(1, 1), { maxIterations: 5 });
    expect({ iterations, hasConverged }).to.deep.equal({ iterations: 0, hasConverged: true });
  });

  it('never increases the value, and reports each step', async () => {
    const values: number[] = [];
    const steps: number[] = [];
    const start = Float64Array.of(-1.2, 1);
    for (let maxIterations = 1; maxIterations <= 12; maxIterations++) {
      values.push((await minimise(rosenbrock, start, { maxIterations })).value);
    }
    expect(values).to.deep.equal([...values].sort((a, b) => b - a));
    await minimise(rosenbrock, start, { maxIterations: 3, onStep: (done) => steps.push(done) });
    expect(steps).to.deep.equal([1, 2, 3]);
  });

  it('reports that the iterations ran out', async () => {
    const { hasConverged, iterations } = await minimise(rosenbrock, Float64Array.of(-1.2, 1), { maxIterations: 3 });
    expect({ hasConverged, iterations }).to.deep.equal({ hasConverged: false, iterations: 3 });
  });

  it('respects a signal', async () => {
    const reason = new Error('enough');
    const options = { maxIterations: 100, signal: AbortSignal.abort(reason) };
    const failure = await minimise(rosenbrock, Float64Array.of(0, 0), options).catch((error: unknown) => error);
    expect(failure).to.equal(reason);
  });

  it('rejects a start without a finite value', async () => {
    const failure = await minimise(() => NaN, Float64Array.of(0), { maxIterations: 1 }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(TrainingError);
  });
});

import { expect } from 'chai';

import { DataValidationError, TrainingError } from '../../../src/exceptions/index.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { estimatorFromJson } from '../../../src/training/estimators/estimator-from-json.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { MlLogisticRegression } from '../../../src/training/estimators/ml-logistic-regression.ts';
import { makeRows } from './mixed-rows.ts';

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('estimators on rows of extreme size', () => {
  const tiny = [[0], [1e-320], [0], [2e-320]];
  const NOT_FINITE: readonly [string, () => Promise<unknown>][] = [
    ['an intercept', () => new LinearRegression().fit([[3], [4], [5]], [1e300, -1e300, 1.5e308])],
    ['a mean', () => new LinearRegression().fit([[3], [4], [5]], [1.7e308, -1.7e308, 1])],
    ['a slope', () => new LinearRegression().fit(tiny, [0, 1, 0, 2])],
    ['log odds', () => new LogisticRegression({ l2: 0, precision: 'float64' }).fit(tiny, [0, 1, 1, 0])],
  ];
  for (const [what, fit] of NOT_FINITE) {
    it(`reject ${what} that is not finite`, async () => {
      const error = await failure(fit());
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as TrainingError).message).to.match(/not finite/);
      expect((error as TrainingError).suggestion).to.match(/standardise/);
    });
  }

  const PRECISIONS = [
    ['float64', undefined, 1e-9],
    ['float32', 'wasm', 1e-4],
  ] as const;
  for (const [precision, backend, tolerance] of PRECISIONS) {
    it(`learn the same from weights in any unit, with the penalty in the same unit: ${precision}`, async () => {
      const { x, y } = makeRows(200);
      for (const l2 of [0, 2]) {
        const logistic = await new LogisticRegression({ l2, precision, backend }).fit(x, y);
        const linear = await new LinearRegression({ l2, precision, backend }).fit(x, y);
        for (const unit of [1e-200, 1e-50, 1e39, 1e200]) {
          const options = { l2: l2 * unit, precision, backend };
          const sampleWeight = y.map(() => unit);
          const scaled = await new LogisticRegression(options).fit(x, y, { sampleWeight });
          scaled.coefficients.forEach((value, column) => {
            expect(value).to.be.closeTo(logistic.coefficients[column] ?? NaN, tolerance);
          });
          expect(scaled.deviance / unit / logistic.deviance).to.be.closeTo(1, 1e-5);
          expect(scaled.converged).to.equal(true);
          const scaledLinear = await new LinearRegression(options).fit(x, y, { sampleWeight });
          scaledLinear.coefficients.forEach((value, column) => {
            expect(value).to.be.closeTo(linear.coefficients[column] ?? NaN, tolerance);
          });
        }
      }
    });
  }

  for (const create of [
    () => new LogisticRegression({ precision: 'float64' }),
    () => new LinearRegression(),
    () => new MlLogisticRegression(),
  ]) {
    it(`reject weights whose sum overflows: ${create().constructor.name}`, async () => {
      const error = await failure(create().fit([[1], [2]], [0, 1], { sampleWeight: [1e308, 1e308] }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(/sampleWeight/);
    });
  }

  it('reject class weights whose sum overflows', async () => {
    const model = new LogisticRegression({ classWeight: { 0: 1e308, 1: 1 }, precision: 'float64' });
    expect(await failure(model.fit([[1], [2], [3]], [0, 0, 1]))).to.be.instanceOf(TrainingError);
  });
});

describe('warnings about nearly collinear columns', () => {
  it('do not promise equal predictions if the fit has not converged', async () => {
    const x = Array.from({ length: 30 }, (_, row) => [row, row + 1e-9 * ((row * 7) % 5)]);
    const y = x.map((_, row) => (row * 5) % 11);
    const { warnings, converged } = await new LinearRegression().fit(x, y);
    expect(warnings.join()).to.match(/collinear up to rounding/);
    expect(warnings.join().includes('predict the same')).to.equal(converged);
  });
});

describe('estimators whose JSON was modified', () => {
  const CHANGED: readonly [string, { toJSON(): { kind: string; params: object } }, object][] = [
    ['a negative penalty', new LogisticRegression(), { l2: -1 }],
    ['no iterations', new LogisticRegression(), { max_iterations: 0 }],
    ['a class weight of 0', new LogisticRegression(), { class_weight: { 0: 0 } }],
    ['a negative penalty', new LinearRegression(), { l2: -1 }],
    ['half a step', new MlLogisticRegression(), { num_steps: 0.5 }],
    ['a probability of 2', new ConstantClassifier(0.5), { probability: 2 }],
  ];
  for (const [title, model, change] of CHANGED) {
    it(`are rejected as invalid data with ${title}: ${model.constructor.name}`, () => {
      const json = model.toJSON();
      const read = (): unknown => estimatorFromJson({ ...json, params: { ...json.params, ...change } });
      expect(read).to.throw(DataValidationError, json.kind);
    });
  }

  it('are rejected if the kind is not text', () => {
    for (const kind of [5, null, { toString: 5 }]) {
      expect(() => estimatorFromJson({ kind, params: {}, state: null })).to.throw(DataValidationError);
    }
  });

  it('keep the deviance', async () => {
    const model = await new LogisticRegression({ precision: 'float64' }).fit([[0], [1], [2], [3]], [0, 1, 0, 1]);
    const copy = LogisticRegression.fromJSON(JSON.parse(JSON.stringify(model)));
    expect(copy.deviance).to.equal(model.deviance);
    expect(copy.toJSON()).to.deep.equal(model.toJSON());
  });
});

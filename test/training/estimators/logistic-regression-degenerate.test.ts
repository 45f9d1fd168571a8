import { expect } from 'chai';

import {
  LogisticRegression,
  type LogisticRegressionOptions,
} from '../../../src/training/estimators/logistic-regression.ts';
import { makeRows } from './mixed-rows.ts';

const PRECISIONS: LogisticRegressionOptions[] = [{ precision: 'float64' }, { precision: 'float32', backend: 'wasm' }];

for (const how of PRECISIONS) {
  describe(`LogisticRegression in ${how.precision}, on degenerate rows,`, () => {
    const precise = how.precision === 'float64';

    it('warns about classes that a plane separates, and stops', async () => {
      const model = await new LogisticRegression({ l2: 0, ...how }).fit([[1], [2], [4], [5]], [0, 0, 1, 1]);
      expect(model.converged).to.equal(true);
      expect(model.warnings).to.have.length(1);
      expect(model.warnings[0]).to.match(/separate the classes/);
      expect(model.coefficients[0]).to.be.within(5, 1000);
      expect(model.deviance).to.be.below(1e-6);
    });

    it('warns about classes that are separated only among some rows', async () => {
      // All rows with the feature are of class 1; the others have odds of 1.
      const x = [[1], [1], [0], [0], [0], [0]];
      const model = await new LogisticRegression({ l2: 0, ...how }).fit(x, [1, 1, 0, 1, 0, 1]);
      expect(model.warnings.join()).to.match(/separate the classes/);
      expect((await model.predictProba([[1], [0]])).map((value) => Math.round(value * 1e6) / 1e6)).to.deep.equal(
        Float64Array.of(1, 0.5),
      );
    });

    it('does not mistake a loose tolerance for separated classes', async () => {
      const { x, y } = makeRows(300);
      for (const tolerance of [0.1, 1e-2, 1e-3, 1e-4]) {
        const model = await new LogisticRegression({ l2: 0, tolerance, ...how }).fit(x, y);
        expect([model.converged, model.warnings]).to.deep.equal([true, []]);
      }
    });

    it('predicts the log odds without any features', async () => {
      const model = await new LogisticRegression(how).fit([[], [], []], [1, 1, 0]);
      expect(model.intercept).to.be.closeTo(Math.log(2), 1e-6);
      expect((await model.predictProba([[], []]))[1]).to.be.closeTo(2 / 3, 1e-6);
    });

    it('does not warn about separated classes if a penalty bounds the coefficients', async () => {
      const model = await new LogisticRegression(how).fit([[1], [2], [4], [5]], [0, 0, 1, 1]);
      expect([model.converged, model.warnings]).to.deep.equal([true, []]);
    });

    it('gives a constant column a coefficient of 0, and names it', async () => {
      const { x, y } = makeRows(100);
      const plain = await new LogisticRegression({ l2: 0, ...how }).fit(x, y);
      const model = await new LogisticRegression({ l2: 0, ...how }).fit(
        x.map((row) => [0.1, ...row]),
        y,
      );
      expect(model.coefficients[0]).to.equal(0);
      expect(model.warnings).to.deep.equal(['column 0: only one value, so the coefficient is 0']);
      expect([...model.coefficients.slice(1)]).to.deep.equal([...plain.coefficients]);
    });

    it('shares a coefficient between collinear columns, and warns', async () => {
      const { x, y } = makeRows(300);
      const single = await new LogisticRegression({ l2: 0, ...how }).fit(
        x.map(([a = 0]) => [a]),
        y,
      );
      const twice = await new LogisticRegression({ l2: 0, ...how }).fit(
        x.map(([a = 0]) => [a, a]),
        y,
      );
      const half = (single.coefficients[0] ?? NaN) / 2;
      const tolerance = precise ? 1e-6 : 1e-4;
      for (const value of twice.coefficients) expect(value).to.be.closeTo(half, tolerance);
      expect(twice.warnings.join()).to.match(/columns are collinear/);
      expect(twice.converged).to.equal(true);
    });

    it('treats a penalised pair of equal columns as one column with half the penalty', async () => {
      // With b in both columns, the penalty l2 / 2 (b^2 + b^2) is that of 2b under l2 / 2.
      const { x, y } = makeRows(300);
      const single = await new LogisticRegression({ l2: 2, ...how }).fit(
        x.map(([a = 0]) => [a]),
        y,
      );
      const twice = await new LogisticRegression({ l2: 4, ...how }).fit(
        x.map(([a = 0]) => [a, a]),
        y,
      );
      const tolerance = precise ? 1e-9 : 1e-5;
      expect(twice.coefficients[0]).to.be.closeTo((single.coefficients[0] ?? NaN) / 2, tolerance);
      expect(twice.warnings).to.deep.equal([]);
    });
  });
}

import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { LinearRegression, type LinearRegressionOptions } from '../../../src/training/estimators/linear-regression.ts';
import { largestDistance } from './definitions.ts';

const PRECISIONS: LinearRegressionOptions[] = [{ precision: 'float64' }, { precision: 'float32', backend: 'wasm' }];

/**
 * Longley (1967), An appraisal of least squares programs for the electronic computer, and its certified values: NIST
 * Statistical Reference Datasets. Its level of difficulty is higher, because the columns are nearly collinear.
 */
const LONGLEY = {
  y: [60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761, 66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551],
  x: [
    [83, 234289, 2356, 1590, 107608, 1947],
    [88.5, 259426, 2325, 1456, 108632, 1948],
    [88.2, 258054, 3682, 1616, 109773, 1949],
    [89.5, 284599, 3351, 1650, 110929, 1950],
    [96.2, 328975, 2099, 3099, 112075, 1951],
    [98.1, 346999, 1932, 3594, 113270, 1952],
    [99, 365385, 1870, 3547, 115094, 1953],
    [100, 363112, 3578, 3350, 116219, 1954],
    [101.2, 397469, 2904, 3048, 117388, 1955],
    [104.6, 419180, 2822, 2857, 118734, 1956],
    [108.4, 442769, 2936, 2798, 120445, 1957],
    [110.8, 444546, 4681, 2637, 121950, 1958],
    [112.6, 482704, 3813, 2552, 123366, 1959],
    [114.2, 502601, 3931, 2514, 125368, 1960],
    [115.7, 518173, 4806, 2572, 127852, 1961],
    [116.9, 554894, 4007, 2827, 130081, 1962],
  ],
  coefficients: [
    15.0618722713733, -0.035819179292591, -2.02022980381683, -1.03322686717359, -0.0511041056535807, 1829.15146461355,
  ],
  intercept: -3482258.63459582,
};

describe('LinearRegression', () => {
  it("has the certified coefficients of Longley's data, to 10 digits", async () => {
    const model = await new LinearRegression().fit(LONGLEY.x, LONGLEY.y);
    LONGLEY.coefficients.forEach((certified, column) => {
      expect((model.coefficients[column] ?? NaN) / certified, `column ${column}`).to.be.closeTo(1, 1e-10);
    });
    expect(model.intercept / LONGLEY.intercept).to.be.closeTo(1, 1e-10);
    expect([model.converged, model.warnings]).to.deep.equal([true, []]);
  });

  for (const how of PRECISIONS) {
    describe(`in ${how.precision}`, () => {
      const tolerance = how.precision === 'float64' ? 1e-12 : 1e-6;

      it('fits rows on a plane exactly', async () => {
        const x = [
          [0, 0],
          [1, 0],
          [0, 1],
          [2, 3],
        ];
        const model = await new LinearRegression(how).fit(
          x,
          x.map(([a = 0, b = 0]) => 1 + 2 * a - 3 * b),
        );
        expect(largestDistance([...model.coefficients, model.intercept], [2, -3, 1])).to.be.below(10 * tolerance);
      });

      it('has the weighted slope S_xy / (S_xx + l2) for one feature', async () => {
        const [x, y, weights] = [
          [1, 2, 4, 7],
          [2, 3, 3, 9],
          [1, 0.5, 2, 1.5],
        ];
        const mean = (values: number[]) =>
          values.reduce((sum, value, row) => sum + value * (weights[row] ?? NaN), 0) / 5;
        const products = (a: number[], b: number[]) =>
          a.reduce(
            (sum, value, row) => sum + (weights[row] ?? NaN) * (value - mean(a)) * ((b[row] ?? NaN) - mean(b)),
            0,
          );
        for (const l2 of [0, 3]) {
          const model = await new LinearRegression({ l2, ...how }).fit(
            x.map((value) => [value]),
            y,
            {
              sampleWeight: weights,
            },
          );
          const slope = products(x, y) / (products(x, x) + l2);
          expect(model.coefficients[0]).to.be.closeTo(slope, tolerance);
          expect(model.intercept).to.be.closeTo(mean(y) - slope * mean(x), 10 * tolerance);
        }
      });

      it('shares a coefficient between collinear columns, and warns', async () => {
        const x = [[1], [2], [3], [5]].map(([a = 0]) => [a, a]);
        const model = await new LinearRegression(how).fit(x, [2, 4, 6, 10]);
        for (const value of model.coefficients) expect(value).to.be.closeTo(1, 1e-4);
        expect((await model.predict([[10, 10]]))[0]).to.be.closeTo(20, 1e-3);
        expect(model.warnings.join()).to.match(/columns are collinear/);
      });

      it('fits rows exactly if there are fewer rows than features', async () => {
        const x = [
          [1, 2, 0],
          [0, 1, 4],
        ];
        const model = await new LinearRegression(how).fit(x, [3, -1]);
        expect(largestDistance(await model.predict(x), [3, -1])).to.be.below(1e-4);
      });

      it('keeps the precision of targets far from 0', async () => {
        const x = [[0], [1], [2], [3]];
        const model = await new LinearRegression(how).fit(
          x,
          x.map(([a = 0]) => 5e8 + a),
        );
        expect(model.coefficients[0]).to.be.closeTo(1, 1e-6);
        expect((await model.predict([[10]]))[0]).to.be.closeTo(5e8 + 10, 1e-5);
      });

      it('predicts one value if all targets are equal', async () => {
        const model = await new LinearRegression(how).fit([[1], [2], [3]], [0.1, 0.1, 0.1]);
        expect([...model.coefficients, model.intercept]).to.deep.equal([0, 0.1]);
        expect(model.converged).to.equal(true);
      });
    });
  }

  it('clips probabilities to [0, 1], and decides by a threshold on values', async () => {
    const model = await new LinearRegression().fit([[0], [1]], [0, 1]);
    const x = [[-1], [0.25], [2]];
    expect(largestDistance(await model.predict(x), [-1, 0.25, 2])).to.be.below(1e-12);
    expect(largestDistance(await model.predictProba(x), [0, 0.25, 1])).to.be.below(1e-12);
    expect(await model.predict(x, { threshold: 0.5 })).to.deep.equal(Uint8Array.of(0, 0, 1));
  });

  it('equals in float32 the result in float64, to 1e-5', async () => {
    const random = createRandom(4);
    const x = Array.from({ length: 20_000 }, () => [random.normal(), 2000 + random.integer(30), random.integer(2)]);
    const y = x.map(([a = 0, b = 0, c = 0]) => 1e4 * (a + b / 10 + c + random.normal()));
    const [exact, quick] = await Promise.all(PRECISIONS.map((how) => new LinearRegression(how).fit(x, y)));
    exact?.coefficients.forEach((value, column) => {
      expect((quick?.coefficients[column] ?? NaN) / value).to.be.closeTo(1, 1e-5);
    });
  });

  const refusals: [LinearRegressionOptions, RegExp][] = [
    [{ l2: -1 }, /l2 parameter must be 0 or more\. Got -1 instead/],
    [{ l2: NaN }, /l2/],
    [{ precision: 'double' as 'float64' }, /precision parameter must be one of float32, float64/],
  ];
  for (const [options, message] of refusals) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new LinearRegression(options)).to.throw(ValueError, message);
    });
  }
});

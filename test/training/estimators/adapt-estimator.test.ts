import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import type { Matrix } from '../../../src/training/data/read-matrix.ts';
import { adaptEstimator, type EstimatorSource, toEstimator } from '../../../src/training/estimators/adapt-estimator.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { estimatorFromJson } from '../../../src/training/estimators/estimator-from-json.ts';
import { isEstimator } from '../../../src/training/estimators/estimator.ts';
import { NearestMean } from './nearest-mean.ts';

const X = [[1], [2], [8], [9]];
const Y = [0, 0, 1, 1];

/** Creates a model that returns given predictions. */
const answering = (predict: unknown, predictProba?: unknown) => ({
  fit: () => undefined,
  predict: () => predict,
  ...(predictProba === undefined ? {} : { predictProba: () => predictProba }),
});

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('adaptEstimator', () => {
  it('passes rows, labels and weights as plain arrays, and no weights as none', async () => {
    const seen: unknown[] = [];
    const model = { fit: (...given: unknown[]) => seen.push(given), predict: () => [] };
    await adaptEstimator(model).fit(X, Uint8Array.from(Y), {
      sampleWeight: Float32Array.of(1, 2, 0.5, 0),
    });
    await adaptEstimator(model).fit(X, Y);
    expect(seen).to.deep.equal([
      [X, Y, { sampleWeight: [1, 2, 0.5, 0] }],
      [X, Y, {}],
    ]);
  });

  it('passes a matrix if the model expects one', async () => {
    const seen: Matrix[] = [];
    const model = {
      fit: (x: Matrix) => seen.push(x),
      predict: (x: Matrix) => Promise.resolve(new Array<number>(x.rows).fill(1)),
    };
    const estimator = await adaptEstimator(model, { features: 'matrix' }).fit(X, Y);
    expect(seen[0]).to.deep.equal({ rows: 4, columns: 1, values: Float64Array.of(1, 2, 8, 9) });
    expect([...(await estimator.predict(X))]).to.deep.equal([1, 1, 1, 1]);
  });

  const answers: [string, unknown, unknown, number[], number[]][] = [
    ['decisions are used as probabilities', [0, 1, 1, 0], undefined, [0, 1, 1, 0], [0, 1, 1, 0]],
    ['booleans are decisions', [false, true, true, false], undefined, [0, 1, 1, 0], [0, 1, 1, 0]],
    ['promises are awaited', Promise.resolve([0, 0, 0, 1]), undefined, [0, 0, 0, 1], [0, 0, 0, 1]],
    ['typed arrays are read', Uint8Array.of(1, 0, 0, 1), undefined, [1, 0, 0, 1], [1, 0, 0, 1]],
    ['probabilities are used if they exist', [0, 0, 0, 0], [0.1, 0.2, 0.8, 1], [0, 0, 0, 0], [0.1, 0.2, 0.8, 1]],
    [
      'the second of the probabilities of 0 and 1 is used',
      [0, 0, 0, 0],
      [
        [1, 0],
        [0.5, 0.5],
        [0.25, 0.75],
        [0, 1],
      ],
      [0, 0, 0, 0],
      [0, 0.5, 0.75, 1],
    ],
  ];
  for (const [title, predict, predictProba, decisions, probabilities] of answers) {
    it(title, async () => {
      const estimator = await adaptEstimator(answering(predict, predictProba)).fit(X, Y);
      expect([...(await estimator.predict(X))]).to.deep.equal(decisions);
      expect([...(await estimator.predictProba(X))]).to.deep.equal(probabilities);
    });
  }

  it('decides by probabilities if a threshold is given', async () => {
    const estimator = await adaptEstimator(answering([0, 0, 0, 0], [0.1, 0.2, 0.8, 1])).fit(X, Y);
    expect([...(await estimator.predict(X, { threshold: 0.2 }))]).to.deep.equal([0, 1, 1, 1]);
  });

  it('returns the values of a regression unchanged', async () => {
    const estimator = await adaptEstimator(answering([-3, 0.5, 2, 7]), { task: 'regression' }).fit(X, [1, 2, 3, 4.5]);
    expect(await estimator.predict(X)).to.deep.equal(Float64Array.of(-3, 0.5, 2, 7));
    expect(await estimator.predictProba(X)).to.deep.equal(Float64Array.of(0, 0.5, 1, 1));
    expect(await estimator.predict(X, { threshold: 1 })).to.deep.equal(Uint8Array.of(0, 0, 1, 1));
  });

  const problems: [string, unknown, unknown, RegExp][] = [
    ['too few values', [0, 1], undefined, /predict\(X\) of the adapted model returned 2 values for 4 rows/],
    ['values that are not decisions', [0, 1, 0.5, 1], undefined, /returned 0\.5 at index 2, which is not 0 or 1/],
    ['text', ['a', 'b', 'c', 'd'], undefined, /predict\(X\) must hold numbers, but holds 'a' at index 0/],
    ['nothing', undefined, undefined, /predict\(X\)/],
    ['a missing value', [0, NaN, 1, 1], undefined, /returned no value at index 1/],
    [
      'values that are not probabilities',
      [0, 0, 0, 0],
      [0, 1.5, 1, 1],
      /predictProba\(X\) .* 1\.5 at index 1, which is not a probability/,
    ],
  ];
  for (const [title, predict, predictProba, message] of problems) {
    it(`rejects ${title} from the model`, async () => {
      const estimator = await adaptEstimator(answering(predict, predictProba)).fit(X, Y);
      const failure = await failureOf(predictProba === undefined ? estimator.predict(X) : estimator.predictProba(X));
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as Error).message).to.match(message);
    });
  }

  it('clones with the function that creates models', async () => {
    let made = 0;
    const estimator = adaptEstimator(() => {
      made++;
      return new NearestMean();
    });
    await estimator.clone().fit(X, Y);
    expect(made).to.equal(2);
  });

  it("prefers the model's own clone method to copying", () => {
    let cloned = 0;
    const model = {
      ...answering([0]),
      clone: () => {
        cloned++;
        return answering([1]);
      },
    };
    adaptEstimator(model).clone();
    expect(cloned).to.equal(1);
  });

  it('copies an object as it was when it was adapted', async () => {
    const model = new NearestMean();
    const estimator = await adaptEstimator(model).fit(X, Y);
    const copy = await estimator.clone().fit(
      X,
      Y.map((label) => 1 - label),
    );
    expect([...(await estimator.predict(X))]).to.deep.equal(Y);
    expect([...(await copy.predict(X))]).to.deep.equal([1, 1, 0, 0]);
  });

  it('suggests a fix if an object cannot be copied', () => {
    const estimator = adaptEstimator(answering([0]));
    expect(() => estimator.clone()).to.throw(ValueError, /cannot be copied/);
  });

  it('stores the JSON of the model, and throws if the model has none', async () => {
    const written = (await adaptEstimator(new NearestMean()).fit(X, Y)).toJSON();
    expect(written.kind).to.equal('adapted');
    expect(written.state).to.deep.equal({ features: 1, model: { means: [[1.5], [8.5]], totals: [2, 2] } });
    expect(() => estimatorFromJson(written)).to.throw(DataValidationError, /Got 'adapted' instead/);
    const silent = await adaptEstimator(answering([0])).fit(X, Y);
    expect(() => silent.toJSON()).to.throw(TrainingError, /no toJSON method/);
  });

  it('rejects unknown options, and lists the known ones', () => {
    const model = new NearestMean();
    expect(() => adaptEstimator(model, { features: 'columns' as 'rows' })).to.throw(ValueError, /rows, matrix/);
    expect(() => adaptEstimator(model, { task: 'ranking' as 'binary' })).to.throw(ValueError, /binary, regression/);
  });
});

describe('toEstimator', () => {
  it('returns an estimator unchanged', () => {
    const estimator = new ConstantClassifier(1);
    expect(toEstimator(estimator)).to.equal(estimator);
  });

  it('accepts models, and functions that create models or estimators', async () => {
    const sources: EstimatorSource[] = [new NearestMean(), () => new NearestMean(), () => new ConstantClassifier(0)];
    for (const source of sources) {
      const estimator = toEstimator(source);
      expect(isEstimator(estimator)).to.equal(true);
      expect(await (await estimator.fit(X, Y)).predict(X)).to.have.length(4);
    }
  });

  const refusals: [string, unknown, RegExp][] = [
    ['nothing', null, /estimator parameter must be .* Got null instead/],
    ['a number', 3, /Got 3 instead/],
    ['an object without predict', { fit: () => undefined }, /an object with fit and predict/],
    ['a class in place of a function', NearestMean, /threw an error instead of returning a model/],
    ['a function that returns nothing', () => undefined, /Got undefined instead/],
  ];
  for (const [title, source, message] of refusals) {
    it(`rejects ${title}`, () => {
      expect(() => toEstimator(source as EstimatorSource)).to.throw(ValueError, message);
    });
  }
});

describe('isEstimator', () => {
  const cases: [unknown, boolean][] = [
    [new ConstantClassifier(1), true],
    [adaptEstimator(new NearestMean()), true],
    [new NearestMean(), false],
    [ConstantClassifier, false],
    [null, false],
    ['fit', false],
  ];
  for (const [value, expected] of cases) {
    it(`is ${expected} of ${typeof value === 'object' && value !== null ? value.constructor.name : String(value).slice(0, 24)}`, () => {
      expect(isEstimator(value)).to.equal(expected);
    });
  }
});

describe('ConstantClassifier', () => {
  for (const probability of [-0.1, 1.1, NaN]) {
    it(`rejects the probability ${probability}`, () => {
      expect(() => new ConstantClassifier(probability)).to.throw(ValueError, /must lie in \[0, 1\]/);
    });
  }

  it('returns its probability before fit', async () => {
    expect(await new ConstantClassifier(0.3).predictProba([[1], [2]])).to.deep.equal(Float64Array.of(0.3, 0.3));
    expect(await new ConstantClassifier(0.5).predict([[1], [2]])).to.deep.equal(Uint8Array.of(1, 1));
  });
});

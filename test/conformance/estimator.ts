import { expect } from 'chai';

import { DataValidationError, TrainingError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import type { Estimator, FitOptions } from '../../src/training/estimators/estimator.ts';

/** An implementation of the interface, with its properties for the tests. */
export interface EstimatorCase {
  readonly title: string;
  /** Creates an unfitted estimator, always with the same options. */
  readonly create: () => Estimator;
  /** Reads the output of `toJSON`; undefined for an estimator that cannot be read back. */
  readonly fromJson?: (json: unknown) => Estimator;
  /** @defaultValue 'binary' */
  readonly task?: 'binary' | 'regression';
  /**
   * Whether it learns from rows, and so needs them.
   * @defaultValue true
   */
  readonly learns?: boolean;
  /** The tolerance of predictions for rounding. */
  readonly tolerance: number;
}

type Row = readonly number[];

/** Rows with their labels, and the related columns. */
interface Sample {
  readonly x: readonly Row[];
  readonly y: readonly number[];
}

/** Rows of two numbers far from 0 and an indicator, with labels that depend on them and on chance. */
function makeSample(rows: number, seed = 1): Sample {
  const random = createRandom(seed);
  const x = Array.from({ length: rows }, () => [random.normal(), 3 * random.normal() + 40, random.integer(2)]);
  const y = x.map(([a = 0, b = 0, c = 0]) => Number(a + (b - 40) / 4 + c - 0.5 + random.normal() > 0));
  return { x, y };
}

const SAMPLE = makeSample(80);
const FRESH = makeSample(20, 2).x;

/** Runs the tests of all properties of {@link Estimator} on an implementation. */
export function describeEstimator(of: EstimatorCase): void {
  const { title, create, tolerance, learns = true, task = 'binary' } = of;

  const fitted = ({ x, y }: Sample, options?: FitOptions) => create().fit(x, y, options);
  const assertSame = async (a: Estimator, b: Estimator, x: readonly Row[] = FRESH) => {
    const [left, right] = [await a.predictProba(x), await b.predictProba(x)];
    expect(left).to.have.length(x.length);
    left.forEach((value, row) => {
      expect(value, `row ${row}`).to.be.closeTo(right[row] ?? NaN, tolerance);
    });
  };

  describe(`the conformance of ${title}`, () => {
    it('predicts a probability and a decision per row', async () => {
      const model = await fitted(SAMPLE);
      const probabilities = await model.predictProba(FRESH);
      expect([...probabilities].every((value) => value >= 0 && value <= 1)).to.equal(true);
      const decisions = await model.predict(FRESH, { threshold: 0.5 });
      if (task === 'binary') expect(await model.predict(FRESH)).to.deep.equal(decisions);
      expect([...decisions].every((value) => value === 0 || value === 1)).to.equal(true);
      expect(decisions).to.have.length(FRESH.length);
    });

    it('accepts thresholds: all rows reach 0, and none reach 2', async () => {
      const model = await fitted(SAMPLE);
      if (task === 'binary') expect([...(await model.predict(FRESH, { threshold: 0 }))]).to.not.include(0);
      expect([...(await model.predict(FRESH, { threshold: 2 }))]).to.not.include(1);
    });

    it('returns empty predictions for no rows', async () => {
      const model = await fitted(SAMPLE);
      expect(await model.predictProba([])).to.have.length(0);
      expect(await model.predict([])).to.have.length(0);
    });

    it('reads rows, a matrix and columns alike', async () => {
      const model = await fitted(SAMPLE);
      const matrix = { rows: FRESH.length, columns: 3, values: Float64Array.from(FRESH.flat()) };
      const columns = { a: FRESH.map(([a]) => a), b: FRESH.map(([, b]) => b), c: FRESH.map(([, , c]) => c) };
      const expected = await model.predictProba(FRESH);
      expect(await model.predictProba(matrix)).to.deep.equal(expected);
      expect(await model.predictProba(columns)).to.deep.equal(expected);
    });

    it('clones to an unfitted estimator with the same options', async () => {
      const model = await fitted(SAMPLE);
      const copy = model.clone();
      expect(copy).to.not.equal(model);
      expect(copy.toJSON()).to.deep.equal(create().toJSON());
      expect(copy.toJSON().state).to.equal(null);
      await assertSame(await copy.fit(SAMPLE.x, SAMPLE.y), model);
    });

    it('fits the same model to the same rows', async () => {
      const [first, second] = [await fitted(SAMPLE), await fitted(SAMPLE)];
      expect(await first.predictProba(FRESH)).to.deep.equal(await second.predictProba(FRESH));
    });

    it('forgets what it learned before', async () => {
      const model = create();
      await model.fit(FRESH, SAMPLE.y.slice(0, FRESH.length));
      await assertSame(await model.fit(SAMPLE.x, SAMPLE.y), await fitted(SAMPLE));
    });

    it('learns the same from a better start', async () => {
      const startFrom = await fitted(makeSample(80, 3));
      await assertSame(await fitted(SAMPLE, { startFrom }), await fitted(SAMPLE));
    });

    it('learns the same from permuted rows', async () => {
      const order = [...SAMPLE.x.keys()].sort((a, b) => ((a * 37) % 80) - ((b * 37) % 80));
      const permuted = { x: order.map((row) => SAMPLE.x[row] ?? []), y: order.map((row) => SAMPLE.y[row] ?? NaN) };
      await assertSame(await fitted(permuted), await fitted(SAMPLE));
    });

    it('treats weights of one like no weights', async () => {
      await assertSame(await fitted(SAMPLE, { sampleWeight: SAMPLE.x.map(() => 1) }), await fitted(SAMPLE));
    });

    it('treats a row of weight 2 like two rows', async () => {
      const sampleWeight = SAMPLE.x.map((_, row) => 1 + (row % 2));
      const twice = SAMPLE.x.flatMap((_, row) => (row % 2 === 1 ? [row, row] : [row]));
      const repeated = { x: twice.map((row) => SAMPLE.x[row] ?? []), y: twice.map((row) => SAMPLE.y[row] ?? NaN) };
      await assertSame(await fitted(SAMPLE, { sampleWeight }), await fitted(repeated));
    });

    it('ignores a row of weight 0', async () => {
      const sampleWeight = SAMPLE.x.map((_, row) => Number(row % 3 > 0));
      const rest = { x: SAMPLE.x.filter((_, row) => row % 3 > 0), y: SAMPLE.y.filter((_, row) => row % 3 > 0) };
      await assertSame(await fitted(SAMPLE, { sampleWeight }), await fitted(rest));
    });

    it('stays finite with a constant column and a duplicate column', async () => {
      const widen = (x: readonly Row[]) => x.map((row) => [...row, 7, row[0] ?? NaN]);
      const model = await fitted({ x: widen(SAMPLE.x), y: SAMPLE.y });
      expect([...(await model.predictProba(widen(FRESH)))].every((value) => value >= 0 && value <= 1)).to.equal(true);
    });

    it('separates linearly separable classes, and stays finite', async () => {
      const x = [-3, -2, -1, 1, 2, 3].map((value) => [value]);
      const model = await fitted({ x, y: [0, 0, 0, 1, 1, 1] });
      const probabilities = [...(await model.predictProba(x))];
      expect(probabilities.every((value) => value >= 0 && value <= 1)).to.equal(true);
      if (learns) expect([...(await model.predict(x, { threshold: 0.5 }))]).to.deep.equal([0, 0, 0, 1, 1, 1]);
    });

    for (const label of [0, 1]) {
      it(`predicts class ${label} after fitting rows of that class only`, async () => {
        const model = await fitted({ x: SAMPLE.x, y: SAMPLE.y.map(() => label) });
        if (learns) expect(new Set(await model.predict(FRESH, { threshold: 0.5 }))).to.deep.equal(new Set([label]));
        expect([...(await model.predictProba(FRESH))].every(Number.isFinite)).to.equal(true);
      });
    }

    it('learns from one row', async () => {
      const model = await fitted({ x: [[1, 2]], y: [1] });
      expect([...(await model.predictProba([[3, 4]]))].every(Number.isFinite)).to.equal(true);
    });

    if (of.fromJson !== undefined) {
      const { fromJson } = of;
      it('is unchanged after writing and reading', async () => {
        const model = await fitted(SAMPLE);
        const written: unknown = JSON.parse(JSON.stringify(model));
        const copy = fromJson(written);
        expect(await copy.predictProba(FRESH)).to.deep.equal(await model.predictProba(FRESH));
        expect(copy.toJSON()).to.deep.equal(model.toJSON());
        expect(fromJson(JSON.parse(JSON.stringify(create()))).toJSON()).to.deep.equal(create().toJSON());
      });

      it('rejects reading other data', () => {
        for (const json of [null, {}, { kind: create().toJSON().kind }, { kind: 'oak', params: {}, state: null }]) {
          expect(() => fromJson(json)).to.throw(DataValidationError);
        }
      });
    }

    it('respects an abort signal', async () => {
      const reason = new Error('enough');
      const failure = await fitted(SAMPLE, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
      expect(failure).to.equal(reason);
    });

    it('respects an abort signal for rows of one class', async () => {
      const reason = new Error('enough');
      const rows = { x: SAMPLE.x, y: SAMPLE.y.map(() => 1) };
      const failure = await fitted(rows, { signal: AbortSignal.abort(reason) }).catch((error: unknown) => error);
      expect(failure).to.equal(reason);
    });

    if (learns) {
      it('throws an error if it predicts before it is fitted', async () => {
        for (const ask of [create().predict(FRESH), create().predictProba(FRESH)]) {
          const failure = await ask.catch((error: unknown) => error);
          expect(failure).to.be.instanceOf(TrainingError);
          expect((failure as TrainingError).message).to.match(/has not been fitted/);
          expect((failure as TrainingError).suggestion).to.match(/fit/);
        }
      });

      it('rejects rows of another number of features', async () => {
        const failure = await (await fitted(SAMPLE)).predict([[1, 2]]).catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(DataValidationError);
        expect((failure as Error).message).to.match(/2 features.* fitted on 3/);
      });
    }

    describeRefusals(of);
  });
}

/** Data that no estimator can learn from. */
function describeRefusals({ create, task = 'binary' }: EstimatorCase): void {
  const x = [[1], [2], [3]];
  const y = [0, 1, 1];
  const refusals: [string, RegExp, unknown, unknown, unknown?][] = [
    ['text in X', /'a'|text|numbers/, { a: ['a', 'b', 'c'] }, y],
    ['NaN in X', /row 2.*NaN/, [[1], [NaN], [3]], y],
    ['an infinite value in X', /row 3.*Infinity/, [[1], [2], [Infinity]], y],
    ['ragged X', /differ in length/, [[1], [2, 3], [4]], y],
    ['text in y', /y must .*'no' at index 0/, x, ['no', 'yes', 'yes']],
    ['a missing label', /y is missing at index 1/, x, [0, null, 1]],
    ['a different number of labels', /X and y differ in length: 3 and 2/, x, [0, 1]],
    ['a different number of weights', /differ in length/, x, y, [1, 1]],
    ['a negative weight', /sampleWeight must be 0 or more.*-1.* index 1/, x, y, [1, -1, 1]],
    ['weights that are all 0', /nothing to learn from/, x, y, [0, 0, 0]],
    ['no rows', /no rows/, [], []],
  ];
  if (task === 'binary')
    refusals.push(['labels that are not 0 or 1', /y must hold 0 and 1.*2 at index 2/, x, [0, 1, 2]]);
  for (const [title, message, features, labels, weights] of refusals) {
    it(`rejects ${title}`, async () => {
      const options = weights === undefined ? {} : { sampleWeight: weights as number[] };
      const failure = await create()
        .fit(features as number[][], labels as number[], options)
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(DataValidationError);
      expect((failure as Error).message).to.match(message);
    });
  }
}

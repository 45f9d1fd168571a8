import { expect } from 'chai';

import { fitLogisticBlocks } from '../../../src/training/estimators/logistic-blocks.ts';
import {
  LogisticRegression,
  type LogisticRegressionOptions,
} from '../../../src/training/estimators/logistic-regression.ts';
import { kindsOf, type MadeRows, madeRows, withBlocks } from './made-blocks.ts';

/** The weight of each row of a kind. The rows of one kind have none. */
const WEIGHTS = [1, 2.5, 0.3, 1, 0, 4];

interface Fits {
  readonly ofBlocks: LogisticRegression;
  readonly ofMatrix: LogisticRegression;
}

/** Fits a regression to rows in blocks, and to the same rows in memory. */
async function fits(
  blockRows: number,
  options: LogisticRegressionOptions = {},
  rows = madeRows(4000),
  weights = WEIGHTS,
): Promise<Fits> {
  const model = new LogisticRegression({ precision: 'float64', ...options });
  const kinds = { labels: Uint8Array.from(weights, (_, kind) => kind % 2), weights: Float64Array.from(weights) };
  const sampleWeight = Array.from(kindsOf(rows), (kind) => weights[kind] as number);
  return {
    ofBlocks: await withBlocks(rows, blockRows, (blocks) => fitLogisticBlocks(model, blocks, kinds, {})),
    ofMatrix: await model.clone().fit(rows.x, [...(rows.y as Uint8Array)], { sampleWeight }),
  };
}

function expectEqual({ ofBlocks, ofMatrix }: Fits): void {
  const [found, expected] = [ofBlocks, ofMatrix].map((model) => [...model.coefficients, model.intercept]);
  const size = Math.max(...(expected ?? []).map(Math.abs));
  found?.forEach((value, column) => expect(value).to.be.closeTo(expected?.[column] ?? NaN, 1e-9 * size));
  expect(ofBlocks.deviance).to.be.closeTo(ofMatrix.deviance, 1e-10 * ofMatrix.deviance);
  expect([ofBlocks.converged, ofBlocks.warnings]).to.deep.equal([true, ofMatrix.warnings]);
}

describe('a logistic regression that is fitted to rows in blocks', () => {
  const cases: readonly (readonly [string, number, LogisticRegressionOptions])[] = [
    ['in one block', 4000, {}],
    ['in three blocks', 1500, {}],
    ['in many blocks, of which the first one gives the start', 100, {}],
    ['in blocks of seven rows', 7, {}],
    ['with class weights and a small penalty', 300, { classWeight: { 1: 3 }, l2: 0.001 }],
    ['with balanced class weights', 300, { classWeight: 'balanced' }],
  ];
  for (const [how, blockRows, options] of cases) {
    it(`has the coefficients, the deviance and the warnings of a fit in memory: ${how}`, async () => {
      expectEqual(await fits(blockRows, options));
    });
  }

  it('takes fewer steps over all blocks than in memory, because the first block gives the start', async () => {
    const { ofBlocks, ofMatrix } = await fits(2000, {}, madeRows(20_000));
    expect(ofBlocks.iterations).to.be.below(ofMatrix.iterations);
    expectEqual({ ofBlocks, ofMatrix });
  });

  it('is the same without a penalty, if columns are not collinear', async () => {
    const { x, ...others } = madeRows(2000);
    const values = Float32Array.from({ length: 2000 * 2 }, (_, at) => x.values[(at >> 1) * x.columns + (at % 2)] ?? NaN); // prettier-ignore
    expectEqual(await fits(150, { l2: 0 }, { x: { rows: 2000, columns: 2, values }, ...others }));
  });

  it('has the smallest loss if coefficients are not unique, and warns', async () => {
    const { ofBlocks, ofMatrix } = await fits(150, { l2: 0 });
    expect(ofBlocks.deviance).to.be.closeTo(ofMatrix.deviance, 1e-9 * ofMatrix.deviance);
    expect(ofBlocks.warnings).to.deep.equal(ofMatrix.warnings);
    expect(ofBlocks.warnings.join()).to.match(/collinear/);
  });

  it('warns about classes that a plane separates', async () => {
    const rows: MadeRows = {
      x: { rows: 800, columns: 1, values: Float32Array.from({ length: 800 }, (_, row) => (row * 307) % 800) },
      y: Uint8Array.from({ length: 800 }, (_, row) => Number((row * 307) % 800 > 400)),
      codes: new Int32Array(800),
      groupCount: 1,
    };
    const { ofBlocks, ofMatrix } = await fits(50, { l2: 0 }, rows, [1, 1]);
    expect(ofMatrix.warnings.join()).to.match(/the features separate the classes/);
    expect(ofBlocks.warnings).to.deep.equal(ofMatrix.warnings);
  });

  it('is constant if only one class has weight', async () => {
    expectEqual(await fits(500, {}, madeRows(2000), [0, 1, 0, 2, 0, 1]));
  });

  it('stops at a signal between two blocks', async () => {
    const rows = madeRows(2000);
    const controller = new AbortController();
    const kinds = { labels: Uint8Array.from(WEIGHTS, (_, kind) => kind % 2), weights: Float64Array.from(WEIGHTS) };
    const reason = new Error('enough');
    let loaded = 0;
    const found = await withBlocks(rows, 100, (blocks) => {
      const counted = {
        ...blocks,
        load: (block: number) => {
          if (++loaded === 33) controller.abort(reason);
          return blocks.load(block);
        },
      };
      return fitLogisticBlocks(new LogisticRegression(), counted, kinds, { signal: controller.signal }).catch(
        (error: unknown) => error,
      );
    });
    expect(found).to.equal(reason);
    expect(loaded).to.equal(33);
  });
});

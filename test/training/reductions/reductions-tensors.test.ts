import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { withTensors } from '../../../src/metrics/reduce/tensors/row-states.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { adaptEstimator } from '../../../src/training/estimators/adapt-estimator.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { parseConstraint } from '../../../src/training/reductions/constraint-options.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { poseTensorProblem, readTensorReductionRows } from '../../../src/training/reductions/pose-tensor-problem.ts';
import type { ReductionsOptions } from '../../../src/training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';
import { LeastSquares } from './least-squares.ts';
import { groupedRows } from './random-rows.ts';
import { costsOf, ourName, readSmoke } from './smoke-inputs.ts';
import { onTensors, TensorLeastSquares, type TensorRows } from './tensor-rows.ts';
import { failure } from './wrapped-learner.ts';

/** The largest deviation of float32 sums on tensors from the published float64 values. */
const TOLERANCE = 1e-5;

interface GridFile {
  readonly grid_search_runs: {
    readonly moment: string;
    readonly grid_size: number;
    readonly grid_limit: number;
    readonly constraint_weight: number;
    readonly best_idx: number;
    readonly objectives: number[];
    readonly gamma_max: number[];
  }[];
}

interface MomentFile {
  readonly gamma_examples: {
    readonly moment: string;
    readonly difference_bound?: number | null;
    readonly ratio_bound?: number | null;
    readonly ratio_bound_slack?: number | null;
    readonly y: number[];
    readonly pred: number[];
    readonly sensitive: string[];
    readonly gamma: Record<string, number>;
  }[];
}

const CONSTRAINTS: readonly ReductionsOptions[] = [
  { constraint: 'demographic_parity', eps: 0.02 },
  { constraint: 'equalized_odds', eps: 0.05, classWeight: 'balanced' },
  { constraint: 'true_positive_rate_parity', ratioBound: 0.9 },
  { constraint: 'error_rate_parity', costs: { falsePositive: 1, falseNegative: 2 } },
  { constraint: 'bounded_group_loss', upperBound: 0.1 },
  { constraint: 'bounded_group_loss', loss: 'zero_one', upperBound: 0.2 },
];

/** Activates a backend, and checks that each test disposes of its tensors. */
function onBackend(backend: (typeof TESTED_BACKENDS)[number]): void {
  let tensors = 0;
  before(async () => {
    await loadTensorflow({ backend });
    tensors = tf.memory().numTensors;
  });
  afterEach('leaves no tensor behind', () => {
    expect(tf.memory().numTensors).to.equal(tensors);
  });
}

async function using<T>(rows: TensorRows, work: (rows: TensorRows) => Promise<T>): Promise<T> {
  try {
    return await work(rows);
  } finally {
    rows.dispose();
  }
}

for (const backend of TESTED_BACKENDS) {
  // A software GPU takes seconds for each fit, so it gets one case of each kind.
  const isSlow = backend === 'webgpu';
  describeOn(backend, `reductions of tensors on ${backend}`, () => {
    onBackend(backend);

    describeWithReference('the cases of fairlearn', () => {
      const { rows, classification, regression } = readSmoke();
      for (const published of classification.filter(({ eps }) => !isSlow || eps === 0.005)) {
        const { constraint, eps, flipped_labels: isFlipped, objective_costs: costs, computed } = published;
        it(`${constraint} ${eps}${isFlipped ? ', flipped labels' : ''}${costs === undefined ? '' : ', costs'}`, async () => {
          const labels = rows.labels.map((label) => (isFlipped ? 1 - label : label));
          const model = new ReductionsWrapper({
            estimator: new TensorLeastSquares(),
            constraint: ourName(constraint),
            eps,
            costs: costsOf(published),
          });
          await using(onTensors(rows.x, labels, rows.sensitive), async ({ x, y, sensitive }) => {
            const { result } = await model.fit(x, y, { sensitive });
            const best = result.history[result.bestIteration];
            expect([result.lastIteration, result.bestIteration]).to.deep.equal([
              published.last_iter,
              published.best_iter,
            ]);
            expect(result.oracleCalls).to.equal(published.n_oracle_calls);
            expect(result.constantAnswers).to.equal(published.n_oracle_calls_dummy_returned);
            expect(result.predictors).to.have.lengthOf(published.n_predictors);
            expect(best?.error).to.be.closeTo(published.error, TOLERANCE);
            expect(best?.violation).to.be.closeTo(published.disp, TOLERANCE);
            expect(result.nu).to.be.closeTo(computed.nu, TOLERANCE);
            expect(result.bestGap).to.be.closeTo(computed.best_gap, TOLERANCE);
            const probabilities = await model.predictProba(x);
            for (const [row, value] of computed.predict_prob.entries()) {
              expect(probabilities[row]).to.be.closeTo(value, TOLERANCE);
            }
          });
        });
      }

      for (const { upper_bound: upperBound, loss, eps, weights, ...published } of isSlow
        ? regression.slice(2)
        : regression) {
        it(`bounded group loss ${upperBound}, ${loss.type}`, async () => {
          const names = { SquareLoss: 'square', AbsoluteLoss: 'absolute', ZeroOneLoss: 'zero_one' } as const;
          const options: ReductionsOptions = {
            constraint: 'bounded_group_loss',
            loss: names[loss.type as keyof typeof names],
            upperBound,
            eps,
            T: published.max_iter,
            nu: published.nu,
          };
          const model = new ReductionsWrapper({
            ...options,
            estimator: new TensorLeastSquares({ isClassifier: false }),
          });
          await using(onTensors(rows.x, rows.regressionTargets, rows.sensitive), async ({ x, y, sensitive }) => {
            const { result } = await model.fit(x, y, { sensitive });
            expect([result.lastIteration, result.bestIteration]).to.deep.equal([
              published.last_iter,
              published.best_iter,
            ]);
            expect(result.bestGap).to.be.closeTo(published.best_gap, TOLERANCE);
            // A predictor joins the pool if it is better by 1e-8. Predictors that float32 cannot distinguish share their
            // weight in other ways, so the means of the mixture are compared, with those of the published weights.
            const host = new ReductionsWrapper({ ...options, estimator: new LeastSquares({ isClassifier: false }) });
            await host.fit(rows.x, rows.regressionTargets, { sensitive: rows.sensitive });
            for (const [index, weight] of host.weights.entries())
              expect(weight).to.be.closeTo(weights[index] ?? NaN, TOLERANCE);
            const means = await model.predictMean(x);
            for (const [row, mean] of (await host.predictMean(rows.x)).entries()) {
              expect(means[row]).to.be.closeTo(mean, TOLERANCE);
            }
          });
        });
      }

      const { grid_search_runs: runs } = readVectors('fairlearn_grid_search.json') as GridFile;
      for (const run of isSlow ? runs.slice(0, 1) : runs) {
        it(`a grid for ${run.moment}`, async () => {
          const search = new GridSearchReduction({
            estimator: new TensorLeastSquares(),
            constraint: ourName(run.moment),
            gridSize: run.grid_size,
            gridLimit: run.grid_limit,
            constraintWeight: run.constraint_weight,
            compat: 'fairlearn',
          });
          await using(onTensors(rows.x, rows.labels, rows.sensitive), async ({ x, y, sensitive }) => {
            const { result } = await search.fit(x, y, { sensitive });
            expect(result.bestIndex).to.equal(run.best_idx);
            for (const [point, objective] of run.objectives.entries()) {
              expect(result.errors[point]).to.be.closeTo(objective, TOLERANCE);
              expect(result.violations[point]).to.be.closeTo(run.gamma_max[point] ?? NaN, TOLERANCE);
            }
          });
        });
      }

      const moments = readVectors('fairlearn_moments.json') as MomentFile;
      for (const { moment, y: labels, pred, sensitive: names, gamma, ...bounds } of moments.gamma_examples) {
        it(`the violations of ${moment}${typeof bounds.ratio_bound === 'number' ? ', ratio' : ''}`, async () => {
          const settings = parseConstraint(
            {
              constraint: ourName(moment),
              differenceBound: bounds.difference_bound ?? undefined,
              ratioBound: bounds.ratio_bound ?? undefined,
              ratioBoundSlack: bounds.ratio_bound_slack ?? undefined,
            },
            0.01,
          );
          const codeOf = (name: string): string => String([...new Set(names)].sort().indexOf(name));
          await using(
            onTensors(
              labels.map((label) => [label]),
              labels,
              names,
            ),
            async ({ x, y, sensitive }) => {
              const [own, known] = await withTensors(tf, async (keep) => {
                const read = await readTensorReductionRows(tf, keep, settings, { x, y, options: { sensitive } });
                const problem = await poseTensorProblem(tf, keep, settings, read);
                return [await problem.evaluate(keep(tf.tensor1d(pred))), problem.multiplierNames] as const;
              });
              for (const [location, value] of Object.entries(gamma)) {
                const [sign = '', event = '', group = ''] = location.split('|');
                const index = known.indexOf(`${event}/${codeOf(group)}/${sign}`);
                expect(own.gamma[index], location).to.be.closeTo(value, TOLERANCE);
              }
            },
          );
        });
      }
    });

    // The host computes the same in float64. Rows within 1e-5 of a threshold may be decided differently: here are none.
    for (const options of isSlow ? CONSTRAINTS.slice(2, 3) : CONSTRAINTS) {
      it(`equal the host's: ${JSON.stringify(options)}`, async () => {
        const { x: features, y: labels, sensitive: groups } = groupedRows({ rows: 200 });
        const sampleWeight = labels.map((_, row) => (row % 5) / 2);
        const host = await new ReductionsWrapper({ ...options, precision: 'float64' }).fit(features, labels, {
          sensitive: groups,
          sampleWeight,
        });
        await using(onTensors(features, labels, groups), async ({ x, y, sensitive }) => {
          const weights = tf.tensor1d(sampleWeight);
          const model = await new ReductionsWrapper(options).fit(x, y, { sensitive, sampleWeight: weights });
          weights.dispose();
          expect(model.oracleCalls).to.equal(host.oracleCalls);
          expect(model.bestGap).to.be.closeTo(host.bestGap, TOLERANCE);
          const ask = (own: ReductionsWrapper, X: typeof x | typeof features): Promise<Float64Array> =>
            options.constraint === 'bounded_group_loss' ? own.predictMean(X) : own.predictProba(X);
          const [own, other] = [await ask(model, x), await ask(host, features)];
          const differences = own.filter((value, row) => Math.abs(value - (other[row] ?? NaN)) > TOLERANCE);
          expect(differences.length).to.equal(0);
          expect(await model.predict(x)).to.deep.equal(
            options.constraint === 'bounded_group_loss' ? await model.predict(x) : await host.predict(features),
          );
          const onDevice = [await model.predictTensor(x), await model.predictMeanTensor(x)];
          const read = await Promise.all(onDevice.map(async (tensor) => [...(await tensor.data())]));
          tf.dispose(onDevice);
          expect(read).to.deep.equal([[...(await model.predict(x))], [...own]]);
        });
      });
    }

    it('dispose of their tensors if the rows are invalid, or the fit is aborted', async () => {
      const { x: features, y: labels, sensitive: groups } = groupedRows();
      await using(onTensors(features, labels, groups), async ({ x, y, sensitive }) => {
        const twos = y.mul<tf.Tensor1D>(2);
        const error = await failure(new ReductionsWrapper().fit(x, twos, { sensitive }));
        twos.dispose();
        expect(error).to.be.instanceOf(DataValidationError);
        const controller = new AbortController();
        const onProgress = (): void => {
          controller.abort(new Error('enough'));
        };
        const fit = new ReductionsWrapper({ nu: 0 }).fit(x, y, { sensitive, onProgress, signal: controller.signal });
        expect(await failure(fit)).to.have.property('message', 'enough');
      });
    });
  });
}

describe('reductions of tensors', () => {
  const { x: features, y: labels, sensitive: groups } = groupedRows();
  let rows: TensorRows;
  beforeEach(async () => {
    await loadTensorflow({ backend: 'wasm' });
    rows = onTensors(features, labels, groups);
  });
  afterEach(() => {
    rows.dispose();
  });

  for (const [title, estimator] of [
    ['an estimator in float64', new LinearRegression()],
    ['an adapted model', adaptEstimator(() => new LeastSquares())],
  ] as const) {
    it(`reject ${title}, which would read the rows, and name both solutions`, async () => {
      const error = await failure(
        new ReductionsWrapper({ estimator }).fit(rows.x, rows.y, { sensitive: rows.sensitive }),
      );
      expect(error).to.be.instanceOf(ValueError);
      expect((error as ValueError).message).to.match(/computes on the host, but the rows are tensors/);
      expect((error as ValueError).suggestion).to.match(/float32.*float64/);
    });
  }

  it("read tensors to the host if precision is 'float64', and give the same as arrays", async () => {
    const options: ReductionsOptions = { estimator: new LeastSquares(), precision: 'float64' };
    const tensors = await new ReductionsWrapper(options).fit(rows.x, rows.y, { sensitive: rows.sensitive });
    const single = features.map((row) => row.map(Math.fround));
    const arrays = await new ReductionsWrapper(options).fit(single, labels, { sensitive: groups });
    expect(tensors.result.errors).to.deep.equal(arrays.result.errors);
    expect(tensors.weights).to.deep.equal(arrays.weights);
  });

  it("upload arrays if precision is 'float32'", async () => {
    const given = { sensitive: groups };
    const uploaded = await new ReductionsWrapper({ precision: 'float32' }).fit(features, labels, given);
    const host = await new ReductionsWrapper({ precision: 'float64' }).fit(features, labels, given);
    const [own, other] = [await uploaded.predictProba(features), await host.predictProba(features)];
    for (const [row, value] of other.entries()) expect(own[row]).to.be.closeTo(value, TOLERANCE);
    expect(
      uploaded.predictors.some((one) => one instanceof LogisticRegression && one.precision === 'float32'),
    ).to.equal(true);
  });

  const WRONG: readonly [string, () => tf.Tensor, () => tf.Tensor, () => tf.Tensor, RegExp][] = [
    [
      'features of rank 1',
      () => tf.zeros([120]),
      () => rows.y.clone(),
      () => rows.sensitive.clone(),
      /X has shape \[120\]/,
    ],
    [
      'labels of rank 2',
      () => rows.x.clone(),
      () => rows.y.reshape([120, 1]),
      () => rows.sensitive.clone(),
      /y has shape \[120, 1\]/,
    ],
    [
      'too few groups',
      () => rows.x.clone(),
      () => rows.y.clone(),
      () => rows.sensitive.slice(0, 7),
      /sensitive has shape \[7\]/,
    ],
    [
      'group codes that are texts',
      () => rows.x.clone(),
      () => rows.y.clone(),
      () => tf.tensor(groups),
      /sensitive has dtype string/,
    ],
  ];
  for (const [title, x, y, sensitive, message] of WRONG) {
    it(`reject ${title} with its shape or dtype`, async () => {
      const given = [x(), y(), sensitive()] as const;
      const error = await failure(
        new GridSearchReduction().fit(given[0], given[1], {
          sensitive: given[2],
        }),
      );
      tf.dispose([...given]);
      expect((error as Error).message).to.match(message);
    });
  }

  it('reject weights of which float32 sums would lose a group, and accept them in float64', async () => {
    const n = 40;
    const X = tf.tensor2d(Array.from({ length: n }, (_, row) => [row % 5]));
    const y = Array.from({ length: n }, (_, row) => Number(row % 3 === 0));
    const sensitive = Array.from({ length: n }, (_, row) => (row % 2 === 0 ? 'a' : 'b'));
    for (const [small, message] of [
      [2 ** -31, /sampleWeight holds .* which differ too much for float32 sums on a device/],
      [1e-50, /sampleWeight must be 0, or at least 1\.17.*e-38 for float32 on a device, but holds 1e-50 at index 1/],
    ] as const) {
      const sampleWeight = sensitive.map((group) => (group === 'a' ? 1 : small));
      const error = await failure(new ReductionsWrapper().fit(X, y, { sensitive, sampleWeight }));
      expect(error).to.have.property('message').that.matches(message);
      await new ReductionsWrapper({ precision: 'float64' }).fit(X, y, { sensitive, sampleWeight });
    }
    X.dispose();
  });

  for (const [what, offset, small] of [
    ['a column would lose its digits', 1e8, 1],
    ['a group would lose its weights', 0, 1e-20],
  ] as const)
    it(`keep arrays on the host if ${what} in float32`, async () => {
      // Large enough for tensors, but the label depends on the last digit of a number of nine digits.
      const random = createRandom(3);
      const large = Array.from({ length: 600 }, (_, row) => [
        offset + (row % 4),
        ...Array.from({ length: 299 }, () => random.next()),
      ]);
      const y = large.map((_, row) => Number(row % 4 > 1));
      const sensitive = large.map((_, row) => row % 3);
      const given = { sensitive, sampleWeight: sensitive.map((group) => (group === 0 ? small : 1)) };
      const fit = async (options: object): Promise<Float64Array> =>
        (await new GridSearchReduction({ gridSize: 2, ...options }).fit(large, y, given)).predictProba(large);
      expect(await fit({})).to.deep.equal(await fit({ precision: 'float64' }));
    });

  it("reject the randomization 'row', which would read the rows", async () => {
    const model = await new ReductionsWrapper().fit(rows.x, rows.y, { sensitive: rows.sensitive });
    const error = await failure(model.predict(rows.x, { randomization: 'row' }));
    expect(error).to.be.instanceOf(ValueError);
    expect((error as ValueError).suggestion).to.match(/draw/);
  });

  it('predict on tensors after a fit on arrays, and on arrays after a fit on tensors', async () => {
    for (const Reduction of [ReductionsWrapper, GridSearchReduction]) {
      const onArrays = await new Reduction().fit(features, labels, { sensitive: groups });
      const onDevice = await new Reduction().fit(rows.x, rows.y, { sensitive: rows.sensitive });
      const expected = await onArrays.predictProba(features);
      for (const model of [onArrays, onDevice]) {
        for (const X of [features, rows.x]) {
          const own = await model.predictProba(X);
          for (const [row, value] of expected.entries()) expect(own[row]).to.be.closeTo(value, TOLERANCE);
        }
      }
      expect(await onArrays.predict(rows.x)).to.deep.equal(await onDevice.predict(features));
    }
  });
});

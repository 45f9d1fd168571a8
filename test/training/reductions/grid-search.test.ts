import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { multiplierGrid } from '../../../src/training/reductions/multiplier-grid.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { LeastSquares } from './least-squares.ts';
import { ourMultiplier, ourName, readSmoke } from './smoke-inputs.ts';

interface GridFile {
  readonly grids: {
    readonly moment: string;
    readonly grid_size: number;
    readonly grid_limit: number;
    readonly index: string[];
    readonly columns: number[][];
  }[];
  readonly grid_search_runs: {
    readonly moment: string;
    readonly grid_size: number;
    readonly grid_limit: number;
    readonly constraint_weight: number;
    readonly best_idx: number;
    readonly objectives: number[];
    readonly gamma_max: number[];
    readonly lambda_vecs: number[][];
  }[];
}

const EXACT = 1e-12;

describeWithReference('grid search, the grids and runs of fairlearn', () => {
  const { grids, grid_search_runs: runs } = readVectors('fairlearn_grid_search.json') as GridFile;

  it('has all the cases', () => {
    expect([grids.length, runs.length]).to.deep.equal([8, 3]);
  });

  for (const { moment, grid_size: size, grid_limit: limit, index, columns } of grids) {
    it(`lays ${size} points out for ${moment} within ${limit}`, () => {
      // The group called 0 is left out of the basis there.
      const axes = index
        .filter((name) => name.startsWith('+') && name.endsWith('|1'))
        .map((name) => ({ positive: index.indexOf(name), negative: index.indexOf(name.replace('+', '-')) }));
      const grid = multiplierGrid(axes, index.length, { size, limit, onSimplex: false });
      expect(grid).to.have.lengthOf(columns.length);
      for (const [point, column] of columns.entries()) {
        for (const [place, value] of column.entries()) expect(grid[point]?.[place]).to.be.closeTo(value, EXACT);
      }
    });
  }

  const { rows } = readSmoke();
  const indexes: Readonly<Record<string, readonly string[]>> = {
    DemographicParity: ['all'],
    ErrorRateParity: ['all'],
    EqualizedOdds: ['label=0', 'label=1'],
  };
  for (const run of runs) {
    it(`finds the predictors of ${run.moment}, and the same best`, async () => {
      const search = new GridSearchReduction({
        estimator: new LeastSquares(),
        constraint: ourName(run.moment),
        gridSize: run.grid_size,
        gridLimit: run.grid_limit,
        constraintWeight: run.constraint_weight,
      });
      const { result } = await search.fit(rows.x, rows.labels, { sensitive: rows.sensitive });
      const names = ['+', '-'].flatMap((sign) =>
        (indexes[run.moment] ?? []).flatMap((event) =>
          ['A', 'B', 'C'].map((group) => ourMultiplier(`${sign}|${event}|${group}`)),
        ),
      );
      expect(result.bestIndex).to.equal(run.best_idx);
      for (const [point, vector] of run.lambda_vecs.entries()) {
        for (const [place, value] of vector.entries()) {
          expect(result.lambdas[point]?.[names[place] ?? ''] ?? 0).to.be.closeTo(value, EXACT);
        }
        expect(result.errors[point]).to.be.closeTo(run.objectives[point] ?? NaN, EXACT);
        expect(result.violations[point]).to.be.closeTo(run.gamma_max[point] ?? NaN, EXACT);
      }
    });
  }
});

describe('grid search', () => {
  const x = [[0], [1], [2], [3], [4], [5], [6], [7]].map(([value = NaN]) => [value, 1]);
  const y = [0, 0, 1, 1, 0, 1, 1, 1];
  const sensitive = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
  const estimator = new LeastSquares();

  it('fits at the points it is given, by name', async () => {
    const grid = [{}, { 'all/a/+': 0.25 }, { 'all/a/-': 0.5, 'all/b/+': 0.25 }];
    const search = await new GridSearchReduction({ estimator, grid }).fit(x, y, { sensitive });
    expect(search.result.lambdas).to.deep.equal(grid);
    expect(search.predictors).to.have.lengthOf(3);
  });

  it('predicts with the best of them', async () => {
    const search = await new GridSearchReduction({ estimator }).fit(x, y, { sensitive });
    expect(search.best).to.equal(search.predictors[search.bestIndex]);
    expect(await search.predict(x)).to.deep.equal(await search.best.predict(x));
    expect(await search.predictProba(x)).to.deep.equal(await search.best.predictProba(x));
  });

  it('weighs error against violation: all weight on the error finds the least error', async () => {
    const search = await new GridSearchReduction({ estimator, constraintWeight: 0 }).fit(x, y, { sensitive });
    const { errors, bestIndex } = search.result;
    expect(errors[bestIndex]).to.equal(Math.min(...errors));
  });

  it('spreads a bounded group loss over the groups, the whole limit at every point', async () => {
    const search = new GridSearchReduction({
      estimator: new LeastSquares({ isClassifier: false }),
      constraint: 'bounded_group_loss',
      gridSize: 3,
      gridLimit: 1,
    });
    const { result } = await search.fit(x, y, { sensitive });
    expect(result.lambdas).to.deep.equal([{ 'all/b/+': 1 }, { 'all/a/+': 0.5, 'all/b/+': 0.5 }, { 'all/a/+': 1 }]);
  });

  it('takes one group under a bounded group loss: the grid is one point', async () => {
    const search = new GridSearchReduction({
      estimator: new LeastSquares({ isClassifier: false }),
      constraint: 'bounded_group_loss',
      gridSize: 5,
    });
    const { result } = await search.fit(x, y, { sensitive: sensitive.map(() => 'a') });
    expect(result.lambdas).to.deep.equal([{ 'all/a/+': 2 }]);
  });

  it('takes a grid of one point: the unconstrained one', async () => {
    const { result } = await new GridSearchReduction({ estimator, gridSize: 1 }).fit(x, y, { sensitive });
    expect(result.lambdas).to.deep.equal([{}]);
  });

  it('warns where a grid has many dimensions', async () => {
    const { warnings } = await new GridSearchReduction({ estimator }).fit(x, y, {
      sensitive: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
    });
    expect(warnings.join(' ')).to.contain('7 dimensions');
  });

  const WRONG: readonly [string, ConstructorParameters<typeof GridSearchReduction>[0], string][] = [
    ['no points', { gridSize: 0 }, 'gridSize'],
    ['half a point', { gridSize: 2.5 }, 'gridSize'],
    ['a limit of 0', { gridLimit: 0 }, 'gridLimit'],
    ['a weight above 1', { constraintWeight: 1.5 }, 'constraintWeight'],
    ['an empty grid', { grid: [] }, 'grid'],
  ];
  for (const [title, options, parameter] of WRONG) {
    it(`refuses ${title}`, () => {
      expect(() => new GridSearchReduction(options)).to.throw(ValueError, `The ${parameter} parameter must`);
    });
  }

  it('refuses a multiplier that is none, naming those near it', async () => {
    const search = new GridSearchReduction({ estimator, grid: [{ 'all/c/+': 1 }] });
    const error: unknown = await search.fit(x, y, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValueError);
    expect((error as ValueError).suggestion).to.contain('all/a/+');
  });

  it('refuses a multiplier below 0', async () => {
    const search = new GridSearchReduction({ estimator, grid: [{ 'all/a/+': -1 }] });
    const error: unknown = await search.fit(x, y, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValueError);
  });

  it('refuses an event with one group only', async () => {
    const search = new GridSearchReduction({ estimator, constraint: 'true_positive_rate_parity' });
    const labels = sensitive.map((group) => Number(group === 'a'));
    const error: unknown = await search.fit(x, labels, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as DataValidationError).message).to.contain('two groups');
  });

  it('has nothing to predict with before fit', async () => {
    const error: unknown = await Promise.resolve()
      .then(() => new GridSearchReduction({ estimator }).predict(x))
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(TrainingError);
  });

  it('reports progress and stops at a signal', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const fit = new GridSearchReduction({ estimator }).fit(x, y, {
      sensitive,
      signal: controller.signal,
      onProgress: ({ stage, done, total }) => {
        seen.push(`${stage} ${done}/${total}`);
        if (done === 2) controller.abort(new Error('enough'));
      },
    });
    const error: unknown = await fit.catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.equal('enough');
    expect(seen).to.deep.equal(['grid search 1/10', 'grid search 2/10']);
  });
});

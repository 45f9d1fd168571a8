import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import type { ReductionConstraint } from '../../../src/training/reductions/constraint-names.ts';
import type { GridSearchFit } from '../../../src/training/reductions/search-grid.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { multiplierGrid } from '../../../src/training/reductions/multiplier-grid.ts';
import type { GridAxis } from '../../../src/training/reductions/reduction-problem.ts';
import { loadAnchorData, readAnchors } from '../../helpers/anchor-data.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { LeastSquares } from './least-squares.ts';
import { groupedRows } from './random-rows.ts';
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

  it('reads all cases', () => {
    expect([grids.length, runs.length]).to.deep.equal([8, 3]);
  });

  for (const { moment, grid_size: size, grid_limit: limit, index, columns } of grids) {
    it(`creates ${size} points for ${moment} within ${limit}`, () => {
      // The group named 0 is not in the basis there.
      const axes = index
        .filter((name) => name.startsWith('+') && name.endsWith('|1'))
        .map((name) => ({ positive: index.indexOf(name), negative: index.indexOf(name.replace('+', '-')) }));
      const grid = multiplierGrid(axes, index.length, { size, limit, onSimplex: false, compat: 'fairlearn' });
      expect(grid).to.have.lengthOf(columns.length);
      for (const [point, column] of columns.entries()) {
        for (const [position, value] of column.entries()) expect(grid[point]?.[position]).to.be.closeTo(value, EXACT);
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
    it(`finds the predictors of ${run.moment}, and selects the same one`, async () => {
      const search = new GridSearchReduction({
        estimator: new LeastSquares(),
        constraint: ourName(run.moment),
        gridSize: run.grid_size,
        gridLimit: run.grid_limit,
        constraintWeight: run.constraint_weight,
        compat: 'fairlearn',
      });
      const { result } = await search.fit(rows.x, rows.labels, { sensitive: rows.sensitive });
      const names = ['+', '-'].flatMap((sign) =>
        (indexes[run.moment] ?? []).flatMap((event) =>
          ['A', 'B', 'C'].map((group) => ourMultiplier(`${sign}|${event}|${group}`)),
        ),
      );
      expect(result.bestIndex).to.equal(run.best_idx);
      for (const [point, vector] of run.lambda_vecs.entries()) {
        for (const [position, value] of vector.entries()) {
          expect(result.lambdas[point]?.[names[position] ?? ''] ?? 0).to.be.closeTo(value, EXACT);
        }
        expect(result.errors[point]).to.be.closeTo(run.objectives[point] ?? NaN, EXACT);
        expect(result.violations[point]).to.be.closeTo(run.gamma_max[point] ?? NaN, EXACT);
      }
    });
  }
});

interface GridGolden {
  readonly cases: {
    readonly name: string;
    readonly x: number[][];
    readonly y: number[];
    readonly sensitive: string[];
    readonly runs: {
      readonly constraint: ReductionConstraint;
      readonly grid_size: number;
      readonly grid_limit: number;
      readonly lambdas: Record<string, number>[];
      readonly errors: number[];
      readonly violations: number[];
      readonly best_index: number;
    }[];
  }[];
}

describe("grid search with compat: 'fairlearn'", () => {
  const text = readFileSync(path.join(projectRoot, 'test/golden/grid-points.json'), 'utf8');
  for (const { name, x, y, sensitive, runs } of (JSON.parse(text) as GridGolden).cases) {
    for (const run of runs) {
      it(`has the points of fairlearn and selects the same one: ${name}, ${run.constraint}, ${run.grid_size} points`, async () => {
        const isClassifier = run.constraint !== 'bounded_group_loss';
        const search = new GridSearchReduction({
          estimator: new LeastSquares({ isClassifier }),
          constraint: run.constraint,
          gridSize: run.grid_size,
          gridLimit: run.grid_limit,
          compat: 'fairlearn',
        });
        const { result } = await search.fit(x, y, { sensitive });
        expect(result.lambdas).to.have.lengthOf(run.lambdas.length);
        for (const [point, expected] of run.lambdas.entries()) {
          const own = result.lambdas[point] ?? {};
          expect(Object.keys(own).sort()).to.deep.equal(Object.keys(expected).sort());
          for (const [key, value] of Object.entries(expected)) expect(own[key]).to.be.closeTo(value, EXACT);
        }
        for (const point of run.errors.keys()) {
          expect(result.errors[point]).to.be.closeTo(run.errors[point] ?? NaN, EXACT);
          expect(result.violations[point]).to.be.closeTo(run.violations[point] ?? NaN, EXACT);
        }
        expect(result.bestIndex).to.equal(run.best_index);
      });
    }
  }
});

/** Counts the integer points of L1 norm at most `units` in `d` dimensions: sum of 2^k C(d, k) C(units, k). */
function ballSize(d: number, units: number): number {
  return range(0, d).reduce((sum, k) => sum + 2 ** k * choose(d, k) * choose(units, k), 0);
}

function choose(n: number, k: number): number {
  return k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, step) => from + step);
}

describe('the points of a grid', () => {
  const axesOf = (d: number, isSigned: boolean): GridAxis[] =>
    range(0, d - 1).map((axis) => ({ positive: axis, negative: isSigned ? d + axis : null }));
  const signed = (d: number, size: number, limit = 2): number[][] =>
    multiplierGrid(axesOf(d, true), 2 * d, { size, limit, onSimplex: false }).map((point) =>
      range(0, d - 1).map((axis) => (point[axis] ?? NaN) - (point[d + axis] ?? NaN)),
    );
  const simplex = (d: number, size: number, limit = 2): number[][] =>
    multiplierGrid(axesOf(d, false), d, { size, limit, onSimplex: true }).map((point) => [...point]);
  const norm = (point: number[]): number => point.reduce((sum, value) => sum + Math.abs(value), 0);
  const texts = (points: number[][]): string[] => points.map((point) => point.map((value) => value + 0).join());

  for (const d of range(1, 6)) {
    it(`begin with the points of every smaller grid: ${d} dimensions`, () => {
      const [most, maxOfSimplex] = [signed(d, 150), simplex(d + 1, 150)];
      for (const size of range(1, 150)) {
        expect(signed(d, size)).to.deep.equal(most.slice(0, size));
        expect(simplex(d + 1, size)).to.deep.equal(maxOfSimplex.slice(0, size));
      }
    });

    it(`are distinct, within the limit, and as many as requested: ${d} dimensions`, () => {
      for (const size of [1, 2, 7, 13, 50, 151]) {
        for (const limit of [0.3, 2, 1e10]) {
          const [free, bound] = [signed(d, size, limit), simplex(d + 1, size, limit)];
          expect(new Set(texts(free)).size).to.equal(size);
          expect(new Set(texts(bound)).size).to.equal(size);
          for (const point of free) expect(norm(point)).to.be.at.most(limit * (1 + EXACT));
          for (const point of bound) expect(norm(point)).to.be.closeTo(limit, limit * EXACT);
        }
      }
    });

    for (const units of [1, 2, 4]) {
      it(`are the full lattice of ${units} steps if it has that many points: ${d} dimensions`, () => {
        const size = ballSize(d, units);
        if (size > 3000) return;
        const found = signed(d, size, 1);
        expect(new Set(texts(found)).size).to.equal(size);
        for (const point of found) {
          for (const value of point) expect(Number.isInteger(value * units)).to.equal(true);
        }
        const onSimplex = choose(units + d, d);
        for (const point of simplex(d + 1, onSimplex, 1)) {
          for (const value of point) expect(Number.isInteger(value * units)).to.equal(true);
        }
      });
    }
  }

  it('start with the unconstrained point', () => {
    expect(signed(3, 1)).to.deep.equal([[0, 0, 0]]);
  });

  it('are found without enumerating a lattice that is far too large', () => {
    expect(signed(500, 1200)).to.have.lengthOf(1200);
  });

  it('are a single point for one group under a bounded loss, for any requested number', () => {
    expect(simplex(1, 5)).to.deep.equal([[2]]);
  });
});

describe('a larger grid', () => {
  const min = ({ errors, violations, bestIndex }: GridSearchFit): number =>
    0.5 * (errors[bestIndex] ?? NaN) + 0.5 * (violations[bestIndex] ?? NaN);
  const { x, y, sensitive } = groupedRows();

  for (const constraint of ['demographic_parity', 'equalized_odds', 'bounded_group_loss'] as const) {
    it(`never selects a worse point than a smaller one: ${constraint}`, async () => {
      const costs: number[] = [];
      let selected: readonly unknown[] = [];
      for (const gridSize of range(1, 42)) {
        const search = new GridSearchReduction({
          estimator: new LeastSquares({ isClassifier: constraint !== 'bounded_group_loss' }),
          constraint,
          gridSize,
        });
        const { result } = await search.fit(x, y, { sensitive });
        expect(result.lambdas.slice(0, selected.length)).to.deep.equal(selected);
        selected = result.lambdas;
        costs.push(min(result));
      }
      for (const [index, cost] of costs.entries()) expect(cost).to.be.at.most(costs[index - 1] ?? Infinity);
    });
  }

  it('starts each fit from the nearest earlier point, so that fits do not depend on the size', async () => {
    const errorsOf = async (gridSize: number): Promise<readonly number[]> =>
      (await new GridSearchReduction({ gridSize, constraint: 'equalized_odds' }).fit(x, y, { sensitive })).result
        .errors;
    const few = await errorsOf(14);
    expect((await errorsOf(25)).slice(0, 14)).to.deep.equal(few);
  });
});

describeWithReference('a larger grid on german', () => {
  it('never selects a worse point than a smaller one @slow', async () => {
    const { train } = await loadAnchorData('german', readAnchors().german);
    const costs: number[] = [];
    for (const gridSize of [5, 9, 13, 15, 20, 25, 30, 41, 50]) {
      const search = new GridSearchReduction({ constraint: 'equalized_odds', gridSize });
      const { errors, violations, bestIndex } = (await search.fit(train.x, train.y, { sensitive: train.sensitive }))
        .result;
      costs.push(0.5 * (errors[bestIndex] ?? NaN) + 0.5 * (violations[bestIndex] ?? NaN));
    }
    for (const [index, cost] of costs.entries()) expect(cost).to.be.at.most(costs[index - 1] ?? Infinity);
  });
});

describe('grid search', () => {
  const x = [[0], [1], [2], [3], [4], [5], [6], [7]].map(([value = NaN]) => [value, 1]);
  const y = [0, 0, 1, 1, 0, 1, 1, 1];
  const sensitive = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
  const estimator = new LeastSquares();

  it('fits at the given points, by name', async () => {
    const grid = [{}, { 'all/a/+': 0.25 }, { 'all/a/-': 0.5, 'all/b/+': 0.25 }];
    const search = await new GridSearchReduction({ estimator, grid }).fit(x, y, { sensitive });
    expect(search.result.lambdas).to.deep.equal(grid);
    expect(search.predictors).to.have.lengthOf(3);
  });

  it('predicts with the best predictor', async () => {
    const search = await new GridSearchReduction({ estimator }).fit(x, y, { sensitive });
    expect(search.best).to.equal(search.predictors[search.bestIndex]);
    expect(await search.predict(x)).to.deep.equal(await search.best.predict(x));
    expect(await search.predictProba(x)).to.deep.equal(await search.best.predictProba(x));
  });

  it('weighs error against violation: with all weight on the error, it finds the least error', async () => {
    const search = await new GridSearchReduction({ estimator, constraintWeight: 0 }).fit(x, y, { sensitive });
    const { errors, bestIndex } = search.result;
    expect(errors[bestIndex]).to.equal(Math.min(...errors));
  });

  it('distributes the full limit over the groups at every point, for a bounded group loss', async () => {
    const search = new GridSearchReduction({
      estimator: new LeastSquares({ isClassifier: false }),
      constraint: 'bounded_group_loss',
      gridSize: 3,
      gridLimit: 1,
    });
    const { result } = await search.fit(x, y, { sensitive });
    expect(result.lambdas).to.deep.equal([{ 'all/b/+': 1 }, { 'all/a/+': 1 }, { 'all/a/+': 0.5, 'all/b/+': 0.5 }]);
  });

  it('accepts one group under a bounded group loss: the grid has one point', async () => {
    const search = new GridSearchReduction({
      estimator: new LeastSquares({ isClassifier: false }),
      constraint: 'bounded_group_loss',
      gridSize: 5,
    });
    const { result } = await search.fit(x, y, { sensitive: sensitive.map(() => 'a') });
    expect(result.lambdas).to.deep.equal([{ 'all/a/+': 2 }]);
  });

  it('accepts a grid of one point: the unconstrained one', async () => {
    const { result } = await new GridSearchReduction({ estimator, gridSize: 1 }).fit(x, y, { sensitive });
    expect(result.lambdas).to.deep.equal([{}]);
  });

  it('warns if a grid has many dimensions', async () => {
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
    ['the points of an unknown library', { compat: 'aif360' as 'fairlearn' }, 'compat'],
    ['both its own points and those of a library', { grid: [{}], compat: 'fairlearn' }, 'compat'],
  ];
  for (const [title, options, parameter] of WRONG) {
    it(`rejects ${title}`, () => {
      expect(() => new GridSearchReduction(options)).to.throw(ValueError, `The ${parameter} parameter must`);
    });
  }

  it('rejects an unknown multiplier, and suggests similar names', async () => {
    const search = new GridSearchReduction({ estimator, grid: [{ 'all/c/+': 1 }] });
    const error: unknown = await search.fit(x, y, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValueError);
    expect((error as ValueError).suggestion).to.contain('all/a/+');
  });

  it('rejects a multiplier below 0', async () => {
    const search = new GridSearchReduction({ estimator, grid: [{ 'all/a/+': -1 }] });
    const error: unknown = await search.fit(x, y, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValueError);
  });

  it('rejects an event with only one group', async () => {
    const search = new GridSearchReduction({ estimator, constraint: 'true_positive_rate_parity' });
    const labels = sensitive.map((group) => Number(group === 'a'));
    const error: unknown = await search.fit(x, labels, { sensitive }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as DataValidationError).message).to.contain('two groups');
  });

  it('throws if it predicts before fit', async () => {
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

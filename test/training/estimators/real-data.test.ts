import { expect } from 'chai';

import { loadData } from '../../../src/io/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import type { Table } from '../../../src/table/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { anchorRun, type DataName, loadAnchorData, readAnchors } from '../../helpers/anchor-data.ts';
import { describeWithReference, readVectors, referencePath } from '../../helpers/reference.ts';
import { largestDistance, type Linear, objectiveOf, type PlainRows, scaledSlopesOf, slopesOf } from './definitions.ts';

/** Named columns of numbers, in the order of a model's coefficients. */
type Columns = Record<string, number[]>;

function rowsOf(columns: Columns): number[][] {
  const values = Object.values(columns);
  return (values[0] ?? []).map((_, row) => values.map((column) => column[row] ?? NaN));
}

function texts(table: Table, name: string): string[] {
  const { codes, labels } = table.categorical(name);
  return Array.from(codes, (code) => labels[code] ?? '');
}

function numbers(table: Table, name: string): number[] {
  return [...table.numeric(name).values];
}

/** Returns the row numbers that ProPublica selected. */
function propublicaRows(table: Table): number[] {
  const days = numbers(table, 'days_b_screening_arrest');
  const recidivism = numbers(table, 'is_recid');
  const [degree, score] = [texts(table, 'c_charge_degree'), texts(table, 'score_text')];
  return [...days.keys()].filter(
    (row) => Math.abs(days[row] ?? NaN) <= 30 && recidivism[row] !== -1 && degree[row] !== 'O' && score[row] !== 'N/A',
  );
}

/** The parts of the reference files that are used here. */
interface GlmReference {
  readonly propublica: {
    readonly glm: {
      readonly n: number;
      readonly coefficients: Record<string, number>;
      readonly residual_deviance: number;
      readonly recomputed: Record<string, number>;
      readonly recomputed_deviance: number;
    };
  };
}

describeWithReference("LogisticRegression is R's glm on ProPublica's COMPAS rows", () => {
  let model: LogisticRegression;
  let quick: LogisticRegression;
  let names: string[];
  const { glm } = (readVectors('real_data_reference_part1.json') as GlmReference).propublica;

  before(async () => {
    const table = await loadData(referencePath('data', 'compas.csv'));
    const kept = propublicaRows(table);
    const is = (name: string, value: string) => {
      const values = texts(table, name);
      return kept.map((row) => Number(values[row] === value));
    };
    const pick = (name: string) => {
      const values = numbers(table, name);
      return kept.map((row) => values[row] ?? NaN);
    };
    const races = ['African-American', 'Asian', 'Hispanic', 'Native American', 'Other'];
    const columns: Columns = {
      Female: is('sex', 'Female'),
      'Greater than 45': is('age_cat', 'Greater than 45'),
      'Less than 25': is('age_cat', 'Less than 25'),
      ...Object.fromEntries(races.map((race) => [race, is('race', race)])),
      priors_count: pick('priors_count'),
      crime_M: is('c_charge_degree', 'M'),
      two_year_recid: pick('two_year_recid'),
    };
    names = Object.keys(columns);
    const [x, y] = [rowsOf(columns), is('score_text', 'Low').map((low) => 1 - low)];
    expect(y).to.have.length(glm.n);
    model = await new LogisticRegression({ l2: 0, precision: 'float64' }).fit(x, y);
    quick = await new LogisticRegression({ l2: 0, backend: 'wasm' }).fit(x, y);
  });

  const named = (of: LogisticRegression) =>
    Object.fromEntries([
      ['(Intercept)', of.intercept],
      ...names.map((name, column) => [name, of.coefficients[column]] as const),
    ]) as Record<string, number>;

  for (const name of Object.keys(glm.coefficients)) {
    it(`${name}: published to 5 decimals, computed to 1e-8`, () => {
      const value = named(model)[name] ?? NaN;
      expect(value.toFixed(5)).to.equal(glm.coefficients[name]?.toFixed(5));
      expect(value).to.be.closeTo(glm.recomputed[name] ?? NaN, 1e-8);
    });
  }

  it('the residual deviance: published to 1 decimal, computed to 1e-8', () => {
    expect(model.deviance.toFixed(1)).to.equal(glm.residual_deviance.toFixed(1));
    expect(model.deviance).to.be.closeTo(glm.recomputed_deviance, 1e-8);
    expect([model.converged, model.warnings]).to.deep.equal([true, []]);
  });

  it('float32 on tensors agrees to 1e-4', () => {
    expect(largestDistance(quick.coefficients, model.coefficients)).to.be.below(1e-4);
    expect(quick.deviance).to.be.closeTo(model.deviance, 0.01);
  });
});

/**
 * scikit-learn's lbfgs stops when no derivative of the mean objective exceeds this. For the rare levels of one-hot
 * columns this is far from the optimum: coefficients of Adult then differ by 0.3. The test therefore compares the
 * objective and its derivatives.
 */
const STOPPING_SLOPE = 1e-4;

for (const name of ['compas', 'german', 'adult'] satisfies DataName[]) {
  describeWithReference(`LogisticRegression is scikit-learn's on ${name}`, () => {
    const anchors = readAnchors()[name];
    const { coef = [], intercept = NaN, train } = anchorRun(anchors, 'unconstrained_lr');
    const theirs: Linear = { coefficients: coef, intercept };
    let rows: PlainRows;
    let exact: LogisticRegression;

    before(async () => {
      const part = (await loadAnchorData(name, anchors)).train;
      const { rows: n, columns, values } = part.x;
      rows = {
        x: Array.from({ length: n }, (_, row) => [...values.subarray(row * columns, (row + 1) * columns)]),
        y: [...part.y],
      };
      expect(n).to.equal(anchors.n_train);
      exact = await new LogisticRegression({ precision: 'float64' }).fit(rows.x, rows.y);
    });

    it('minimises the same objective: the gradient is within tolerance at their solution, and zero at ours', () => {
      expect(Math.max(...slopesOf(rows, theirs, 1))).to.be.below(STOPPING_SLOPE);
      expect(Math.max(...scaledSlopesOf(rows, exact, 1))).to.be.below(1e-11);
    });

    it('reaches a lower objective, by no more than their gradient allows', () => {
      // A convex function lies above its tangents: f(theirs) - f(ours) <= gradient (theirs - ours).
      const steps = [...coef, intercept].map((value, index) =>
        Math.abs(value - (exact.coefficients[index] ?? exact.intercept)),
      );
      const allowed = rows.y.length * STOPPING_SLOPE * steps.reduce((sum, step) => sum + step, 0);
      expect(objectiveOf(rows, theirs, 1) - objectiveOf(rows, exact, 1)).to.be.within(0, allowed);
    });

    it('is as accurate on the training rows, up to one row or one in 1000', async () => {
      const decisions = await exact.predict(rows.x);
      const right = decisions.filter((decision, row) => decision === rows.y[row]).length;
      expect(right / rows.y.length).to.be.closeTo(train.accuracy, Math.max(1e-3, 1.01 / rows.y.length));
    });

    if (name === 'compas') {
      it('has the same coefficients to 1e-3 if every feature has many rows', () => {
        expect(largestDistance(exact.coefficients, coef)).to.be.below(1e-3);
        expect(exact.intercept).to.be.closeTo(intercept, 1e-3);
      });
    }

    it('float32 on tensors gives the same probabilities to 1e-5, and coefficients to 1e-4', async () => {
      await loadTensorflow({ backend: 'wasm' });
      const quick = await new LogisticRegression({ backend: 'wasm' }).fit(rows.x, rows.y);
      const [left, right] = [await quick.predictProba(rows.x), await exact.predictProba(rows.x)];
      expect(largestDistance(left, right)).to.be.below(1e-5);
      expect(largestDistance(quick.coefficients, exact.coefficients)).to.be.below(1e-4);
    });
  });
}

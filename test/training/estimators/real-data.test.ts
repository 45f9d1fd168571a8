import { expect } from 'chai';

import { loadData } from '../../../src/io/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import type { Table } from '../../../src/table/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
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

/** (value - mean) / population standard deviation, both of the training rows. */
function standardised(values: readonly number[], isTraining: (row: number) => boolean): number[] {
  const training = values.filter((_, row) => isTraining(row));
  const mean = training.reduce((sum, value) => sum + value, 0) / training.length;
  const variance = training.reduce((sum, value) => sum + (value - mean) ** 2, 0) / training.length;
  return values.map((value) => (value - mean) / Math.sqrt(variance));
}

/** One column of 0 and 1 per text, in sorted order. */
function oneHot(name: string, values: readonly string[], all: readonly string[] = values): Columns {
  const levels = [...new Set(all)].sort();
  return Object.fromEntries(
    levels.map((level) => [`${name}_${level}`, values.map((value) => Number(value === level))]),
  );
}

/** ProPublica's choice of rows, as row numbers. */
function propublicaRows(table: Table): number[] {
  const days = numbers(table, 'days_b_screening_arrest');
  const recidivism = numbers(table, 'is_recid');
  const [degree, score] = [texts(table, 'c_charge_degree'), texts(table, 'score_text')];
  return [...days.keys()].filter(
    (row) => Math.abs(days[row] ?? NaN) <= 30 && recidivism[row] !== -1 && degree[row] !== 'O' && score[row] !== 'N/A',
  );
}

const isTraining = (row: number) => row % 10 < 7;

async function readCompas(): Promise<{ columns: Columns; y: number[] }> {
  const table = await loadData(referencePath('data', 'compas.csv'));
  const kept = propublicaRows(table);
  const pick = <T>(values: readonly T[]) => kept.map((row) => values[row] as T);
  const counts = ['age', 'juv_fel_count', 'juv_misd_count', 'juv_other_count', 'priors_count'];
  return {
    columns: {
      ...Object.fromEntries(counts.map((name) => [name, standardised(pick(numbers(table, name)), isTraining)])),
      male: pick(texts(table, 'sex')).map((sex) => Number(sex === 'Male')),
      felony: pick(texts(table, 'c_charge_degree')).map((degree) => Number(degree === 'F')),
    },
    y: pick(numbers(table, 'two_year_recid')),
  };
}

async function readGerman(): Promise<{ columns: Columns; y: number[] }> {
  const table = await loadData(referencePath('data', 'german.csv'));
  const features = table.columnNames.filter((name) => name !== 'credit' && name !== 'personal_status');
  const isNumeric = (name: string) => table.column(name).kind === 'numeric';
  const numeric = features.filter(isNumeric).map((name) => [name, standardised(numbers(table, name), isTraining)]);
  const categorical = features.filter((name) => !isNumeric(name)).map((name) => oneHot(name, texts(table, name)));
  return {
    columns: Object.assign({}, Object.fromEntries(numeric) as Columns, ...categorical) as Columns,
    y: numbers(table, 'credit').map((credit) => Number(credit === 1)),
  };
}

async function readAdult(): Promise<{ columns: Columns; y: number[] }> {
  const table = await loadData(referencePath('data', 'adult.train.csv'));
  const numeric = ['age', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week'];
  const categorical = ['workclass', 'marital-status', 'occupation', 'relationship'];
  return {
    columns: Object.assign(
      {},
      Object.fromEntries(numeric.map((name) => [name, standardised(numbers(table, name), () => true)])),
      ...categorical.map((name) => oneHot(name, texts(table, name))),
    ) as Columns,
    y: texts(table, 'income-per-year').map((income) => Number(income.startsWith('>50K'))),
  };
}

/** What the reference files hold, by the parts used here. */
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
interface AnchorReference {
  readonly datasets: Record<
    string,
    {
      readonly n_train: number;
      readonly columns: string[];
      readonly runs: {
        readonly unconstrained_lr: {
          readonly coef: number[];
          readonly intercept: number;
          readonly train: { readonly accuracy: number };
        };
      };
    }
  >;
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

const READERS = { compas: readCompas, german: readGerman, adult: readAdult };

/**
 * Its lbfgs stops where no slope of the mean objective exceeds this. On the rare
 * levels of one-hot columns that is far from flat: coefficients of Adult are then
 * off by 0.3, so what is compared is the objective and its slopes.
 */
const STOPPING_SLOPE = 1e-4;

for (const [name, read] of Object.entries(READERS)) {
  describeWithReference(`LogisticRegression is scikit-learn's on ${name}`, () => {
    const anchor = (readVectors('anchor_runs_real_data.json') as AnchorReference).datasets[name];
    const { coef = [], intercept = NaN } = anchor?.runs.unconstrained_lr ?? {};
    const theirs: Linear = { coefficients: coef, intercept };
    let rows: PlainRows;
    let exact: LogisticRegression;

    before(async () => {
      const { columns, y } = await read();
      expect(Object.keys(columns)).to.deep.equal(anchor?.columns);
      const isKept = name === 'adult' ? () => true : isTraining;
      rows = { x: rowsOf(columns).filter((_, row) => isKept(row)), y: y.filter((_, row) => isKept(row)) };
      expect(rows.y).to.have.length(anchor?.n_train ?? NaN);
      exact = await new LogisticRegression({ precision: 'float64' }).fit(rows.x, rows.y);
    });

    it('minimises the same objective: theirs is as flat at their answer as they stop at, and flat at ours', () => {
      expect(Math.max(...slopesOf(rows, theirs, 1))).to.be.below(STOPPING_SLOPE);
      expect(Math.max(...scaledSlopesOf(rows, exact, 1))).to.be.below(1e-11);
    });

    it('ends lower, by no more than their slopes allow', () => {
      // A convex function lies above its tangents: f(theirs) - f(ours) <= slope (theirs - ours).
      const steps = [...coef, intercept].map((value, place) =>
        Math.abs(value - (exact.coefficients[place] ?? exact.intercept)),
      );
      const allowed = rows.y.length * STOPPING_SLOPE * steps.reduce((sum, step) => sum + step, 0);
      expect(objectiveOf(rows, theirs, 1) - objectiveOf(rows, exact, 1)).to.be.within(0, allowed);
    });

    it('decides as well on the rows learned from, to one row or one in 1000', async () => {
      const decisions = await exact.predict(rows.x);
      const right = decisions.filter((decision, row) => decision === rows.y[row]).length;
      expect(right / rows.y.length).to.be.closeTo(
        anchor?.runs.unconstrained_lr.train.accuracy ?? NaN,
        Math.max(1e-3, 1.01 / rows.y.length),
      );
    });

    if (name === 'compas') {
      it('has the coefficients, where every feature has many rows, to 1e-3', () => {
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

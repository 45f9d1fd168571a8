import { loadData } from '../../../../src/io/index.ts';
import { readVectors, referencePath } from '../../../helpers/reference.ts';

/** Rates of randomised decisions, as the reference runs report them. */
export interface RunFigures {
  readonly accuracy: number;
  readonly dpd: number;
  readonly eod: number;
  readonly selection: Record<string, number>;
  readonly tpr: Record<string, number>;
  readonly fpr: Record<string, number>;
}

/** Rows with the scores of the reference run's plain logistic regression. */
export interface ScoredPart {
  readonly scores: number[];
  readonly y: number[];
  readonly sensitive: string[];
}

interface Run {
  readonly coef: number[];
  readonly intercept: number;
  readonly train: RunFigures;
  readonly test: RunFigures;
}

interface Dataset {
  readonly columns: string[];
  readonly n_train: number;
  readonly n_test: number;
  readonly runs: Record<'unconstrained_lr' | 'threshold_demographic_parity' | 'threshold_equalized_odds', Run>;
}

type Row = Record<string, string | number | null>;

/** A data set, and how the reference runs read it. */
interface Reading {
  load(): Promise<{ rows: Row[]; isTest: (row: number) => boolean }>;
  group(row: Row): string;
  label(row: Row): number;
  /** A feature before it is standardised. */
  feature(row: Row, name: string): number;
  isStandardised(name: string): boolean;
}

export type DatasetName = 'compas' | 'german' | 'adult';

async function rowsOf(file: string): Promise<Row[]> {
  const columns = (await loadData(referencePath('data', file))).toColumns();
  const names = Object.keys(columns);
  return (columns[names[0] ?? ''] ?? []).map((_, row) =>
    Object.fromEntries(names.map((name) => [name, columns[name]?.[row] ?? null])),
  );
}

/** 1 where a column named "base_level" has the level. */
function oneHot(row: Row, name: string, bases: readonly string[]): number {
  const base = bases.find((candidate) => name.startsWith(`${candidate}_`)) ?? '';
  return Number(String(row[base]) === name.slice(base.length + 1));
}

const everyThirdTail = (row: number): boolean => row % 10 >= 7;

const READINGS: Record<DatasetName, Reading> = {
  compas: {
    async load() {
      const all = await rowsOf('compas.csv');
      const rows = all.filter(
        (row) =>
          row['days_b_screening_arrest'] !== null &&
          Math.abs(Number(row['days_b_screening_arrest'])) <= 30 &&
          row['is_recid'] !== -1 &&
          row['c_charge_degree'] !== 'O' &&
          row['score_text'] !== 'N/A',
      );
      return { rows, isTest: everyThirdTail };
    },
    group: ({ race }) => (race === 'African-American' ? 'AA' : race === 'Caucasian' ? 'C' : 'Other'),
    label: (row) => Number(row['two_year_recid']),
    feature(row, name) {
      if (name === 'male') return Number(row['sex'] === 'Male');
      return name === 'felony' ? Number(row['c_charge_degree'] === 'F') : Number(row[name]);
    },
    isStandardised: (name) => name !== 'male' && name !== 'felony',
  },
  german: {
    load: async () => ({ rows: await rowsOf('german.csv'), isTest: everyThirdTail }),
    group: (row) => (['A92', 'A95'].includes(String(row['personal_status'])) ? 'female' : 'male'),
    label: (row) => Number(row['credit'] === 1),
    feature: (row, name) =>
      GERMAN_NUMBERS.includes(name)
        ? Number(row[name])
        : oneHot(
            row,
            name,
            Object.keys(row).filter((key) => key !== 'credit'),
          ),
    isStandardised: (name) => GERMAN_NUMBERS.includes(name),
  },
  adult: {
    async load() {
      const train = await rowsOf('adult.train.csv');
      const test = await rowsOf('adult.test.csv');
      return { rows: [...train, ...test], isTest: (row) => row >= train.length };
    },
    group: (row) => String(row['sex']),
    label: (row) => Number(String(row['income-per-year']).includes('>50K')),
    feature: (row, name) =>
      ADULT_NUMBERS.includes(name)
        ? Number(row[name])
        : oneHot(row, name, ['workclass', 'marital-status', 'occupation', 'relationship']),
    isStandardised: (name) => ADULT_NUMBERS.includes(name),
  },
};

const GERMAN_NUMBERS = [
  'month',
  'credit_amount',
  'investment_as_income_percentage',
  'residence_since',
  'age',
  'number_of_credits',
  'people_liable_for',
];

const ADULT_NUMBERS = ['age', 'education-num', 'capital-gain', 'capital-loss', 'hours-per-week'];

/** The reference runs of a data set. */
export function anchorRuns(name: DatasetName): Dataset {
  const { datasets } = readVectors('anchor_runs_real_data.json') as { datasets: Record<DatasetName, Dataset> };
  return datasets[name];
}

/** The rows of a data set, scored by the coefficients of the reference run. */
export async function scoredParts(name: DatasetName): Promise<{ train: ScoredPart; test: ScoredPart }> {
  const { columns, runs } = anchorRuns(name);
  const reading = READINGS[name];
  const { rows, isTest } = await reading.load();
  const features = columns.map((column) => {
    const values = Float64Array.from(rows, (row) => reading.feature(row, column));
    return reading.isStandardised(column) ? standardise(values, isTest) : values;
  });
  const { coef, intercept } = runs.unconstrained_lr;
  const scored = rows.map((row, index) => {
    const logit = coef.reduce((sum, weight, place) => sum + weight * (features[place]?.[index] ?? NaN), intercept);
    return { score: 1 / (1 + Math.exp(-logit)), y: reading.label(row), group: reading.group(row) };
  });
  const part = (isMeant: (row: number) => boolean): ScoredPart => {
    const meant = scored.filter((_, row) => isMeant(row));
    return {
      scores: meant.map(({ score }) => score),
      y: meant.map(({ y }) => y),
      sensitive: meant.map(({ group }) => group),
    };
  };
  return { train: part((row) => !isTest(row)), test: part(isTest) };
}

/** By mean and population standard deviation of the training rows. */
function standardise(values: Float64Array, isTest: (row: number) => boolean): Float64Array {
  const train = values.filter((_, row) => !isTest(row));
  const mean = train.reduce((sum, value) => sum + value, 0) / train.length;
  const variance = train.reduce((sum, value) => sum + (value - mean) ** 2, 0) / train.length;
  return values.map((value) => (value - mean) / Math.sqrt(variance));
}

/** What decisions come to in expectation, counted here: by no code under test. */
export function figuresOf({ y, sensitive }: ScoredPart, probabilities: ArrayLike<number>): RunFigures {
  const groups = [...new Set(sensitive)].sort();
  const rate = (isMeant: (row: number) => boolean): number => {
    let [sum, count] = [0, 0];
    for (let row = 0; row < y.length; row++) {
      if (!isMeant(row)) continue;
      sum += probabilities[row] ?? NaN;
      count++;
    }
    return sum / count;
  };
  const byGroup = (isMeant: (row: number) => boolean): Record<string, number> =>
    Object.fromEntries(groups.map((group) => [group, rate((row) => sensitive[row] === group && isMeant(row))]));
  const gap = (rates: Record<string, number>): number =>
    Math.max(...Object.values(rates)) - Math.min(...Object.values(rates));
  const [selection, tpr, fpr] = [byGroup(() => true), byGroup((row) => y[row] === 1), byGroup((row) => y[row] === 0)];
  const right = y.map((label, row) => (label === 1 ? (probabilities[row] ?? NaN) : 1 - (probabilities[row] ?? NaN)));
  return {
    accuracy: right.reduce((sum, value) => sum + value, 0) / y.length,
    dpd: gap(selection),
    eod: Math.max(gap(tpr), gap(fpr)),
    selection,
    tpr,
    fpr,
  };
}

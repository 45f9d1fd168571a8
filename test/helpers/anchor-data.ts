import { loadData } from '../../src/io/index.ts';
import type { Table } from '../../src/table/index.ts';
import { readVectors, referencePath } from './reference.ts';

/** The figures of one run on one part of the data. */
export interface RunFigures {
  readonly accuracy: number;
  readonly dpd: number;
  readonly eod: number;
  /** Selection rates by group. */
  readonly selection: Readonly<Record<string, number>>;
  readonly tpr: Readonly<Record<string, number>>;
  readonly fpr: Readonly<Record<string, number>>;
}

/** One anchor run; for a linear model with its coefficients. */
export interface AnchorRun {
  readonly oracle_calls?: number;
  readonly coef?: readonly number[];
  readonly intercept?: number;
  readonly train: RunFigures;
  readonly test: RunFigures;
}

/** A data set of the anchor runs: its split, its encoding, and the results. */
export interface AnchorData {
  readonly n_train: number;
  readonly n_test: number;
  readonly columns: readonly string[];
  readonly groups: Readonly<Record<string, number>>;
  readonly base_rate_train: number;
  readonly runs: Readonly<Record<string, AnchorRun>>;
}

export type DataName = 'compas' | 'german' | 'adult';

/** Returns one run of a data set. */
export function anchorRun({ runs }: AnchorData, name: string): AnchorRun {
  const run = runs[name];
  if (run === undefined) throw new Error(`no anchor run ${name}`);
  return run;
}

export function readAnchors(): Readonly<Record<DataName, AnchorData>> {
  return (readVectors('anchor_runs_real_data.json') as { datasets: Record<DataName, AnchorData> }).datasets;
}

/** The encoded rows of one part. */
export interface Part {
  readonly x: { readonly rows: number; readonly columns: number; readonly values: Float64Array };
  readonly y: Float64Array;
  readonly sensitive: string[];
}

/** Reads a column of a row as text; missing values are ''. */
type Row = (name: string) => string;

/** How to prepare a file as the data of the anchor runs. */
interface Recipe {
  readonly files: readonly string[];
  readonly keep: (row: Row) => boolean;
  readonly isTrain: (index: number, file: number) => boolean;
  readonly label: (row: Row) => boolean;
  readonly group: (row: Row) => string;
  /** Derived columns that the file does not contain, by name. */
  readonly derived: Readonly<Record<string, (row: Row) => boolean>>;
}

const everyTenth = (index: number): boolean => index % 10 < 7;

const RECIPES: Readonly<Record<DataName, Recipe>> = {
  compas: {
    files: ['compas.csv'],
    keep: (row) =>
      Math.abs(Number(row('days_b_screening_arrest') || NaN)) <= 30 &&
      row('is_recid') !== '-1' &&
      row('c_charge_degree') !== 'O' &&
      row('score_text') !== 'N/A',
    isTrain: everyTenth,
    label: (row) => row('two_year_recid') === '1',
    group: (row) => ({ 'African-American': 'AA', Caucasian: 'C' })[row('race')] ?? 'Other',
    derived: { male: (row) => row('sex') === 'Male', felony: (row) => row('c_charge_degree') === 'F' },
  },
  german: {
    files: ['german.csv'],
    keep: () => true,
    isTrain: everyTenth,
    label: (row) => row('credit') === '1',
    group: (row) => (['A92', 'A95'].includes(row('personal_status')) ? 'female' : 'male'),
    derived: {},
  },
  adult: {
    files: ['adult.train.csv', 'adult.test.csv'],
    keep: () => true,
    isTrain: (_, file) => file === 0,
    label: (row) => row('income-per-year').startsWith('>50K'),
    group: (row) => row('sex'),
    derived: {},
  },
};

/** Reads a data set like the anchor runs: numbers standardised by the training rows, one column per text. */
export async function loadAnchorData(name: DataName, { columns }: AnchorData): Promise<{ train: Part; test: Part }> {
  const recipe = RECIPES[name];
  const tables = await Promise.all(recipe.files.map((file) => loadData(referencePath('data', file))));
  const rows = tables.flatMap((table, file) =>
    rowsOf(table)
      .filter(recipe.keep)
      .map((row, index) => ({ row, isTrain: recipe.isTrain(index, file) })),
  );
  const [train, test] = [true, false].map((wanted) =>
    rows.filter(({ isTrain }) => isTrain === wanted).map(({ row }) => row),
  );
  const known = new Set(tables[0]?.columnNames ?? []);
  const encoders = columns.map((column) => encoderOf(column, known, recipe, train ?? []));
  return { train: encode(train ?? [], encoders, recipe), test: encode(test ?? [], encoders, recipe) };
}

function rowsOf(table: Table): Row[] {
  const columns = new Map(
    table.columnNames.map((name) => {
      const column = table.column(name);
      if (column.kind === 'categorical') return [name, (row: number) => column.labels[column.codes[row] ?? -1] ?? ''];
      return [name, (row: number) => (Number.isNaN(column.values[row]) ? '' : String(column.values[row]))];
    }),
  );
  return Array.from(
    { length: table.rowCount },
    (_, index) => (name: string) => (columns.get(name)?.(index) ?? '').trim(),
  );
}

function encoderOf(
  column: string,
  known: ReadonlySet<string>,
  { derived }: Recipe,
  train: readonly Row[],
): (row: Row) => number {
  const own = derived[column];
  if (own !== undefined) return (row) => Number(own(row));
  if (known.has(column)) {
    const values = train.map((row) => Number(row(column)));
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    return (row) => (Number(row(column)) - mean) / deviation;
  }
  const name = [...known].find((each) => column.startsWith(`${each}_`));
  if (name === undefined) throw new Error(`no column for ${column}`);
  const level = column.slice(name.length + 1);
  return (row) => Number(row(name) === level);
}

function encode(rows: readonly Row[], encoders: readonly ((row: Row) => number)[], { label, group }: Recipe): Part {
  return {
    x: {
      rows: rows.length,
      columns: encoders.length,
      values: Float64Array.from(rows.flatMap((row) => encoders.map((encoder) => encoder(row)))),
    },
    y: Float64Array.from(rows, (row) => Number(label(row))),
    sensitive: rows.map(group),
  };
}

/** Computes the expected metrics of randomised decisions, without the code under test. */
export function measure(
  probabilities: ArrayLike<number>,
  { y, sensitive }: { readonly y: ArrayLike<number>; readonly sensitive: readonly string[] },
): RunFigures {
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
  let right = 0;
  for (let row = 0; row < y.length; row++) {
    const chosen = probabilities[row] ?? NaN;
    right += y[row] === 1 ? chosen : 1 - chosen;
  }
  return {
    accuracy: right / y.length,
    dpd: gap(selection),
    eod: Math.max(gap(tpr), gap(fpr)),
    selection,
    tpr,
    fpr,
  };
}

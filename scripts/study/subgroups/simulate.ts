import { createRandom, type Random } from '../../../src/internal/random.ts';
import { findSubgroups } from '../../../src/metrics/index.ts';

/** A setting of the study. */
export interface SubgroupSetting {
  readonly id: string;
  readonly title: string;
  readonly method: 'split' | 'max-t';
  /** The number of rows of each person; 1 without clusters. */
  readonly clusterSize: number;
  /** The correlation of the outcomes of a person. */
  readonly correlation: number;
  /** The number of columns that are the same in all rows of a person. */
  readonly personColumns: number;
  /** How much the rate of the planted subgroup differs; 0 plants nothing. */
  readonly effect: number;
}

const SPLIT = { method: 'split', clusterSize: 1, correlation: 0, personColumns: 0, effect: 0 } as const;

/** The settings: nothing planted, and a planted subgroup of three conditions. */
export const SUBGROUP_SETTINGS: readonly SubgroupSetting[] = [
  { ...SPLIT, id: 'null', title: 'nothing planted' },
  { ...SPLIT, id: 'null-clusters', title: 'nothing planted, 10 rows per person, correlation 0.5', clusterSize: 10, correlation: 0.5, personColumns: 4 }, // prettier-ignore
  { ...SPLIT, id: 'null-max-t', title: 'nothing planted, max-t', method: 'max-t' },
  { ...SPLIT, id: 'null-max-t-clusters', title: 'nothing planted, max-t, 10 rows per person, correlation 0.5', method: 'max-t', clusterSize: 10, correlation: 0.5, personColumns: 4 }, // prettier-ignore
  { ...SPLIT, id: 'planted', title: 'planted: 3% of the rows, +0.15', effect: 0.15 },
  { ...SPLIT, id: 'planted-clusters', title: 'planted: 3% of the rows, +0.15, 5 rows per person, correlation 0.1', clusterSize: 5, correlation: 0.1, personColumns: 2, effect: 0.15 }, // prettier-ignore
  { ...SPLIT, id: 'planted-max-t', title: 'planted: 3% of the rows, +0.15, max-t', method: 'max-t', effect: 0.15 },
];

/** The outcome of one data set. */
export interface SubgroupOutcome {
  readonly reported: number;
  /** The largest overlap (Jaccard) of a reported subgroup with the planted one; 0 if nothing is reported. */
  readonly overlap: number;
  /** Whether the intervals of all reported subgroups contain the true difference. */
  readonly covers: boolean;
}

export const ROWS = 20_000;
const BASE_RATE = 0.3;

/** The planted conditions `c0 = v0`, `c1 = v0`, `c2 = v0` hold for 0.31^3 = 3% of the rows. */
const SHARES = [0.31, 0.29, 0.25, 0.15];
const LABELLED = 6;

/** Draws a data set, searches it, and compares the report with what was planted. */
export async function simulateSubgroups(
  { method, clusterSize, correlation, personColumns, effect }: SubgroupSetting,
  seed: number,
): Promise<SubgroupOutcome> {
  const random = createRandom(seed, 7);
  const columns: Record<string, string[] | Float64Array> = {};
  for (let column = 0; column < LABELLED; column++) {
    columns[`c${String(column)}`] = drawLabels(random, column < personColumns ? clusterSize : 1);
  }
  columns['age'] = Float64Array.from({ length: ROWS }, () => 18 + random.integer(60));
  columns['score'] = Float64Array.from({ length: ROWS }, () => random.normal());
  const isPlanted = Uint8Array.from({ length: ROWS }, (_, row) =>
    Number([0, 1, 2].every((column) => columns[`c${String(column)}`]?.[row] === 'v0')),
  );
  const truth = new Float64Array(ROWS);
  const decided = new Uint8Array(ROWS);
  // The outcome of a row is that of its person with this probability, which gives the correlation.
  const copies = Math.sqrt(correlation);
  let own = 0;
  for (let row = 0; row < ROWS; row++) {
    if (row % clusterSize === 0) own = random.next();
    const rate = BASE_RATE + effect * (isPlanted[row] as number);
    truth[row] = rate;
    const draw = random.next() < copies ? own : random.next();
    decided[row] = Number(draw < rate);
  }
  const person = Array.from({ length: ROWS }, (_, row) => `p${String(Math.floor(row / clusterSize))}`);
  const found = await findSubgroups(
    { ...columns, decided, person },
    {
      columns: Object.keys(columns),
      yPred: 'decided',
      method,
      samples: 199,
      seed,
      ...(clusterSize > 1 ? { cluster: 'person' } : {}),
    },
  );
  const outcomes = found.subgroups.map(({ columns: conditions, ci }) => {
    const bins = found.columns.filter(({ kind }) => kind === 'bins').map(({ name }) => name);
    // The conditions on numbers are independent of the planted ones, so only labels are compared row by row.
    if (bins.some((name) => name in conditions)) return undefined;
    const isIn = Uint8Array.from({ length: ROWS }, (_, row) =>
      Number(Object.entries(conditions).every(([name, label]) => columns[name]?.[row] === label)),
    );
    let [both, either, inside, insideSum, outsideSum] = [0, 0, 0, 0, 0];
    for (let row = 0; row < ROWS; row++) {
      both += Number(isIn[row] === 1 && isPlanted[row] === 1);
      either += Number(isIn[row] === 1 || isPlanted[row] === 1);
      inside += isIn[row] as number;
      if (isIn[row] === 1) insideSum += truth[row] as number;
      else outsideSum += truth[row] as number;
    }
    const difference = insideSum / inside - outsideSum / (ROWS - inside);
    return { overlap: both / either, covers: ci[0] <= difference && difference <= ci[1] };
  });
  return {
    reported: found.subgroups.length,
    overlap: Math.max(0, ...outcomes.map((one) => one?.overlap ?? 0)),
    covers: outcomes.every((one) => one?.covers ?? true),
  };
}

function drawLabels(random: Random, repeats: number): string[] {
  let label = '';
  return Array.from({ length: ROWS }, (_, row) => {
    if (row % repeats === 0) {
      let rest = random.next();
      const value = SHARES.findIndex((share) => (rest -= share) < 0);
      label = `v${String(value < 0 ? SHARES.length - 1 : value)}`;
    }
    return label;
  });
}

import { expect } from 'chai';

import type { ClassificationStats, GroupStats, RegressionStats, ScoreStats } from '../../src/metrics/index.ts';

/** A metric of each kind of measure, for tests of clusters of dependent rows. */
export const CLUSTERED_METRICS = [
  'demographic_parity_difference',
  'demographic_parity_ratio',
  'equalized_odds_difference',
  'balanced_accuracy_difference',
  'f1_difference',
  'mean_prediction_difference',
  'mae_parity_difference',
  'rmse_parity_difference',
  'roc_auc_difference',
  'brier_score_difference',
  'log_loss_difference',
] as const;

type Value = string | number | boolean | null;

/** Rows as the definitions below read them. */
export interface PlainRow {
  /** The values of the sensitive attributes. */
  readonly groups: readonly Value[];
  readonly decision: 0 | 1 | null;
  readonly label: 0 | 1 | null;
  readonly guess: number | null;
  readonly amount: number | null;
  readonly score: number | null;
  readonly weight: number | null;
}

/** Columns to ignore or to read differently. */
export interface Reading {
  readonly nanPolicy?: 'include' | 'exclude';
  readonly withTruth?: boolean;
}

/** Returns the label of a row's group; undefined if it has none. */
function labelOf({ groups }: PlainRow, { nanPolicy }: Reading): string | undefined {
  if (nanPolicy !== 'include' && groups.includes(null)) return undefined;
  return groups.map((value) => (value === null ? '(missing)' : String(value))).join('||');
}

/** Returns the labels in sorted order; the group of missing values of a single attribute comes last. */
function labelsOf(rows: readonly PlainRow[], reading: Reading): string[] {
  const labels = [...new Set(rows.map((row) => labelOf(row, reading)))].filter((label) => label !== undefined);
  const [known, missing] = [labels.filter((label) => label !== '(missing)'), labels.filter((l) => l === '(missing)')];
  const areNumbers = known.every((label) => label !== '' && Number.isFinite(Number(label)));
  return [...(areNumbers ? known.sort((a, b) => Number(a) - Number(b)) : known.sort()), ...missing];
}

/** Counts the rows of each group that are not used. */
function droppedOf(
  rows: readonly PlainRow[],
  used: readonly PlainRow[],
  labels: readonly string[],
  reading: Reading,
): Float64Array {
  const countOf = (own: readonly PlainRow[], label: string) =>
    own.filter((row) => labelOf(row, reading) === label).length;
  return Float64Array.from(labels, (label) => countOf(rows, label) - countOf(used, label));
}

/** Computes classification statistics from their definition, with a loop per cell. */
export function defineClassification(rows: readonly PlainRow[], reading: Reading): ClassificationStats {
  const { withTruth = true } = reading;
  const labels = labelsOf(rows, reading);
  const usable = rows.filter(({ decision, weight }) => decision !== null && weight !== null);
  const tables = (own: readonly (string | undefined)[], add: (weight: number) => number) =>
    Float64Array.from(
      own.flatMap((label) =>
        [0, 1, null].flatMap((truth) =>
          [0, 1].map((decision) =>
            usable
              .filter(
                (row) =>
                  labelOf(row, reading) === label &&
                  (withTruth ? row.label : null) === truth &&
                  row.decision === decision,
              )
              .reduce((sum, { weight }) => sum + add(weight ?? NaN), 0),
          ),
        ),
      ),
    );
  const all = (own: readonly (string | undefined)[]) => ({
    counts: tables(own, () => 1),
    weights: tables(own, (weight) => weight),
    squaredWeights: tables(own, (weight) => weight * weight),
  });
  const kept = usable.filter((row) => labelOf(row, reading) !== undefined);
  const lacking = rows.filter(({ decision, weight }) => decision === null || weight === null);
  const undecided = (add: (weight: number) => number) =>
    Float64Array.from(
      labels.flatMap((label) =>
        [0, 1, null].map((truth) =>
          lacking
            .filter((row) => labelOf(row, reading) === label && (withTruth ? row.label : null) === truth)
            .reduce((sum, { weight }) => sum + add(weight ?? 0), 0),
        ),
      ),
    );
  return {
    kind: 'classification',
    labels,
    ...all(labels),
    ungrouped: all([undefined]),
    undecided: {
      counts: undecided(() => 1),
      weights: undecided((weight) => weight),
      squaredWeights: undecided((weight) => weight * weight),
    },
    lacksWeights: rows.some((row) => row.weight === null && labelOf(row, reading) !== undefined),
    hasTruth: withTruth,
    nDropped: rows.length - kept.length,
  };
}

/** Computes regression statistics from their definition. */
export function defineRegression(rows: readonly PlainRow[], reading: Reading): RegressionStats {
  const { withTruth = true } = reading;
  const labels = labelsOf(rows, reading);
  const usable = rows.filter(
    (row) =>
      row.guess !== null &&
      row.weight !== null &&
      (!withTruth || row.amount !== null) &&
      labelOf(row, reading) !== undefined,
  );
  const perGroup = (value: (own: readonly PlainRow[]) => number) =>
    Float64Array.from(labels, (label) => value(usable.filter((row) => labelOf(row, reading) === label)));
  const total = (own: readonly PlainRow[], value: (row: PlainRow) => number) =>
    own.reduce((sum, row) => sum + (row.weight ?? NaN) * value(row), 0);
  const weightOf = (own: readonly PlainRow[]) => total(own, () => 1);
  const moments = (quantity: (row: PlainRow) => number, isKnown: boolean) => {
    const mean = (own: readonly PlainRow[]) =>
      !isKnown || weightOf(own) === 0 ? 0 : total(own, quantity) / weightOf(own);
    const centred = (power: number) => (own: readonly PlainRow[]) =>
      isKnown ? total(own, (row) => (quantity(row) - mean(own)) ** power) : 0;
    return { mean: perGroup(mean), m2: perGroup(centred(2)), m3: perGroup(centred(3)) };
  };
  const error = ({ guess, amount }: PlainRow) => (guess ?? NaN) - (amount ?? NaN);
  return {
    kind: 'regression',
    labels,
    counts: perGroup((own) => own.length),
    weights: perGroup(weightOf),
    squaredWeights: perGroup((own) => total(own, ({ weight }) => weight ?? NaN)),
    moments: {
      prediction: moments(({ guess }) => guess ?? NaN, true),
      truth: moments(({ amount }) => amount ?? NaN, withTruth),
      error: moments(error, withTruth),
      absoluteError: moments((row) => Math.abs(error(row)), withTruth),
      squaredError: moments((row) => error(row) ** 2, withTruth),
    },
    hasTruth: withTruth,
    dropped: droppedOf(rows, usable, labels, reading),
    nDropped: rows.length - usable.length,
  };
}

/** Computes score statistics from their definition: exact up to 65,536 pairs of group and score, then rounded. */
export function defineScores(rows: readonly PlainRow[], reading: Reading): ScoreStats {
  const labels = labelsOf(rows, reading);
  const usable = rows.flatMap((row) => {
    const group = labels.indexOf(labelOf(row, reading) ?? '\0');
    const { score, label, weight } = row;
    return group < 0 || score === null || label === null || weight === null ? [] : [{ group, score, label, weight }];
  });
  const pairs = new Set(usable.map(({ group, score }) => `${group} ${score}`));
  let power = 2 ** -1074;
  const largest = usable.reduce((most, { score }) => Math.max(most, Math.abs(score)), 0);
  while (power < largest) power *= 2;
  const step = pairs.size > 65_536 ? power / 16_384 : 0;
  const table = new Map<string, { group: number; score: number; sums: number[] }>();
  for (const { group, score, label, weight } of usable) {
    const rounded = (step === 0 ? score : Math.round(score / step) * step) + 0;
    const own = table.get(`${group} ${rounded}`) ?? { group, score: rounded, sums: [0, 0, 0, 0, 0, 0] };
    [1, weight, weight * weight].forEach((add, kind) => {
      own.sums[2 * kind + label] = (own.sums[2 * kind + label] ?? 0) + add;
    });
    table.set(`${group} ${rounded}`, own);
  }
  const entries = [...table.values()].sort((a, b) => a.group - b.group || a.score - b.score);
  const lossOf = ({ score, label }: { score: number; label: 0 | 1 }) =>
    -Math.log(Math.min(1 - 2 ** -52, Math.max(2 ** -52, label === 1 ? score : 1 - score)));
  const losses = (power: number) =>
    Float64Array.from(labels, (_, group) =>
      usable.filter((row) => row.group === group).reduce((sum, row) => sum + row.weight * lossOf(row) ** power, 0),
    );
  const sums = (kind: number) => Float64Array.from(entries.flatMap((own) => own.sums.slice(2 * kind, 2 * kind + 2)));
  return {
    kind: 'scores',
    labels,
    groups: Int32Array.from(entries, ({ group }) => group),
    scores: Float64Array.from(entries, ({ score }) => score),
    counts: sums(0),
    weights: sums(1),
    squaredWeights: sums(2),
    step,
    losses: step === 0 ? null : { sums: losses(1), squares: losses(2) },
    hasTruth: true,
    dropped: droppedOf(
      rows,
      rows.filter(({ score, label, weight }) => score !== null && label !== null && weight !== null),
      labels,
      reading,
    ),
    nDropped: rows.length - usable.length,
  };
}

/** Asserts that statistics are equal, except for the last digits of sums of fractions. */
export function assertSameStats(actual: GroupStats, expected: GroupStats, tolerance = 1e-12): void {
  expect([...actual.labels]).to.deep.equal([...expected.labels]);
  expect(actual.kind).to.equal(expected.kind);
  expect(actual.hasTruth).to.equal(expected.hasTruth);
  expect(actual.nDropped).to.equal(expected.nDropped);
  assertSameTables(actual, expected, tolerance);
  if (actual.kind === 'classification' && expected.kind === 'classification') {
    assertSameTables(actual.ungrouped, expected.ungrouped, tolerance);
    assertSameTables(actual.undecided, expected.undecided, tolerance);
    expect(actual.lacksWeights).to.equal(expected.lacksWeights);
  }
  if (actual.kind !== 'classification' && expected.kind !== 'classification') {
    expect(actual.dropped).to.deep.equal(expected.dropped);
  }
  if (actual.kind === 'scores' && expected.kind === 'scores') {
    expect(actual.step).to.equal(expected.step);
    expect(actual.groups).to.deep.equal(expected.groups);
    expect(actual.scores).to.deep.equal(expected.scores);
    expect(actual.losses === null).to.equal(expected.losses === null);
    for (const name of ['sums', 'squares'] as const) {
      const [own, other] = [actual.losses?.[name] ?? new Float64Array(), expected.losses?.[name] ?? new Float64Array()];
      assertClose(own, other, (group) => tolerance * (other[group] ?? NaN), `losses ${name}`);
    }
  }
  if (actual.kind === 'regression' && expected.kind === 'regression') assertSameMoments(actual, expected, tolerance);
}

type Tables = Pick<GroupStats, 'counts' | 'weights' | 'squaredWeights'>;

function assertSameTables(actual: Tables, expected: Tables, tolerance: number): void {
  expect(actual.counts).to.deep.equal(expected.counts);
  for (const name of ['weights', 'squaredWeights'] as const) {
    assertClose(actual[name], expected[name], (index) => tolerance * Math.abs(expected[name][index] ?? NaN), name);
  }
}

/** Compares means relative to the size of the values, and centred sums relative to the sum of their terms' sizes. */
function assertSameMoments(actual: RegressionStats, expected: RegressionStats, tolerance: number): void {
  for (const quantity of ['prediction', 'truth', 'error', 'absoluteError', 'squaredError'] as const) {
    const [own, other] = [actual.moments[quantity], expected.moments[quantity]];
    const spread = (group: number) => Math.sqrt((other.m2[group] ?? NaN) / (expected.weights[group] || 1));
    const size = (group: number) => Math.abs(other.mean[group] ?? NaN) + spread(group);
    assertClose(own.mean, other.mean, (group) => tolerance * size(group), `${quantity} mean`);
    assertClose(own.m2, other.m2, (group) => tolerance * (other.m2[group] ?? NaN), `${quantity} m2`);
    const terms = (group: number) => (other.m2[group] ?? NaN) * spread(group) + Math.abs(other.m3[group] ?? NaN);
    assertClose(own.m3, other.m3, (group) => 10 * tolerance * terms(group), `${quantity} m3`);
  }
}

function assertClose(
  actual: Float64Array,
  expected: Float64Array,
  toleranceAt: (index: number) => number,
  name: string,
): void {
  expect(actual).to.have.length(expected.length);
  expected.forEach((value, index) => {
    const tolerance = toleranceAt(index);
    const same = Object.is(actual[index], value) || Math.abs((actual[index] ?? NaN) - value) <= tolerance;
    if (!same) expect.fail(`${name}[${index}] is ${actual[index]} and not ${value} (± ${tolerance})`);
  });
}

/** Asserts that two reports in JSON are equal, apart from the rounding of numbers. */
export function assertSameReport(found: unknown, expected: unknown, place = 'report'): void {
  if (typeof expected === 'number' && typeof found === 'number') {
    expect(found, place).to.be.closeTo(expected, 1e-9 * Math.max(1e-3, Math.abs(expected)));
    return;
  }
  if (typeof expected !== 'object' || expected === null) {
    expect(found, place).to.deep.equal(expected);
    return;
  }
  const other = found as Record<string, unknown>;
  expect(Object.keys(other), place).to.deep.equal(Object.keys(expected));
  for (const [key, value] of Object.entries(expected)) assertSameReport(other[key], value, `${place}.${key}`);
}

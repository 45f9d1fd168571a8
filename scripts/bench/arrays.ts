import { equalizedOddsDifference, metricOf, reduceClassification, reduceRegression } from '../../src/metrics/index.ts';
import { makeRows, ROWS } from './data.ts';
import { median } from './measure.ts';
import { assertResult, type Note, timed } from './report.ts';

/** Computes the metric from its definition, row by row. */
function definition({ labels, codes, yTrue, yPred }: ReturnType<typeof makeRows>): number {
  const positive = new Float64Array(2 * labels.length);
  const all = new Float64Array(2 * labels.length);
  codes.forEach((group, row) => {
    const cell = 2 * group + (yTrue[row] ?? 0);
    all[cell] = (all[cell] ?? 0) + 1;
    positive[cell] = (positive[cell] ?? 0) + (yPred[row] ?? 0);
  });
  const gap = (label: number): number => {
    const rates = labels.map((_, group) => (positive[2 * group + label] ?? NaN) / (all[2 * group + label] ?? NaN));
    return Math.max(...rates) - Math.min(...rates);
  };
  return Math.max(gap(0), gap(1));
}

/** B1: measures a metric on ten million rows in memory. */
export async function benchArrays(note: Note): Promise<void> {
  const rows = makeRows(ROWS);
  const { labels, codes, yTrue, yPred } = rows;
  const expected = definition(rows);
  const options = { withCi: false, withEffectSize: false };
  const strings = Array.from(codes, (code) => labels[code] ?? '');
  for (const [title, sensitive, bar] of [
    ['from integer codes', { kind: 'categorical', codes, labels }, 0.05],
    ['from strings', strings, 47 / 150],
  ] as const) {
    const { seconds, result } = await median(
      7,
      () => timed(() => equalizedOddsDifference(yTrue, yPred, sensitive, options).value),
      (one) => one.seconds,
    );
    assertResult(Math.abs(result - expected) < 1e-12, `EOD ${title}`);
    const work = `EOD on 10 million rows, ${title}`;
    note({ id: 'B1', work, seconds, bar: `< ${bar.toFixed(3)} s`, holds: seconds < bar });
  }
}

/** B3: measures an interval of 1,000 replicates for a metric of one million rows in eight groups. */
export async function benchIntervals(note: Note): Promise<void> {
  const { labels, codes, yTrue, yPred } = makeRows(1_000_000);
  const sensitive = { kind: 'categorical', codes, labels } as const;
  const decisions = reduceClassification({ yTrue, yPred, sensitive });
  const errors = reduceRegression({ yTrue, yPred: Float64Array.from(yPred, (value) => value / 2), sensitive });
  for (const [metric, stats, bar] of [
    ['demographic_parity_difference', decisions, 0.02],
    ['equalized_odds_difference', decisions, 0.02],
    ['mae_parity_difference', errors, Infinity],
  ] as const) {
    const { seconds, result } = await median(
      9,
      () => timed(() => metricOf(metric, stats, { ciSamples: 1000 })),
      (one) => one.seconds,
    );
    const [low, high] = result.ci ?? [NaN, NaN];
    assertResult(low <= result.value && result.value <= high, metric);
    const work = `${metric} with its interval of 1,000 replicates, from the counts of 1 million rows`;
    note({ id: 'B3', work, seconds, bar: bar === Infinity ? 'reported' : `< ${String(bar)} s`, holds: seconds < bar });
  }
}

/** Measures equalized odds with 5,000 groups on one million rows, without and with its interval. */
export async function benchManyGroups(note: Note): Promise<void> {
  const rows = makeRows(1_000_000, 5000);
  const { labels, codes, yTrue, yPred } = rows;
  const expected = definition(rows);
  for (const [withCi, bar] of [
    [false, 0.5],
    [true, 1],
  ] as const) {
    const { seconds, result } = await median(
      5,
      () => timed(() => equalizedOddsDifference(yTrue, yPred, { kind: 'categorical', codes, labels }, { withCi })),
      (one) => one.seconds,
    );
    assertResult(Math.abs(result.value - expected) < 1e-12 && (result.ci !== null) === withCi, 'EOD of 5,000 groups');
    const work = `EOD on 1 million rows in 5,000 groups${withCi ? ' with its interval' : ''}`;
    note({ id: 'B1', work, seconds, bar: `< ${String(bar)} s`, holds: seconds < bar });
  }
}

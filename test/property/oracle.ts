import type { Row } from './random-rows.ts';

/*
 * Metrics by their definitions, row by row and group by group. The code is slow and simple, and shares only names with
 * the package. Weights and numbers are scaled before summation, so that nothing overflows float64.
 */

/** The options of the comparison of groups. */
export interface Comparison {
  readonly minGroupSize: number;
  readonly minDenominator: number;
  readonly method: 'between_groups' | 'to_overall' | 'to_reference';
  readonly reference: readonly string[] | undefined;
  readonly agg: 'worst_case' | 'mean';
  readonly compat: 'fairlearn' | 'aif360' | 'aequitas' | undefined;
  readonly includesMissing: boolean;
  readonly isWeighted: boolean;
}

type Condition = (row: Row) => boolean;

const labelled: Condition = ({ label }) => label !== null;
const positive: Condition = ({ label }) => label === 1;
const negative: Condition = ({ label }) => label === 0;
const chosen: Condition = ({ decision }) => decision === 1;
const correct: Condition = ({ label, decision }) => label === decision;
const not =
  (condition: Condition): Condition =>
  (row) =>
    !condition(row);
const both =
  (one: Condition, other: Condition): Condition =>
  (row) =>
    one(row) && other(row);

/** The rates: the share of the rows that meet the first condition among those that meet the second. */
const RATES: Readonly<Record<string, readonly [share: Condition, of: Condition]>> = {
  selection_rate: [chosen, () => true],
  true_positive_rate: [chosen, positive],
  false_negative_rate: [not(chosen), positive],
  false_positive_rate: [chosen, negative],
  true_negative_rate: [not(chosen), negative],
  precision: [positive, both(chosen, labelled)],
  false_discovery_rate: [negative, both(chosen, labelled)],
  negative_predictive_value: [negative, both(not(chosen), labelled)],
  false_omission_rate: [positive, both(not(chosen), labelled)],
  accuracy: [correct, labelled],
  error_rate: [not(correct), labelled],
  base_rate: [positive, labelled],
};

const MEANS: Readonly<Record<string, (row: Row) => number>> = {
  mean_absolute_error: (row) => Math.abs(errorOf(row)),
  mean_squared_error: (row) => errorOf(row) ** 2,
  mean_error: errorOf,
  mean_prediction: ({ guess }) => guess ?? NaN,
};

const LOSSES: Readonly<Record<string, readonly [valueOf: (row: Row) => number, of: Condition]>> = {
  log_loss: [({ score, label }) => -Math.log(clip(label === 1 ? (score ?? NaN) : 1 - (score ?? NaN))), () => true],
  brier_score: [({ score, label }) => ((score ?? NaN) - (label ?? NaN)) ** 2, () => true],
  generalized_true_positive_rate: [({ score }) => score ?? NaN, positive],
  generalized_false_negative_rate: [({ score }) => 1 - (score ?? NaN), positive],
  generalized_false_positive_rate: [({ score }) => score ?? NaN, negative],
  generalized_true_negative_rate: [({ score }) => 1 - (score ?? NaN), negative],
};

function errorOf({ guess, target }: Row): number {
  return (guess ?? NaN) - (target ?? NaN);
}

function clip(probability: number): number {
  return Math.min(1 - Number.EPSILON, Math.max(Number.EPSILON, probability));
}

/** A value of a group, the number of rows behind it, and whether these have any weight. */
interface Measured {
  readonly value: number;
  readonly rows: number;
  readonly isRate: boolean;
}

type Weigh = (row: Row) => number;

function mean(rows: readonly Row[], valueOf: (row: Row) => number, weigh: Weigh): number {
  const heaviest = Math.max(0, ...rows.map(weigh));
  const largest = Math.max(0, ...rows.map((row) => Math.abs(valueOf(row)))) || 1;
  let [total, sum] = [0, 0];
  for (const row of rows) {
    const share = weigh(row) / heaviest;
    total += share;
    sum += share * (valueOf(row) / largest);
  }
  return (sum / total) * largest;
}

/** Returns a measure of some rows by its definition; NaN if it is undefined. */
function measureOf(name: string, rows: readonly Row[], weigh: Weigh): Measured {
  const rate = RATES[name];
  if (rate !== undefined) {
    const [share, of] = rate;
    const below = rows.filter(of);
    return { value: mean(below, (row) => Number(share(row)), weigh), rows: below.length, isRate: true };
  }
  const of = { value: NaN, rows: rows.length, isRate: false };
  const loss = LOSSES[name];
  if (loss !== undefined) {
    const below = rows.filter(loss[1]);
    return { ...of, value: mean(below, loss[0], weigh), rows: below.length };
  }
  const meanOf = MEANS[name];
  if (meanOf !== undefined) return { ...of, value: mean(rows, meanOf, weigh) };
  switch (name) {
    case 'count':
      return { ...of, value: rows.length };
    case 'root_mean_squared_error':
      return { ...of, value: Math.sqrt(mean(rows, (row) => errorOf(row) ** 2, weigh)) };
    case 'r2': {
      const level = mean(rows, ({ target }) => target ?? NaN, weigh);
      const isConstant = new Set(rows.filter((row) => weigh(row) > 0).map(({ target }) => target)).size < 2;
      const residual = mean(rows, (row) => errorOf(row) ** 2, weigh);
      const spread = mean(rows, ({ target }) => ((target ?? NaN) - level) ** 2, weigh);
      return { ...of, value: isConstant ? NaN : 1 - residual / spread };
    }
    case 'balanced_accuracy': {
      const rates = ['true_positive_rate', 'true_negative_rate'].map((part) => measureOf(part, rows, weigh));
      const [hits, passes] = rates as [Measured, Measured];
      return { ...of, value: (hits.value + passes.value) / 2, rows: Math.min(hits.rows, passes.rows) };
    }
    case 'f1': {
      const below = rows.filter((row) => labelled(row) && (positive(row) || chosen(row)));
      const hits = mean(below, (row) => Number(both(positive, chosen)(row)), weigh);
      return { ...of, value: (2 * hits) / (1 + hits), rows: below.length };
    }
    case 'roc_auc': {
      const [yes, no] = [rows.filter(positive), rows.filter(negative)];
      const wins = (high: Row): number =>
        mean(no, (low) => 0.5 + 0.5 * Math.sign((high.score ?? NaN) - (low.score ?? NaN)), weigh);
      return { ...of, value: mean(yes, wins, weigh), rows: Math.min(yes.length, no.length) };
    }
    case 'expected_calibration_error':
      return { ...of, value: calibrationError(rows, weigh) };
    default:
      throw new Error(`The oracle does not know ${name}.`);
  }
}

/** Ten bins of equal weight, in the order of scores; equal scores share the bin that holds their middle. */
function calibrationError(rows: readonly Row[], weigh: Weigh): number {
  const heaviest = Math.max(0, ...rows.map(weigh));
  const weightOf = (some: readonly Row[]): number => some.reduce((sum, row) => sum + weigh(row) / heaviest, 0);
  const total = weightOf(rows);
  const bins: Row[][] = Array.from({ length: 10 }, () => []);
  let before = 0;
  for (const score of [...new Set(rows.map((row) => row.score ?? NaN))].sort((a, b) => a - b)) {
    const own = rows.filter((row) => row.score === score);
    const middle = (before + weightOf(own) / 2) / total;
    bins[Math.min(9, Math.floor(10 * middle + 1e-9))]?.push(...own);
    before += weightOf(own);
  }
  const gaps = bins.map((bin) => {
    const share = weightOf(bin) / total;
    return share === 0 ? 0 : share * Math.abs(mean(bin, (row) => (row.label ?? NaN) - (row.score ?? NaN), weigh));
  });
  return total > 0 ? gaps.reduce((sum, gap) => sum + gap, 0) : NaN;
}

/** The measures of metrics that are not a measure with `_difference` or `_ratio` after it. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  demographic_parity: ['selection_rate'],
  equalized_odds: ['true_positive_rate', 'false_positive_rate'],
  equal_opportunity: ['true_positive_rate'],
  predictive_parity: ['precision'],
  accuracy_parity: ['accuracy'],
  mae_parity: ['mean_absolute_error'],
  rmse_parity: ['root_mean_squared_error'],
  calibration: ['expected_calibration_error'],
  average_odds: ['false_positive_rate', 'true_positive_rate'],
  average_abs_odds: ['false_positive_rate', 'true_positive_rate'],
  average_predictive_value: ['precision', 'false_omission_rate'],
};

/** The measures whose difference or ratio a metric is. */
export function partsOf(metric: string): readonly string[] {
  const subject = metric.replace(/_(difference|ratio)$/, '');
  return PARTS[subject] ?? [subject];
}

const OF_ALL_ROWS = ['selection_rate', 'accuracy', 'error_rate', 'base_rate'];

const WITHOUT_TRUTH = ['selection_rate', 'count', 'mean_prediction'];

/** Returns whether a metric needs true labels. */
export function needsTruth(metric: string): boolean {
  return partsOf(metric).some((part) => !WITHOUT_TRUTH.includes(part));
}

/**
 * Returns the rows that have a decision, a number or a score, and a weight; and the true label for kinds that drop rows
 * without it.
 */
export function usableRows(metric: string, kind: string, rows: readonly Row[], isWeighted: boolean): Row[] {
  return rows.filter((row) => {
    if (isWeighted && row.weight === null) return false;
    if (kind === 'scores') return row.score !== null && row.label !== null;
    if (kind === 'decisions') return row.decision !== null;
    return row.guess !== null && (row.target !== null || !needsTruth(metric));
  });
}

/** Returns the label of a row's group, or undefined if it has none. */
export function groupOf({ groups }: Row, includesMissing: boolean): string | undefined {
  if (!includesMissing && groups.includes(null)) return undefined;
  return groups.map((group) => group ?? '(missing)').join('||');
}

/** Returns the metric by its definition; NaN if it is undefined. */
export function metricByDefinition(metric: string, kind: string, rows: readonly Row[], how: Comparison): number {
  const usable = usableRows(metric, kind, rows, how.isWeighted);
  const weigh: Weigh = how.isWeighted ? ({ weight }) => weight ?? NaN : () => 1;
  const byGroup = new Map<string, Row[]>();
  const ungrouped: Row[] = [];
  for (const row of usable) {
    const given = groupOf(row, how.includesMissing);
    if (given === undefined) {
      ungrouped.push(row);
      continue;
    }
    const group = how.compat === 'aif360' ? String(how.reference?.includes(given)) : given;
    byGroup.set(group, [...(byGroup.get(group) ?? []), row]);
  }
  const grouped = [...byGroup.values()].flat();
  const all = how.compat === 'fairlearn' && kind === 'decisions' ? [...grouped, ...ungrouped] : grouped;
  const sizeOf = (group: string): number =>
    (byGroup.get(group) ?? []).filter((row) => kind !== 'decisions' || !needsTruth(metric) || labelled(row)).length;
  const large = [...byGroup.keys()].filter((group) => sizeOf(group) >= how.minGroupSize && sizeOf(group) > 0);
  if (large.length < 2) return NaN;
  // In fairlearn, the rate of an empty denominator is 0, except if the denominator is all rows.
  const valueOf = (part: string, some: readonly Row[]): number => {
    const { value, isRate } = measureOf(part, some, weigh);
    const isZero = (isRate && !OF_ALL_ROWS.includes(part)) || part === 'f1';
    return how.compat === 'fairlearn' && isZero && Number.isNaN(value) ? 0 : value;
  };
  const reference = referenceOf([...byGroup.keys()], sizeOf, how);

  const isRatio = metric.endsWith('_ratio');
  const gaps: number[] = [];
  for (const part of partsOf(metric)) {
    const known = new Map<string, number>();
    for (const group of large) {
      const own = byGroup.get(group) ?? [];
      const [value, n] = [valueOf(part, own), measureOf(part, own, weigh).rows];
      // pandas skips NaN. scikit-learn has another value for balanced accuracy and R2, so that the gap is unknown.
      const isKnown = !Number.isNaN(value) || part === 'balanced_accuracy' || part === 'r2';
      const keepsAll = (how.compat === 'fairlearn' && isKnown) || how.compat === 'aif360';
      if (keepsAll || (n >= how.minDenominator && !Number.isNaN(value))) known.set(group, value);
    }
    const anchor =
      how.method === 'to_overall'
        ? valueOf(part, all)
        : how.method === 'to_reference'
          ? known.get(reference)
          : undefined;
    if (known.size < 2 || (how.method !== 'between_groups' && anchor === undefined)) return NaN;
    gaps.push(gapOf(known, anchor, reference, isRatio, how));
  }
  return aggregate(metric, gaps, isRatio, how);
}

function referenceOf(groups: readonly string[], sizeOf: (group: string) => number, how: Comparison): string {
  if (how.compat === 'aif360') return 'true';
  const most = Math.max(...groups.map(sizeOf));
  const largest = groups.filter((group) => sizeOf(group) === most).sort();
  // Rows without a group come after those with one.
  const first = largest.find((group) => group !== '(missing)') ?? '(missing)';
  return how.reference?.[0] ?? first;
}

function gapOf(
  known: ReadonlyMap<string, number>,
  anchor: number | undefined,
  reference: string,
  isRatio: boolean,
  { compat }: Comparison,
): number {
  const values = [...known.values()];
  if (compat === 'aif360') {
    const other = known.get('false') ?? NaN;
    const privileged = known.get(reference) ?? NaN;
    return isRatio ? other / privileged : other - privileged;
  }
  if (!isRatio) {
    const far = anchor === undefined ? undefined : values.map((value) => Math.abs(value - anchor));
    return far === undefined ? Math.max(...values) - Math.min(...values) : Math.max(...far);
  }
  if (values.some((value) => value < 0) || (anchor ?? 0) < 0) return NaN;
  if (anchor === undefined) return Math.min(...values) / Math.max(...values);
  const ratios = values
    .filter((value) => value !== 0 || anchor !== 0)
    .map((value) => Math.min(value / anchor, anchor / value));
  return ratios.length === 0 ? NaN : Math.min(...ratios);
}

function aggregate(metric: string, gaps: readonly number[], isRatio: boolean, { agg, compat }: Comparison): number {
  if (gaps.length === 1) return gaps[0] ?? NaN;
  const isMean = agg === 'mean' || metric.startsWith('average_');
  const isNative = compat === undefined || compat === 'aequitas';
  const known = gaps.filter((gap) => !Number.isNaN(gap));
  if (known.length === 0) return NaN;
  // fairlearn's means ignore NaN. Its minimum keeps a number before a NaN, and a NaN before a number.
  if (known.length < gaps.length && !isNative) {
    if (compat !== 'fairlearn' || (!isMean && Number.isNaN(gaps[0]))) return NaN;
    if (!isMean && !isRatio) return NaN;
  }
  const sized = metric.startsWith('average_abs_') ? known.map(Math.abs) : known;
  if (isMean) return sized.reduce((sum, gap) => sum + gap, 0) / sized.length;
  return isRatio ? Math.min(...known) : Math.max(...known.map(Math.abs));
}

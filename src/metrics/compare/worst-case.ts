import { meanOf } from '../../internal/values.ts';
import { isDecisionRate, measureDefinition, rateCells } from '../measures/index.ts';
import type { MetricDefinition } from '../metric-definitions.ts';
import type { FilledMetricOptions } from '../options.ts';
import {
  ALL_CELLS,
  cellIndex,
  CELLS_PER_GROUP,
  cellsWith,
  type ClassificationStats,
  type GroupStats,
  LABELLED_CELLS,
  UNDECIDED_PER_GROUP,
} from '../statistics/group-stats.ts';
import { type ComparedMeasure, largest, smallest } from './gap.ts';

/*
 * Bounds on a metric over all possible values of its incomplete rows (Manski, Partial Identification of Probability
 * Distributions, 2003). A rate is a weighted numerator divided by a weighted denominator, and is at most 1. An
 * incomplete row can increase numerator and denominator (the rate rises), neither (the rate is unchanged) or only the
 * denominator (the rate falls). For the largest rate, each incomplete row gets the first possible effect in this order.
 * For the smallest rate, each incomplete row gets the last possible effect. The largest and the smallest rate can both
 * occur.
 */

/** The smallest and the largest value that a number can have. */
export type Bounds = readonly [low: number, high: number];

/**
 * The cells for the share s in F1 = 2 s / (1 + s). Here, s is the share of true positives among all rows that are not
 * true negatives.
 */
const F1_SHARE = {
  above: [cellIndex(1, 1)],
  below: [cellIndex(0, 1), cellIndex(1, 0), cellIndex(1, 1)],
};

/**
 * Computes bounds on a metric over all values that missing decisions and missing true labels could have. Rows without a
 * group are not included. A group that is excluded only because of its missing values may be compared or not: the bounds
 * hold in both cases.
 *
 * For a single measure, the upper bound of a difference and the lower bound of a ratio are values that the metric can
 * actually have. The other bound assumes that each rate can take any value in its range, so it may be slightly too
 * wide. Bounds of several measures with missing true labels are valid but may be wide, since the same row counts in
 * more than one measure.
 * @param others groups that could be compared if their missing values were known
 * @returns null if bounds are not available: for numbers and scores, measures other than rates and F1, missing weights,
 *   weights whose sums overflow float64, several classes, groups compared with all rows, and the conventions of AIF360
 */
export function worstCaseOf(
  stats: GroupStats,
  compared: readonly ComparedMeasure[],
  definition: MetricDefinition,
  options: FilledMetricOptions,
  others: readonly number[],
): Bounds | null {
  if (stats.kind !== 'classification' || stats.lacksWeights) return null;
  if (options.compat === 'aif360' || options.method === 'to_overall') return null;
  const ranges = compared.map((one) => {
    const bounds = boundsOfGroups(stats, one.measure.name, incompleteRows);
    if (bounds === undefined || one.className !== undefined) return undefined;
    const own = gapBounds(one, bounds, definition);
    const possible = others.filter((group) => bounds[group] !== NO_RATE);
    const more = gapBounds({ ...one, groups: [...new Set([...one.groups, ...possible])] }, bounds, definition);
    // A further group only moves both ends away from parity, so that both sets contain the bounds of those between them.
    return [Math.min(own[0], more[0]), Math.max(own[1], more[1])] as const;
  });
  const known = ranges.filter((range) => range !== undefined);
  if (known.length < compared.length || known.length < definition.measures.length) return null;
  const joined = joinBounds(known, definition, options);
  return joined.every(Number.isFinite) ? joined : null;
}

/**
 * Computes bounds on a metric of statistics without small cells (`minCell`), over all counts that these cells could have.
 * @param groups the groups to compare
 * @param anchorGroup the group with which all others are compared, if there is one
 * @returns the bounds of each group by measure, and of the metric; null if bounds are not available
 */
export function suppressedBounds(
  stats: ClassificationStats,
  groups: readonly number[],
  anchorGroup: number | undefined,
  definition: MetricDefinition,
  options: FilledMetricOptions,
): { readonly byMeasure: readonly (readonly Bounds[])[]; readonly metric: Bounds } | null {
  if (options.compat === 'aif360' || options.method === 'to_overall') return null;
  const byMeasure = definition.measures
    .map((name) => boundsOfGroups(stats, name, hiddenRows))
    .filter((own) => own !== undefined);
  if (byMeasure.length < definition.measures.length) return null;
  const gaps = byMeasure.map((bounds) => gapBounds({ groups, anchorGroup }, bounds, definition));
  return { byMeasure, metric: joinBounds(gaps, definition, options) };
}

/** Combines the bounds of several gaps in the same way as the gaps: by their mean or by the worst case. */
function joinBounds(known: readonly Bounds[], definition: MetricDefinition, options: FilledMetricOptions): Bounds {
  const isMean = (definition.agg ?? options.agg) === 'mean';
  return joinEnds(known, isMean ? meanOf : worstOf(definition));
}

/** Applies a function once to all lower bounds and once to all upper bounds. */
function joinEnds(bounds: readonly Bounds[], join: (values: readonly number[]) => number): Bounds {
  return [join(bounds.map(([low]) => low)), join(bounds.map(([, high]) => high))];
}

/** Returns the function that selects the gap farthest from parity. */
function worstOf({ comparison }: Pick<MetricDefinition, 'comparison'>): typeof largest {
  return comparison === 'difference' ? largest : smallest;
}

function gapBounds(
  { groups, anchorGroup }: Pick<ComparedMeasure, 'groups' | 'anchorGroup'>,
  bounds: readonly Bounds[],
  definition: MetricDefinition,
): Bounds {
  const between = definition.comparison === 'difference' ? differenceBounds : ratioBounds;
  const of = (group: number): Bounds => bounds[group] as Bounds;
  if (anchorGroup === undefined) return between(groups.map(of));
  const pairs = groups.filter((group) => group !== anchorGroup).map((group) => between([of(group), of(anchorGroup)]));
  return joinEnds(pairs, worstOf(definition));
}

/** Returns bounds on the difference between the largest and the smallest value. */
function differenceBounds(groups: readonly Bounds[]): Bounds {
  const low = largest(groups.map(([min]) => min)) - smallest(groups.map(([, most]) => most));
  return [Math.max(0, low), overPairs(groups, (most, min) => most - min, largest)];
}

/** Returns bounds on the ratio of the smallest to the largest value. */
function ratioBounds(groups: readonly Bounds[]): Bounds {
  const most = largest(groups.map(([min]) => min));
  const high = most === 0 ? 1 : Math.min(1, smallest(groups.map(([, end]) => end)) / most);
  return [overPairs(groups, (end, min) => (end === 0 ? 1 : Math.min(1, min / end)), smallest), high];
}

/**
 * Computes the gap between the upper bound of one group and the lower bound of another for all pairs of groups, and
 * returns the extreme value.
 */
function overPairs(
  groups: readonly Bounds[],
  gap: (most: number, min: number) => number,
  extreme: (values: readonly number[]) => number,
): number {
  const ascending = groups.map(([low], index) => ({ low, index })).sort((a, b) => a.low - b.low);
  return extreme(
    groups.map(([, high], index) => {
      const other = ascending.find((one) => one.index !== index);
      return gap(high, other?.low ?? NaN);
    }),
  );
}

/** The bounds of a rate that has no value, however its incomplete rows are completed. */
const NO_RATE: Bounds = [0, 0];

/**
 * Returns the smallest and largest possible value of a measure in every group, or undefined if bounds are not available
 * for the measure.
 */
function boundsOfGroups(stats: ClassificationStats, name: string, findUnknown: FindUnknown): Bounds[] | undefined {
  if (name === 'f1') {
    const toF1 = (share: number): number => (2 * share) / (1 + share);
    return shareBounds(stats, F1_SHARE, true, findUnknown).map(([low, high]) => [toF1(low), toF1(high)]);
  }
  if (!isDecisionRate(name)) return undefined;
  return shareBounds(stats, rateCells(name), measureDefinition(name).needsTruth, findUnknown);
}

/** Rows whose cell or number is not known: their total weight, and the cells to which they could belong. */
interface UnknownRows {
  readonly weight: number;
  readonly cells: readonly number[];
  /** Whether there may also be fewer such rows, or none. */
  readonly isOptional: boolean;
}

/** Returns the rows of a group of which something is not known. */
type FindUnknown = (stats: ClassificationStats, group: number, needsTruth: boolean) => readonly UnknownRows[];

function shareBounds(
  stats: ClassificationStats,
  { above, below }: { readonly above: readonly number[]; readonly below: readonly number[] },
  needsTruth: boolean,
  findUnknown: FindUnknown,
): Bounds[] {
  const inCells = (group: number, cells: readonly number[]): number =>
    cells.reduce((sum, cell) => sum + (stats.weights[group * CELLS_PER_GROUP + cell] as number), 0);
  return stats.labels.map((_, group) => {
    const rows = findUnknown(stats, group, needsTruth);
    const share = (prefers: 'numerator' | 'denominator'): number | undefined => {
      let [part, complete] = [inCells(group, above), inCells(group, below)];
      for (const { weight, cells, isOptional } of rows) {
        const effect = effectOf(cells, above, below, prefers);
        if (isOptional && effect !== prefers) continue;
        if (effect === 'numerator') part += weight;
        if (effect !== 'none') complete += weight;
      }
      return complete === 0 ? undefined : part / complete;
    };
    // Without a row in the denominator, the rate has no value, so that the other one is the only possible value.
    const [low, high] = [share('denominator'), share('numerator')];
    return low === undefined && high === undefined ? NO_RATE : [low ?? (high as number), high ?? (low as number)];
  });
}

/** The effect of a row on a rate: whether the row raises, lowers or does not change the rate. */
type Effect = 'numerator' | 'none' | 'denominator';

/** Returns the possible effect that is closest to the preferred one, given the cells that the row could belong to. */
function effectOf(
  cells: readonly number[],
  above: readonly number[],
  below: readonly number[],
  prefers: 'numerator' | 'denominator',
): Effect {
  const effects = cells.map((cell): Effect =>
    above.includes(cell) ? 'numerator' : below.includes(cell) ? 'denominator' : 'none',
  );
  if (effects.includes(prefers)) return prefers;
  if (effects.includes('none')) return 'none';
  return prefers === 'numerator' ? 'denominator' : 'numerator';
}

/** Returns the rows of a group whose counts were left out because they are small. */
function hiddenRows({ counts, minCell = 1, hasTruth }: ClassificationStats, group: number): readonly UnknownRows[] {
  // Without true labels, all rows are in the cells of rows without a label.
  const cells = hasTruth ? ALL_CELLS : cellsWith([2]);
  const hidden = cells.filter((cell) => counts[group * CELLS_PER_GROUP + cell] === 0);
  return hidden.map((cell) => ({ weight: minCell - 1, cells: [cell], isOptional: true }));
}

/** Returns the rows of a group that lack a decision or, if the metric needs it, a true label. */
function incompleteRows(stats: ClassificationStats, group: number, needsTruth: boolean): UnknownRows[] {
  const undecided = [cellsWith([0]), cellsWith([1]), LABELLED_CELLS].map((cells, truth) => ({
    weight: stats.undecided.weights[group * UNDECIDED_PER_GROUP + truth] as number,
    cells,
    isOptional: false,
  }));
  if (!needsTruth) return undecided;
  const unlabelled = ([0, 1] as const).map((decision) => ({
    weight: stats.weights[group * CELLS_PER_GROUP + cellIndex(2, decision)] as number,
    cells: cellsWith([0, 1], [decision]),
    isOptional: false,
  }));
  return [...undecided, ...unlabelled];
}

import { DataValidationError } from '../../exceptions/index.ts';
import { mergeMoments, removeMoments } from '../../stats/moments.ts';
import { mergeReadings, sortLabels } from '../../table/index.ts';
import { clustersCannotMerge } from './cluster-stats.ts';
import {
  type CellTables,
  type GroupStats,
  type LossSums,
  makeTables,
  makeMoments,
  type RegressionStats,
  type ScoreStats,
} from './group-stats.ts';
import { momentsFromGroups, momentsOfGroup, regroup } from './regroup-stats.ts';
import { collectScores, lossesOf, type ScoreEntry, scoreEntries } from './score-grid.ts';

/**
 * Merges the statistics of two sets of rows; groups are matched by label. The result is the same as if all rows were
 * counted at once. Counts are exactly equal, and moments are equal except for rounding.
 * @throws {DataValidationError} if the statistics are of different kinds
 * @example
 * ```ts
 * import { mergeStats, reduceClassification } from 'evenhand/metrics';
 *
 * const monday = reduceClassification({ yPred: [1, 0], sensitive: ['a', 'b'] });
 * const tuesday = reduceClassification({ yPred: [1, 1], sensitive: ['b', 'c'] });
 * console.log(mergeStats(monday, tuesday).labels);
 * // [ 'a', 'b', 'c' ]
 * ```
 */
export function mergeStats<Stats extends GroupStats>(a: Stats, b: Stats): Stats {
  const distinct = [...new Set([...a.labels, ...b.labels])];
  const { labels } = sortLabels(Int32Array.from(distinct.keys()), distinct);
  const merged = combine(align(a, labels), align(b, labels), 1) as Stats;
  const readings = mergeReadings([...(a.readings ?? []), ...(b.readings ?? [])]);
  return readings.length === 0 ? merged : { ...merged, readings };
}

/**
 * Removes the rows of `part` from the statistics `complete`, for example for a sliding window. Groups that become empty
 * are kept, with counts of 0.
 * @throws {DataValidationError} if `part` contains rows that `complete` does not contain
 */
export function removeStats<Stats extends GroupStats>(complete: Stats, part: Stats): Stats {
  const strange = part.labels.find((label) => !complete.labels.includes(label));
  if (strange !== undefined) throw notPart(`the group '${strange}'`);
  return combine(complete, align(part, complete.labels), -1) as Stats;
}

function suppressed(): DataValidationError {
  return new DataValidationError('Statistics without small cells cannot be combined.', {
    suggestion: 'Combine the complete statistics first, and leave out small cells afterwards.',
  });
}

type Sign = 1 | -1;

/** Returns the statistics with the given list of groups. Groups without rows are added as empty groups. */
function align(stats: GroupStats, labels: readonly string[]): GroupStats {
  const position = new Map(labels.map((label, index) => [label, index]));
  return regroup(
    stats,
    stats.labels.map((label) => position.get(label) as number),
    labels,
  );
}

function combine(a: GroupStats, b: GroupStats, sign: Sign): GroupStats {
  if (a.clusters !== undefined || b.clusters !== undefined) throw clustersCannotMerge();
  const nDropped = a.nDropped + sign * b.nDropped;
  if (nDropped < 0) throw notPart('more rows that lack a value');
  if (a.kind === 'classification' && b.kind === 'classification') {
    if (a.minCell !== undefined || b.minCell !== undefined) throw suppressed();
    const ungrouped = addTables(a.ungrouped, b.ungrouped, sign);
    const undecided = addTables(a.undecided, b.undecided, sign);
    const hasTruth = a.hasTruth || b.hasTruth;
    const lacksWeights = a.lacksWeights || (sign === 1 && b.lacksWeights);
    return { ...a, ...addTables(a, b, sign), ungrouped, undecided, lacksWeights, hasTruth, nDropped };
  }
  if (a.kind === 'regression' && b.kind === 'regression') {
    const moments = combineMoments(a, b, sign);
    const dropped = addCounts(a.dropped, b.dropped, sign);
    return { ...a, ...addTables(a, b, sign), moments, hasTruth: a.hasTruth && b.hasTruth, dropped, nDropped };
  }
  if (a.kind === 'scores' && b.kind === 'scores') return combineScores(a, b, sign, nDropped);
  throw new DataValidationError(`Statistics of different kinds cannot be combined. Got '${a.kind}' and '${b.kind}'.`, {
    suggestion: 'Compute both statistics with the same function, such as reduceClassification.',
  });
}

function add(x: Float64Array, y: Float64Array, sign: Sign): Float64Array {
  return x.map((value, index) => value + sign * (y[index] as number));
}

function addCounts(a: Float64Array, b: Float64Array, sign: Sign): Float64Array {
  const counts = add(a, b, sign);
  if (counts.some((count) => count < 0)) throw notPart('more rows of a group');
  return counts;
}

function addTables(a: CellTables, b: CellTables, sign: Sign): CellTables {
  const counts = addCounts(a.counts, b.counts, sign);
  const tables = makeTables((name) => (name === 'counts' ? counts : add(a[name], b[name], sign)));
  return { ...tables, ...settled(tables) };
}

/**
 * Removes rounding errors after rows were removed, so that a cell without rows has weight 0 and no weight is negative.
 */
function settled({ counts, weights, squaredWeights }: CellTables): Pick<CellTables, 'weights' | 'squaredWeights'> {
  const settle = (table: Float64Array): Float64Array =>
    table.map((weight, index) => (counts[index] === 0 ? 0 : Math.max(0, weight)));
  return { weights: settle(weights), squaredWeights: settle(squaredWeights) };
}

function combineMoments(a: RegressionStats, b: RegressionStats, sign: Sign): RegressionStats['moments'] {
  const join = sign === 1 ? mergeMoments : removeMoments;
  return makeMoments((quantity) => {
    const groups = a.labels.map((_, group) =>
      join(
        momentsOfGroup(a.moments[quantity], a.weights, group),
        momentsOfGroup(b.moments[quantity], b.weights, group),
      ),
    );
    const joined = momentsFromGroups(groups);
    // After all rows with errors are removed, rounding may leave a negative mean, which has no square root.
    const isSize = quantity === 'absoluteError' || quantity === 'squaredError';
    return isSize ? { ...joined, mean: joined.mean.map((mean) => Math.max(0, mean)) } : joined;
  });
}

function combineScores(a: ScoreStats, b: ScoreStats, sign: Sign, nDropped: number): ScoreStats {
  const signed = (entry: ScoreEntry): ScoreEntry => {
    const scale = ([no, yes]: readonly [number, number]): [number, number] => [sign * no, sign * yes];
    return { ...entry, ...makeTables((name) => scale(entry[name])) };
  };
  // Grid steps are powers of two, so the scores of both statistics can be rounded to the coarser grid.
  const entries = [...scoreEntries(a), ...scoreEntries(b).map(signed)];
  const lost = { nDropped, dropped: addCounts(a.dropped, b.dropped, sign) };
  const step = Math.max(a.step, b.step);
  const combined = collectScores(a.labels, entries, lost, step, step === 0 ? null : combineLosses(a, b, sign));
  if (combined.counts.some((count) => count < 0)) throw notPart('more rows of a score');
  return { ...combined, ...settled(combined) };
}

/** Adds or subtracts log losses. Returns null if one of the two log losses is unknown. */
function combineLosses(a: ScoreStats, b: ScoreStats, sign: Sign): LossSums | null {
  const [one, other] = [lossesOf(a), lossesOf(b)];
  if (one === null || other === null) return null;
  const add = (x: Float64Array, y: Float64Array): Float64Array =>
    // After rows are removed, rounding may leave a negative sum.
    x.map((value, group) => Math.max(0, value + sign * (y[group] as number)));
  return { sums: add(one.sums, other.sums), squares: add(one.squares, other.squares) };
}

function notPart(what: string): DataValidationError {
  return new DataValidationError(`The statistics to remove are not part of the other statistics: they hold ${what}.`, {
    suggestion: 'Remove only rows that were added before.',
  });
}

import { type CellTables, type LossSums, makeTables, MAX_DISTINCT_SCORES, type ScoreStats } from './group-stats.ts';

/**
 * The base-2 logarithm of the number of grid steps from 0 to the largest score. Steps are powers of two, so that a
 * finer grid contains every coarser grid.
 */
const STEPS_LOG2 = 14;

/**
 * Returns the grid step for scores whose absolute values are at most `largest`. The step is a power of two, or 0 if the
 * power of two is too small for float64.
 */
export function gridStep(largest: number): number {
  return largest === 0 ? 0 : 2 ** (Math.ceil(Math.log2(largest)) - STEPS_LOG2);
}

/** Rounds a score to its grid. With step 0 the score is unchanged, except that -0 becomes 0. */
export function toGrid(score: number, step: number): number {
  return (step === 0 ? score : Math.floor(score / step + 0.5) * step) + 0;
}

/** Returns the log loss of one row, with the probability clipped as in scikit-learn for float64. */
export function logLoss(score: number, truth: 0 | 1): number {
  const clipped = Math.min(1 - Number.EPSILON, Math.max(Number.EPSILON, score));
  return -Math.log(truth === 1 ? clipped : 1 - clipped);
}

/** Creates sums of log losses, all 0. */
export function noLosses(groups: number): LossSums {
  return { sums: new Float64Array(groups), squares: new Float64Array(groups) };
}

/** Adds the log losses of rows with the same score and true label to the sums of their group. */
export function addLoss({ sums, squares }: LossSums, group: number, loss: number, weight: number): void {
  // A weight of 0 times an infinite loss counts as 0.
  if (weight === 0) return;
  sums[group] = (sums[group] as number) + weight * loss;
  squares[group] = (squares[group] as number) + weight * loss * loss;
}

/**
 * Returns the sums of the log losses. The sums are computed from the scores if the scores are exact. Returns null if
 * the losses are unknown.
 */
export function lossesOf(stats: ScoreStats): LossSums | null {
  if (stats.losses !== null) return stats.losses;
  return stats.step === 0 ? entryLosses(scoreEntries(stats), stats.labels.length) : null;
}

function entryLosses(entries: readonly ScoreEntry[], groups: number): LossSums {
  const losses = noLosses(groups);
  for (const { group, score, weights } of entries) {
    addLoss(losses, group, logLoss(score, 0), weights[0]);
    addLoss(losses, group, logLoss(score, 1), weights[1]);
  }
  return losses;
}

/** The number of excluded rows, in total and by group. */
export type LostRows = Pick<ScoreStats, 'nDropped' | 'dropped'>;

/** One distinct score of a group, with the counts of its rows by true label. */
export interface ScoreEntry extends Readonly<Record<keyof CellTables, readonly [no: number, yes: number]>> {
  readonly group: number;
  readonly score: number;
}

/**
 * Creates score statistics from entries in any order. Entries are sorted, equal scores are merged, and scores are
 * rounded to a grid if there are too many distinct scores.
 * @param step the grid step of the entries; 0 if they are exact
 * @param losses the exact log losses, if the scores of the entries are rounded to a grid; null if they are unknown
 */
export function collectScores(
  labels: readonly string[],
  entries: readonly ScoreEntry[],
  lost: LostRows,
  step = 0,
  losses: LossSums | null = null,
): ScoreStats {
  const exact = addEqual(entries, step);
  if (step === 0 && exact.length > MAX_DISTINCT_SCORES) {
    const coarse = gridStep(entries.reduce((most, { score }) => Math.max(most, Math.abs(score)), 0));
    // If all scores are 0, the number of entries cannot be reduced further.
    if (coarse > 0) return collectScores(labels, entries, lost, coarse, entryLosses(exact, labels.length));
  }
  return {
    kind: 'scores',
    labels,
    groups: Int32Array.from(exact, ({ group }) => group),
    scores: Float64Array.from(exact, ({ score }) => score),
    ...makeTables((name) => pairsOf(exact, name)),
    step,
    losses: step === 0 ? null : losses,
    hasTruth: true,
    dropped: lost.dropped,
    nDropped: lost.nDropped,
  };
}

/** Lists the two values of each entry. */
function pairsOf(entries: readonly ScoreEntry[], name: keyof CellTables): Float64Array {
  const pairs = new Float64Array(2 * entries.length);
  entries.forEach((entry, index) => {
    pairs.set(entry[name], 2 * index);
  });
  return pairs;
}

/** Returns the entries of statistics. */
export function scoreEntries(stats: ScoreStats): ScoreEntry[] {
  return Array.from(stats.scores, (score, index) => ({
    group: stats.groups[index] as number,
    score,
    ...pairsAt(stats, index),
  }));
}

/** Returns the two values of an entry in each table. */
export function pairsAt(tables: CellTables, index: number): Pick<ScoreEntry, keyof CellTables> {
  return makeTables((name) => [tables[name][2 * index] as number, tables[name][2 * index + 1] as number] as const);
}

/** Returns the index of a score of a group in score statistics, by bisection. The group must have the score. */
export function scorePosition({ groups, scores, step }: ScoreStats, group: number, given: number): number {
  const score = toGrid(given, step);
  let low = 0;
  let high = scores.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const own = groups[middle] as number;
    if (own < group || (own === group && (scores[middle] as number) < score)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addEqual(entries: readonly ScoreEntry[], step: number): ScoreEntry[] {
  const rounded = entries.map((entry) => ({ ...entry, score: toGrid(entry.score, step) }));
  rounded.sort((a, b) => a.group - b.group || a.score - b.score);
  const distinct: ScoreEntry[] = [];
  for (const entry of rounded) {
    const last = distinct.at(-1);
    if (last?.group === entry.group && last.score === entry.score)
      distinct[distinct.length - 1] = addEntries(last, entry);
    else distinct.push(entry);
  }
  return distinct.filter(({ counts }) => counts[0] !== 0 || counts[1] !== 0);
}

function addEntries(a: ScoreEntry, b: ScoreEntry): ScoreEntry {
  const add = (x: readonly [number, number], y: readonly [number, number]): [number, number] => [
    x[0] + y[0],
    x[1] + y[1],
  ];
  return { ...a, ...makeTables((name) => add(a[name], b[name])) };
}

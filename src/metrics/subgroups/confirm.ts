import { counted } from '../../internal/format.ts';
import { normalCdf } from '../../stats/normal.ts';
import { type CodedRows, SEARCH_HALF, TEST_HALF } from './coded-rows.ts';
import { detectableDifference, type Difference, type DifferenceTest, differenceVariance, MIN_CLUSTERS, testDifference } from './difference-test.ts'; // prettier-ignore
import { type Conjunction, keyOf, type LatticeResult, type RowTotals, searchLattice } from './lattice.ts';
import { drawMaxOfLattice } from './max-t.ts';
import { isExplainedBy, type Measured, measureSubgroups, type SubgroupTotals } from './measure.ts';
import type { FilledSubgroupOptions } from './options.ts';

/** A subgroup whose difference is confirmed. */
export interface Finding {
  readonly conjunction: Pick<Conjunction, 'columns' | 'codes'>;
  readonly difference: Difference;
  readonly n: number;
  readonly nTested: number;
  readonly ci: readonly [number, number];
  readonly pAdjusted: number;
  readonly path: readonly PathStep[];
}

/** The first conditions of a subgroup. */
interface PathStep {
  readonly conjunction: Pick<Conjunction, 'columns' | 'codes'>;
  readonly nTested: number;
  readonly difference: number;
}

/** The settings of {@link confirmSubgroups}. */
type Settings = Pick<
  FilledSubgroupOptions,
  'method' | 'maxDepth' | 'minGroupSize' | 'candidates' | 'alpha' | 'samples' | 'seed'
> & { readonly hasClusters: boolean };

/** The findings of a search, and what was searched. */
export interface Confirmed {
  readonly findings: readonly Finding[];
  readonly leftOut: readonly (readonly [one: Pick<Conjunction, 'columns' | 'codes'>, other: Finding['conjunction']])[];
  readonly searched: number;
  readonly measured: number;
  readonly tested: number;
  readonly detectable: readonly { readonly n: number; readonly difference: number }[];
  readonly mean: number;
  readonly n: number;
  readonly nClusters: number | null;
  readonly isConstant: boolean;
  readonly warnings: readonly string[];
}

/** The number of conjunctions that the search keeps, and the number whose overlaps are counted. */
const KEPT = 20_000;
const SHORTLISTED = 100;

/** Searches the lattice, tests the largest differences, and reports those that are confirmed. */
export async function confirmSubgroups(rows: CodedRows, settings: Settings): Promise<Confirmed> {
  const isSplit = settings.method === 'split';
  const lattice = await searchLattice(rows, {
    maxDepth: settings.maxDepth,
    minRows: isSplit ? Math.ceil(settings.minGroupSize / 2) : settings.minGroupSize,
    keep: isSplit ? KEPT : Infinity,
    isSplit,
    prunes: isSplit,
  });
  const tested = isSplit ? await testOnOtherHalf(rows, lattice, settings) : await testByMaxT(rows, lattice, settings);
  const { measured, candidates } = tested;
  const half = isSplit ? TEST_HALF : undefined;
  const passing = candidates
    .filter(({ pAdjusted }) => pAdjusted <= settings.alpha)
    .sort((a, b) => a.pAdjusted - b.pAdjusted || a.pValue - b.pValue || a.index - b.index);
  const { kept, explained } = withoutExplained(totalsOf(measured, lattice.totals), passing, measured);
  const reported = kept.slice(0, settings.candidates);
  const paths = await measurePaths(rows, reported.map(({ conjunction }) => conjunction), { half, centre: measured.centre }); // prettier-ignore
  const { count } = measured.all;
  const sum = lattice.totals.sum + (isSplit ? measured.all.sum : 0);
  const n = lattice.totals.count + (isSplit ? count : 0);
  return {
    findings: reported.map((own, index): Finding => {
      const { conjunction, difference, pAdjusted } = own;
      const nTested = (measured.subgroups[own.index] as SubgroupTotals).count;
      return {
        conjunction,
        difference,
        n: nTested + (isSplit ? conjunction.count : 0),
        nTested,
        ci: difference.interval(own.level),
        pAdjusted,
        path: paths[index] as PathStep[],
      };
    }),
    leftOut: explained.map(([one, other]) => [one.conjunction, other.conjunction]),
    searched: lattice.searched,
    measured: lattice.measured,
    tested: isSplit ? candidates.length : lattice.measured,
    detectable: detectableSizes(lattice.totals, { n, tested: count, settings, count: isSplit ? 1 / (candidateWeights(settings.candidates).at(-1) ?? 1) : lattice.measured }), // prettier-ignore
    mean: sum / n,
    n,
    nClusters: settings.hasClusters ? measured.all.clusters + tested.searchedClusters : null,
    isConstant: !(lattice.totals.max > lattice.totals.min),
    warnings: tested.untestable === 0 ? [] : [untestableWarning(tested.untestable, settings.hasClusters)],
  };
}

function untestableWarning(count: number, hasClusters: boolean): string {
  const reason = hasClusters
    ? `fewer than ${String(MIN_CLUSTERS)} clusters have rows in the subgroup, or outside`
    : 'the tested rows do not vary';
  return `${counted(count, 'candidate')} could not be tested, because ${reason}`;
}

/** A candidate with its test. */
interface Tested {
  /** The index in the measured subgroups. */
  readonly index: number;
  readonly conjunction: Conjunction;
  readonly difference: Difference;
  readonly pValue: number;
  readonly pAdjusted: number;
  /** The level of its interval. */
  readonly level: number;
}

/** Tested candidates. */
interface TestRun {
  readonly measured: Measured;
  readonly candidates: readonly Tested[];
  readonly untestable: number;
  /** The number of clusters in the searched half. */
  readonly searchedClusters: number;
}

async function testOnOtherHalf(rows: CodedRows, lattice: LatticeResult, settings: Settings): Promise<TestRun> {
  const { totals } = lattice;
  const test: DifferenceTest = { isRate: rows.isRate, hasClusters: settings.hasClusters };
  const centre = totals.count === 0 ? 0 : totals.sum / totals.count;
  const shortlist = withoutNested(
    totals,
    lattice.found.filter(({ t }) => t !== 0),
  );
  const searched = await measureSubgroups(rows, shortlist, { half: SEARCH_HALF, centre });
  const ranked = settings.hasClusters ? byClusterT(shortlist, searched, rows.isRate) : shortlist.map((conjunction, index) => ({ conjunction, index })); // prettier-ignore
  const chosen = withoutExplained(totals, ranked, searched)
    .kept.slice(0, settings.candidates)
    .map(({ conjunction }) => conjunction);
  const measured = await measureSubgroups(rows, chosen, { half: TEST_HALF, centre });
  const differences = chosen.map((_, index) => testDifference(measured, index, test));
  // A candidate that cannot be tested still counts.
  const pValues = differences.map(({ pValue }) => (Number.isNaN(pValue) ? 1 : pValue));
  const weights = candidateWeights(chosen.length);
  const adjusted = weightedHolm(pValues, weights);
  return {
    measured,
    candidates: chosen.map((conjunction, index) => ({
      index,
      conjunction,
      difference: differences[index] as Difference,
      pValue: pValues[index] as number,
      pAdjusted: adjusted[index] as number,
      level: 1 - settings.alpha * (weights[index] as number),
    })),
    untestable: differences.filter(({ pValue }) => Number.isNaN(pValue)).length,
    searchedClusters: searched.all.clusters,
  };
}

/**
 * Returns the share of the error of each candidate: in proportion to 1 / rank in the search. The ranks do not depend on
 * the tested half, so the first candidates can be tested with more of the error than the others.
 */
function candidateWeights(count: number): Float64Array {
  const weights = Float64Array.from({ length: count }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Adjusts p-values by Holm's method with weights (Holm 1979, section 4), in their order. Ordered by q = p / weight, the
 * i-th becomes max over j <= i of q_j times the sum of the weights from j on, at most 1. Equal weights give Holm's method.
 */
export function weightedHolm(pValues: readonly number[], weights: ArrayLike<number>): number[] {
  const weightOf = (index: number): number => weights[index] as number;
  const order = [...pValues.keys()].sort(
    (a, b) => (pValues[a] as number) / weightOf(a) - (pValues[b] as number) / weightOf(b),
  );
  const adjusted = new Array<number>(pValues.length);
  let left = order.reduce((sum, index) => sum + weightOf(index), 0);
  let largest = 0;
  for (const index of order) {
    largest = Math.max(largest, ((pValues[index] as number) / weightOf(index)) * left);
    adjusted[index] = Math.min(1, largest);
    left -= weightOf(index);
  }
  return adjusted;
}

/** Orders candidates by |t| of cluster totals. Those in too few clusters are left out. */
function byClusterT(
  shortlist: readonly Conjunction[],
  measured: Measured,
  isRate: boolean,
): { readonly conjunction: Conjunction; readonly index: number }[] {
  const tOf = (index: number): number => {
    const own = measured.subgroups[index] as SubgroupTotals;
    const { all } = measured;
    if (Math.min(own.clusters, all.clusters - own.within) < MIN_CLUSTERS) return 0;
    const variance = differenceVariance(measured, own, isRate);
    const difference = own.sum / own.count - (all.sum - own.sum) / (all.count - own.count);
    return variance > 0 ? Math.abs(difference) / Math.sqrt(variance) : 0;
  };
  return shortlist
    .map((conjunction, index) => ({ conjunction, index, t: tOf(index) }))
    .filter(({ t }) => t > 0)
    .sort((a, b) => b.t - a.t || a.index - b.index);
}

async function testByMaxT(rows: CodedRows, lattice: LatticeResult, settings: Settings): Promise<TestRun> {
  const { totals } = lattice;
  const all = lattice.found.filter(({ t }) => t !== 0);
  const centre = totals.count === 0 ? 0 : totals.sum / totals.count;
  const { observed, maxima } = await drawMaxOfLattice(rows, all, totals, settings);
  const critical = maxima[Math.ceil((1 - settings.alpha) * (maxima.length + 1)) - 1] ?? Infinity;
  const found = all
    .map((conjunction, position) => ({ conjunction, t: observed[position] as number }))
    .map((own) => ({ ...own, pAdjusted: (1 + countAtLeast(maxima, own.t)) / (maxima.length + 1) }))
    .filter(({ pAdjusted }) => pAdjusted <= settings.alpha)
    .sort((a, b) => b.t - a.t);
  const nested = withoutNested(totals, found.map(({ conjunction, t }) => ({ ...conjunction, t }))); // prettier-ignore
  const pOf = new Map(found.map(({ conjunction, pAdjusted }) => [keyOf(conjunction.columns, conjunction.codes), pAdjusted])); // prettier-ignore
  const measured = await measureSubgroups(rows, nested, { half: undefined, centre });
  return {
    measured,
    candidates: nested.map((conjunction, index) => ({
      index,
      conjunction,
      difference: testDifference(measured, index, { isRate: rows.isRate, hasClusters: settings.hasClusters }),
      pValue: -conjunction.t,
      pAdjusted: pOf.get(keyOf(conjunction.columns, conjunction.codes)) ?? 1,
      level: 1 - 2 * normalCdf(-critical),
    })),
    untestable: 0,
    searchedClusters: 0,
  };
}

/** Returns how many of ascending values are at least a value. */
function countAtLeast(ascending: Float64Array, value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) >= value) high = middle;
    else low = middle + 1;
  }
  return ascending.length - low;
}

/**
 * Returns the first conjunctions that no earlier one explains, of those where one refines the other. A refinement of a
 * conjunction that is explained itself must differ from it too.
 */
function withoutNested(totals: RowTotals, ranked: readonly Conjunction[]): Conjunction[] {
  const kept: Conjunction[] = [];
  const earlier = new Map<string, Conjunction>();
  for (const one of ranked) {
    if (kept.length === SHORTLISTED) break;
    const isExplained =
      subsetsOf(one).some(({ columns, codes }) => {
        const other = earlier.get(keyOf(columns, codes));
        return other !== undefined && isExplainedBy(totals, one, other, one);
      }) || kept.some((other) => refines(other, one) && isExplainedBy(totals, one, other, other));
    earlier.set(keyOf(one.columns, one.codes), one);
    if (!isExplained) kept.push(one);
  }
  return kept;
}

/** Returns whether a conjunction has all conditions of another one. */
function refines(one: Conjunction, other: Conjunction): boolean {
  return other.columns.every((column, index) => one.codes[one.columns.indexOf(column)] === other.codes[index]);
}

/** Divides ranked candidates into those that no earlier one explains, and the others with their explanation. */
function withoutExplained<One extends { readonly index: number; readonly conjunction: Conjunction }>(
  totals: RowTotals,
  ranked: readonly One[],
  measured: Measured,
): { readonly kept: One[]; readonly explained: (readonly [one: One, other: One])[] } {
  const kept: One[] = [];
  const explained: (readonly [One, One])[] = [];
  const part = ({ index }: One): SubgroupTotals => measured.subgroups[index] as SubgroupTotals;
  for (const one of ranked) {
    const other = kept.find((known) =>
      isExplainedBy(totals, part(one), part(known), measured.shared(one.index, known.index)),
    );
    if (other === undefined) kept.push(one);
    else explained.push([one, other]);
  }
  return { kept, explained };
}

/** Returns the totals of the measured rows, with the range of the searched rows. */
function totalsOf({ all, centre }: Measured, searched: RowTotals): RowTotals {
  const sumSquares = all.yy + 2 * centre * all.sum - centre * centre * all.count;
  return { ...searched, count: all.count, sum: all.sum, sumSquares };
}

/**
 * Measures the first conditions of each subgroup. The conditions are ordered so that each one adds the largest difference
 * in the direction of the subgroup.
 */
async function measurePaths(
  rows: CodedRows,
  conjunctions: readonly Conjunction[],
  options: { readonly half: number | undefined; readonly centre: number },
): Promise<PathStep[][]> {
  const parts = conjunctions.map(subsetsOf);
  const flat = parts.flat();
  if (flat.length === 0) return [];
  const measured = await measureSubgroups(rows, flat, options);
  let first = 0;
  return parts.map((own) => {
    const steps = own.map((conjunction, index): PathStep => {
      const { count, sum } = measured.subgroups[first + index] as SubgroupTotals;
      const { all } = measured;
      return { conjunction, nTested: count, difference: sum / count - (all.sum - sum) / (all.count - count) };
    });
    first += own.length;
    const target = steps.at(-1) as PathStep;
    const path = [target];
    while ((path[0] as PathStep).conjunction.columns.length > 1) {
      const [next] = path as [PathStep];
      const shorter = steps.filter(
        ({ conjunction }) =>
          conjunction.columns.length === next.conjunction.columns.length - 1 &&
          conjunction.columns.every((column) => next.conjunction.columns.includes(column)),
      );
      const sign = Math.sign(target.difference);
      path.unshift(shorter.reduce((best, step) => (sign * step.difference > sign * best.difference ? step : best)));
    }
    return path;
  });
}

/** Returns all conjunctions of some of the conditions, with the complete one last. */
function subsetsOf({ columns, codes }: Conjunction): Pick<Conjunction, 'columns' | 'codes'>[] {
  return Array.from({ length: 2 ** columns.length - 1 }, (_, bits) => {
    const taken = (_item: number, index: number): boolean => (((bits + 1) >>> index) & 1) === 1;
    return { columns: columns.filter(taken), codes: codes.filter(taken) };
  });
}

/** The shares of rows of the subgroups whose detectable difference is reported. */
const SIZES = [0.01, 0.05, 0.25];

function detectableSizes(
  { count, sum, sumSquares }: RowTotals,
  { n, tested, settings, count: tests }: { readonly n: number; readonly tested: number; readonly settings: Settings; readonly count: number }, // prettier-ignore
): { n: number; difference: number }[] {
  const mean = sum / count;
  const variance = Math.max(0, sumSquares / count - mean * mean);
  if (!(variance > 0) || settings.hasClusters) return [];
  const sizes = SIZES.map((share) => Math.round(share * n)).filter((size) => size > settings.minGroupSize);
  return [settings.minGroupSize, ...sizes]
    .filter((size) => size <= n / 2)
    .map((size) => ({
      n: size,
      difference: detectableDifference({ variance, all: tested }, (size * tested) / n, { alpha: settings.alpha, tests: Math.max(1, tests) }), // prettier-ignore
    }));
}

import { betaBinomialLower, betaBinomialUpper } from '../../stats/sequential/beta-binomial-sequence.ts';
import type { Interval } from '../../stats/proportion-interval.ts';
import type { FreshStart } from '../tracker/fresh-starts.ts';
import type { GroupTable } from '../tracker/group-table.ts';
import {
  anytimeInterval,
  emptySums,
  type IntervalBasis,
  type MeasureSums,
  measureValue,
  sumMeasure,
} from '../tracker/measure-intervals.ts';
import { groupShare, type KnownGroups } from '../tracker/stream-window.ts';
import type { WatchedMeasure } from '../tracker/watched-metric.ts';
import { MaxTree } from './max-tree.ts';

/** What determines the intervals of one measure in one window, in addition to the sums. */
export interface EndsRule extends IntervalBasis {
  readonly measure: WatchedMeasure;
  readonly start: FreshStart;
  readonly attribute: number;
  readonly minGroupSize: number;
  readonly known: KnownGroups;
  /** The error budget of the window, and the share of it that the measure has. */
  readonly windowAlpha: number;
  readonly measureAlpha: number;
}

/** The two groups of the largest lower bound of a gap. */
export interface FoundGap {
  readonly ends: WindowEnds;
  readonly larger: number;
  readonly smaller: number;
  readonly low: number;
}

/** A buffer for the sums of a group, because new objects would be slow. */
const sums = emptySums();

/**
 * The anytime-valid intervals of all groups for one measure in one window. Only groups with enough events have an
 * interval. Exact ends are slow to compute, so they are computed only for the groups that could have the largest lower
 * or the smallest upper end. For the other groups, limits of the ends are sufficient.
 */
export class WindowEnds {
  readonly rule: EndsRule;
  /** For each group, a number that is at least the lower end of its interval, in units of {@link WindowEnds.#unit}. */
  readonly #lows = new MaxTree();
  /** For each group, a number that is at least minus the upper end. */
  readonly #negatedHighs = new MaxTree();
  readonly #before: GroupTable | null;
  readonly #isPlainRate: boolean;
  /** The largest value of the measure, so that the keys of the trees are at most 1. */
  readonly #unit: number;
  /** The position in the list of changes up to which groups have been read. */
  #position: number;

  constructor(rule: EndsRule, position: number) {
    this.rule = rule;
    this.#before = rule.start.tables[rule.attribute] ?? null;
    this.#isPlainRate = rule.measure.kind === 'rate' && !rule.hasWeights;
    this.#unit = rule.measure.kind === 'error' ? (rule.errorScale ?? 1) : 1;
    this.#position = position;
  }

  /** Reads the groups whose sums have changed since the last call. */
  update(table: GroupTable, position: number): void {
    const changed = table.changes?.since(this.#position) ?? null;
    this.#position = position;
    if (changed === null) for (let group = 0; group < table.groups; group++) this.#read(table, group);
    else for (let index = 0; index < changed.length; index++) this.#read(table, changed[index] as number);
  }

  /**
   * Returns the largest lower bound of the gap, if it is above a minimum: the largest lower end minus the smallest upper
   * end.
   */
  gapAbove(table: GroupTable, min: number): FoundGap | undefined {
    // The true gap of the ends is at most this number. Most windows can therefore be skipped.
    if (!((this.#lows.max + this.#negatedHighs.max) * this.#unit > min)) return undefined;
    const [larger, low] = this.#largest(this.#lows, (group) => this.#lowerEnd(table, group));
    const [smaller, negatedHigh] = this.#largest(this.#negatedHighs, (group) => -this.#upperEnd(table, group));
    const gap = low + negatedHigh;
    return gap > min && larger !== smaller ? { ends: this, larger, smaller, low: Math.max(0, gap) } : undefined;
  }

  /** Returns the interval of a group; null if the group has too few events. */
  interval(table: GroupTable, group: number): Interval | null {
    return this.#isLarge(table, group)
      ? anytimeInterval(this.rule.measure, sums, this.alphaOf(group), this.rule)
      : null;
  }

  /** Computes the sums of a group in the window. */
  sum(table: GroupTable, group: number, into: MeasureSums): MeasureSums {
    return sumMeasure(this.rule.measure, table, this.#before, group, into);
  }

  /** Returns the error probability of a group's interval. */
  alphaOf(group: number): number {
    return this.rule.measureAlpha * groupShare(group, this.rule.known);
  }

  /** Returns whether a group has enough events, and fills the buffer with its sums. */
  #isLarge(table: GroupTable, group: number): boolean {
    this.sum(table, group, sums);
    return sums.n >= this.rule.minGroupSize && !Number.isNaN(measureValue(sums));
  }

  #read(table: GroupTable, group: number): void {
    if (!this.#isLarge(table, group)) {
      this.#lows.set(group, -Infinity);
      this.#negatedHighs.set(group, -Infinity);
      return;
    }
    const value = measureValue(sums);
    if (!this.#isPlainRate) {
      this.#lows.set(group, value / this.#unit);
      this.#negatedHighs.set(group, -value / this.#unit);
      return;
    }
    // A Wilson interval that lies within the anytime-valid interval.
    const { n } = sums;
    const z2 = minSquaredDistance(n, this.alphaOf(group));
    const shrink = 1 + z2 / n;
    const centre = value + z2 / (2 * n);
    const half = Math.sqrt(z2 * ((value * (1 - value)) / n + z2 / (4 * n * n)));
    this.#lows.set(group, (centre - half) / shrink);
    this.#negatedHighs.set(group, -(centre + half) / shrink);
  }

  /** Returns the group with the largest exact end. Among equal ends, the group with the smallest code comes first. */
  #largest(tree: MaxTree, endOf: (group: number) => number): readonly [group: number, end: number] {
    let best = -1;
    let largest = -Infinity;
    tree.walk(-Infinity, (group) => {
      const end = endOf(group);
      // The next check has to compute this end again only if the sums of the group change.
      tree.set(group, end / this.#unit);
      if (end > largest || (end === largest && group < best)) [best, largest] = [group, end];
      return largest / this.#unit;
    });
    return [best, largest];
  }

  #lowerEnd(table: GroupTable, group: number): number {
    if (this.#isPlainRate) {
      this.sum(table, group, sums);
      return betaBinomialLower(sums.sum, sums.n, this.alphaOf(group));
    }
    return this.interval(table, group)?.[0] ?? -Infinity;
  }

  #upperEnd(table: GroupTable, group: number): number {
    if (this.#isPlainRate) {
      this.sum(table, group, sums);
      return betaBinomialUpper(sums.sum, sums.n, this.alphaOf(group));
    }
    return this.interval(table, group)?.[1] ?? Infinity;
  }
}

/**
 * Returns a number that is at most the squared distance between a rate and the end of its beta-binomial interval, in
 * squared standard errors at that end. At this end, n KL(rate, end) = ln(1/alpha) + ln((n + 1) b), where KL is the
 * Kullback-Leibler divergence. Here, b is the binomial probability of its own mode, which is at least 1 / sqrt(8 n p (1
 * - p)) >= 1 / sqrt(2 n). The squared distance in standard errors at the end is at least n KL.
 */
function minSquaredDistance(n: number, alpha: number): number {
  return Math.log((n + 1) / Math.sqrt(2 * n) / alpha);
}

/** The lowest and the highest end of all groups in one window. Ends are computed again only for groups that changed. */
export class OutermostEnds {
  #ends: WindowEnds | undefined;
  #position = -1;
  /** The ends of each group; NaN if the group has too few events. */
  #lows = new Float64Array(0);
  #highs = new Float64Array(0);

  of(ends: WindowEnds, table: GroupTable, position: number): Interval {
    if (ends !== this.#ends) this.#position = -1;
    this.#ends = ends;
    this.#makeRoom(table.groups);
    const changed = table.changes?.since(this.#position) ?? null;
    this.#position = position;
    if (changed === null) for (let group = 0; group < table.groups; group++) this.#read(table, group);
    else for (const group of changed) this.#read(table, group);
    let lowest = Infinity;
    let highest = -Infinity;
    for (let group = 0; group < table.groups; group++) {
      if ((this.#lows[group] as number) < lowest) lowest = this.#lows[group] as number;
      if ((this.#highs[group] as number) > highest) highest = this.#highs[group] as number;
    }
    return [lowest, highest];
  }

  #read(table: GroupTable, group: number): void {
    const interval = this.#ends?.interval(table, group);
    this.#lows[group] = interval?.[0] ?? NaN;
    this.#highs[group] = interval?.[1] ?? NaN;
  }

  #makeRoom(groups: number): void {
    if (groups <= this.#lows.length) return;
    const [lows, highs] = [this.#lows, this.#highs];
    this.#lows = new Float64Array(2 * groups).fill(NaN);
    this.#highs = new Float64Array(2 * groups).fill(NaN);
    this.#lows.set(lows);
    this.#highs.set(highs);
  }
}

import { createRandom } from '../../internal/random.ts';
import { gapIntervals } from '../../stats/gap-interval.ts';
import { marginOf } from '../../stats/ab/judge-difference.ts';
import type { ABGap, ABInterval, ABRow } from './ab-test-fields.ts';
import type { ArmCell, GroupCells } from './arm-cells.ts';
import { definedInterval } from './defined.ts';

/** How the interval of a gap's change is made. */
export interface GapRule {
  readonly alpha: number;
  readonly tau: number | undefined;
  readonly seed: number;
}

/** Replicates of the simultaneous interval. */
const SAMPLES = 1000;

/**
 * How the largest gap between groups changed. With two groups it is the change
 * of the pair's size. With more, each arm's gap gets an interval at the level
 * sqrt(1 - alpha), since the arms are independent, and the change lies between
 * the differences of their far ends: that holds, and is wider than need be. In
 * the sequential mode all pairs of both arms share alpha instead (Bonferroni).
 * @param groups those that can be compared
 * @param pair the row of the two groups, where there are two
 */
export function gapChange(groups: readonly GroupCells[], pair: ABRow | undefined, rule: GapRule): ABGap | null {
  if (groups.length < 2) return null;
  const [control, treatment] = [groups.map((group) => group.control), groups.map((group) => group.treatment)];
  const [before, after] = [spreadOf(control), spreadOf(treatment)];
  const found = groups.length === 2 ? ofPair(pair) : ofMany(control, treatment, rule);
  if (found === null) return null;
  return Object.freeze({
    groups: groups.length,
    control: before,
    treatment: after,
    change: after - before,
    interval: found.interval,
    method: found.method,
  });
}

interface GapInterval {
  readonly interval: ABInterval;
  readonly method: string;
}

function ofPair(pair: ABRow | undefined): GapInterval | null {
  const interval = pair?.sizeChange.interval ?? null;
  return interval === null ? null : { interval, method: 'pair' };
}

function ofMany(control: readonly ArmCell[], treatment: readonly ArmCell[], rule: GapRule): GapInterval | null {
  const range = rule.tau === undefined ? simultaneousRange(rule) : anytimeRange(rule, rule.tau);
  const [before, after] = [range(control, 0), range(treatment, 1)];
  const interval = definedInterval([after[0] - before[1], after[1] - before[0]]);
  if (interval === null) return null;
  return { interval, method: rule.tau === undefined ? 'difference-of-simultaneous' : 'anytime-bonferroni' };
}

type RangeOf = (cells: readonly ArmCell[], stream: number) => ABInterval;

function simultaneousRange({ alpha, seed }: GapRule): RangeOf {
  return (cells, stream) => {
    const rates = cells.flatMap(({ rate }) => rate ?? []);
    const family =
      rates.length === cells.length
        ? {
            kind: 'rates' as const,
            successes: rates.map(({ successes }) => successes),
            trials: rates.map(({ trials }) => trials),
          }
        : {
            kind: 'means' as const,
            means: cells.map(({ cell }) => cell.value),
            standardErrors: cells.map(({ cell }) => Math.sqrt(cell.variance)),
            sizes: cells.map(({ effective }) => effective),
          };
    const options = { level: Math.sqrt(1 - alpha), samples: SAMPLES, random: createRandom(seed, stream) };
    return gapIntervals([family], options).intervals[0] ?? [NaN, NaN];
  };
}

function anytimeRange({ alpha }: GapRule, tau: number): RangeOf {
  return (cells) => {
    const share = alpha / (cells.length * (cells.length - 1));
    let [low, high] = [0, 0];
    for (const [place, { cell }] of cells.entries()) {
      for (const { cell: other } of cells.slice(0, place)) {
        const difference = Math.abs(cell.value - other.value);
        const standardError = Math.sqrt(cell.variance + other.variance);
        const margin = standardError === 0 ? 0 : marginOf(standardError, Infinity, { alpha: share, tau });
        low = Math.max(low, difference - margin);
        high = Math.max(high, difference + margin);
      }
    }
    return [low, high];
  };
}

function spreadOf(cells: readonly ArmCell[]): number {
  const values = cells.map(({ cell }) => cell.value);
  return Math.max(...values) - Math.min(...values);
}

import { DataValidationError } from '../../../exceptions/index.ts';
import { invalidParameter, suggestNames } from '../../../internal/arguments.ts';
import type { CategoricalColumn } from '../../../table/index.ts';
import { nameGroups } from '../read-columns.ts';

/** Proportions of groups, by label. */
export type Proportions = Readonly<Record<string, number>>;

/** The target shares of groups. */
export interface TargetShares {
  /**
   * One share per label. The shares sum to 1. The share is NaN for a group without a target share, whose rows have the
   * weight 1.
   */
  readonly shares: Float64Array;
  readonly warnings: readonly string[];
}

/** Options of {@link targetShares}. */
export interface TargetOptions {
  /** The name of the attribute in warnings, for example "sex". */
  readonly what: string;
  readonly minCount: number;
}

/** The deviation of the sum of proportions from 1 above which a warning is given. */
const ROUNDED_SUM = 0.01;

/**
 * Returns a frozen copy of proportions, so that the caller cannot change them later.
 * @throws {ValueError} if a proportion is negative or not finite, or if no proportion is above 0
 */
export function readProportions<Given extends Proportions | undefined>(parameter: string, given: Given): Given {
  if (given === undefined) return given;
  const values = Object.entries(given);
  const bad = values.find(([, value]) => !(value >= 0 && value < Infinity));
  if (bad !== undefined) throw invalidParameter(parameter, `have a finite ${bad[0]} of at least 0`, bad[1]);
  if (values.some(([, value]) => value > 0)) return Object.freeze({ ...given });
  throw invalidParameter(parameter, 'have a proportion above 0', JSON.stringify(given));
}

/**
 * Returns the target shares of groups: the shares of the benchmark, or equal shares if there is none. Groups with fewer
 * rows than `minCount` and groups that the benchmark does not name have no target share.
 * @throws {DataValidationError} if no group of the benchmark has both a share and rows
 */
export function targetShares(
  groups: CategoricalColumn,
  benchmark: Proportions | undefined,
  { what, minCount }: TargetOptions,
): TargetShares {
  const counts = countRows(groups);
  const isSmall = (code: number): boolean => (counts[code] as number) < minCount;
  const small = groups.labels.filter((_, code) => isSmall(code));
  const given = benchmark === undefined ? undefined : new Map(Object.entries(benchmark));
  const shareOf = (label: string): number => (given === undefined ? 1 : (given.get(label) ?? NaN));
  const raw = groups.labels.map((label, code) => (isSmall(code) ? NaN : shareOf(label)));
  const total = raw.reduce((sum, share) => sum + (Number.isNaN(share) ? 0 : share), 0);
  if (benchmark !== undefined && !(total > 0) && small.length === 0)
    throw unmetBenchmark(what, benchmark, groups.labels);
  const shares = Float64Array.from(raw, (share) => (total > 0 ? share / total : NaN));
  return {
    shares,
    warnings: [...smallWarning(what, small, minCount), ...benchmarkWarnings(what, given, groups.labels)],
  };
}

function countRows({ codes, labels }: CategoricalColumn): Int32Array {
  const counts = new Int32Array(labels.length);
  for (const code of codes) if (code >= 0) counts[code] = (counts[code] as number) + 1;
  return counts;
}

function smallWarning(what: string, small: readonly string[], minCount: number): string[] {
  if (small.length === 0) return [];
  return [`${what}: rows of ${nameGroups(small)} have the weight 1 (fewer than ${String(minCount)} rows in a group)`];
}

function benchmarkWarnings(
  what: string,
  known: ReadonlyMap<string, number> | undefined,
  occurring: readonly string[],
): string[] {
  if (known === undefined) return [];
  const seen = new Set(occurring);
  const absent = [...known].filter(([label, share]) => share > 0 && !seen.has(label)).map(([label]) => label);
  const unnamed = occurring.filter((label) => !known.has(label));
  const sum = [...known.values()].reduce((all, share) => all + share, 0);
  return [
    ...(absent.length > 0
      ? [`${what}: no row is in ${nameGroups(absent)} of the benchmark, and weights cannot change that`]
      : []),
    ...(unnamed.length > 0 ? [`${what}: rows of ${nameGroups(unnamed)} have the weight 1 (no benchmark)`] : []),
    ...(Math.abs(sum - 1) > ROUNDED_SUM ? [`${what}: the benchmark sums to ${String(sum)}, rescaled to 1`] : []),
  ];
}

function unmetBenchmark(what: string, benchmark: Proportions, occurring: readonly string[]): DataValidationError {
  const [first = ''] = Object.keys(benchmark);
  return new DataValidationError(`The benchmark of ${what} has no share for any group that occurs in the data.`, {
    code: 'too-few-groups',
    context: { attribute: what, benchmark: Object.keys(benchmark), groups: occurring },
    suggestion: suggestNames(first, occurring, 'groups'),
  });
}

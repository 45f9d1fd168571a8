import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, suggestNames } from '../../internal/arguments.ts';
import { type CategoricalColumn, encodeGroups, type SensitiveSource } from '../../table/index.ts';
import { RANKING_OPTION_NAMES, type RankingOptions } from './discounted-cumulative-gain.ts';
import { wholeNumber } from './entropy.ts';

/** The shortages in a ranking: the prefixes that have too few rows of a group. */
export interface InfeasibleIndex {
  /** The number of prefixes with too few rows of at least one group. */
  readonly infeasibleIndex: number;
  /** The number of pairs of a prefix and a group for which the prefix has too few rows of the group. */
  readonly infeasibleCount: number;
  /** For each prefix that has too few rows of a group, the position of its last row, counted from 0. */
  readonly positions: readonly number[];
}

/**
 * The tolerance for rounding errors in a share times a number of rows. For example, 0.29 x 100 is 28.999999999999996 in
 * float64.
 */
const ROUNDING = 1e-9;

/**
 * Computes the infeasible index of a ranking: the number of its prefixes in which some group has fewer rows than its
 * target proportion p_g requires, rounded down,
 *
 *     sum over prefixes k = 1..top of 1[ some group g: count_k(g) < floor(p_g k) ], in 0..top.
 *
 * `infeasibleCount` is the number of pairs of a prefix and a group for which the prefix has too few rows of the group.
 * AIF360 calls this count the index. With two groups, the index and the count are equal. AIF360 also skips the prefix
 * of all `top` rows, which is included here. A group that has a target but no rows counts as a shortage. If targets sum
 * to less than 1, any group can fill the remaining positions. Rows without a group are excluded, and the positions of
 * later rows decrease accordingly.
 * @param sensitive the group of each row in the order of the ranking, [n], or an object of several attributes, which
 *   are then crossed
 * @param targetProportions the minimum share of positions of each group, by label
 * @throws {DataValidationError} if no row has a group, or a group of the ranking has no target
 * @throws {ValueError} if a proportion is outside [0, 1], the sum is above 1, or `top` is not an integer of at least 1
 * @see Geyik, Ambler and Kenthapadi (2019), "Fairness-aware ranking in search and recommendation systems"
 * @example
 * ```ts
 * import { infeasibleIndex } from 'evenhand/metrics';
 *
 * console.log(infeasibleIndex(['a', 'a', 'b', 'b'], { a: 0.5, b: 0.5 }));
 * // { infeasibleIndex: 1, infeasibleCount: 1, positions: [ 1 ] }
 * ```
 */
export function infeasibleIndex(
  sensitive: SensitiveSource,
  targetProportions: Readonly<Record<string, number>>,
  options: RankingOptions = {},
): InfeasibleIndex {
  assertKnownOptions('infeasibleIndex', options, RANKING_OPTION_NAMES);
  const { top = Infinity } = options;
  if (top !== Infinity) wholeNumber('infeasibleIndex', 'top', top);
  assertProportions(targetProportions);
  const groups = encodeGroups(sensitive);
  const ranking = groups.codes.filter((code) => code >= 0);
  if (ranking.length === 0) {
    throw new DataValidationError('sensitive holds no rows with a group, so there is no ranking to measure.', {
      code: 'empty-data',
      context: { argument: 'sensitive', rows: groups.codes.length },
      suggestion: 'Give the group of each ranked row, in the order of the ranking.',
    });
  }
  assertTargets(groups, targetProportions);
  return countShortages(ranking.subarray(0, Math.min(top, ranking.length)), groups.labels, targetProportions);
}

function countShortages(
  ranking: Int32Array,
  labels: readonly string[],
  targets: Readonly<Record<string, number>>,
): InfeasibleIndex {
  const codeOf = new Map(labels.map((label, code) => [label, code]));
  const wanted = Object.entries(targets).map(([label, proportion]) => ({ code: codeOf.get(label), proportion }));
  const counts = new Int32Array(labels.length);
  const positions: number[] = [];
  let infeasibleCount = 0;
  ranking.forEach((group, position) => {
    counts[group] = (counts[group] as number) + 1;
    const missed = wanted.filter(({ code, proportion }) => {
      const count = code === undefined ? 0 : (counts[code] as number);
      return count < Math.floor(proportion * (position + 1) + ROUNDING);
    });
    infeasibleCount += missed.length;
    if (missed.length > 0) positions.push(position);
  });
  return Object.freeze({
    infeasibleIndex: positions.length,
    infeasibleCount,
    positions: Object.freeze(positions),
  });
}

function assertProportions(targets: Readonly<Record<string, number>>): void {
  const wrong = Object.entries(targets).find(([, proportion]) => !(proportion >= 0 && proportion <= 1));
  if (wrong !== undefined) {
    throw new ValueError(
      `The targetProportions parameter of infeasibleIndex must hold numbers from 0 to 1. Got ${String(wrong[1])} for '${wrong[0]}' instead.`,
      {
        context: { parameter: 'targetProportions', group: wrong[0], value: wrong[1] },
        suggestion: 'Give shares, such as 0.5 for half of the positions.',
      },
    );
  }
  const sum = Object.values(targets).reduce((total, proportion) => total + proportion, 0);
  if (sum <= 1 + ROUNDING) return;
  throw new ValueError(
    `The targetProportions parameter of infeasibleIndex must add up to at most 1. Got ${String(sum)} instead.`,
    {
      context: { parameter: 'targetProportions', value: sum },
      suggestion: 'Lower the targets, because no ranking can reach a sum above 1.',
    },
  );
}

/** Checks that every group has a target. A missing target usually means that a label was mistyped or forgotten. */
function assertTargets({ codes, labels }: CategoricalColumn, targets: Readonly<Record<string, number>>): void {
  const missing = labels.find((label, code) => !Object.hasOwn(targets, label) && codes.includes(code));
  if (missing === undefined) return;
  throw new DataValidationError(`targetProportions has no proportion for the group '${missing}' of the ranking.`, {
    code: 'unknown-label',
    context: { argument: 'targetProportions', group: missing },
    suggestion: `${suggestNames(missing, Object.keys(targets), 'groups with a target')} Use 0 for a group without a target.`,
  });
}

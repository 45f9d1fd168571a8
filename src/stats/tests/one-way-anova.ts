import type { VarianceParts } from '../association/variance-parts.ts';
import { fTail } from './f-tail.ts';
import type { TestResult } from './test-result.ts';

/**
 * Fisher's one-way analysis of variance: whether the means of k groups are
 * equal,
 *
 *     F = (between / (k - 1)) / (within / (n - k)),
 *
 * on k - 1 and n - k degrees of freedom. It takes the values of a group to be
 * normal with the same variance in every group; with many rows a group it holds
 * well without the first, and less well without the second.
 *
 * Undefined with fewer than two groups, with one value a group, and without any
 * spread. Without spread inside the groups alone F is infinite and p is 0.
 * @see R. Fisher, Statistical Methods for Research Workers (1925), section 41
 */
export function oneWayAnova({ n, groups, between, within }: VarianceParts): TestResult {
  const degrees = [Math.max(0, groups - 1), Math.max(0, n - groups)] as const;
  if (groups < 2 || n <= groups || !(between + within > 0)) return { statistic: NaN, degrees, pValue: NaN };
  const statistic = between / degrees[0] / (within / degrees[1]);
  return { statistic, degrees, pValue: fTail(statistic, ...degrees) };
}

/** What those share of an error budget that come later: groups after the first events, windows after the first alarm. */
const RESERVE = 0.2;

/** Who is known of an attribute's groups. */
export interface KnownGroups {
  /** Groups that were declared, or that came in the first events. */
  readonly early: number;
  /** Whether no other group is counted. */
  readonly isClosed: boolean;
}

/**
 * The part of a measure's error budget that one group's interval may spend, such
 * that over all groups, also those yet to come, the parts add up to at most 1.
 *
 * Declared groups have equal parts, 1/K. Where groups are not declared, those
 * that came first have 0.8/K each, and the j-th that came later
 * 0.2/(j (j + 1)), which add up to 0.2 however many come. Who belongs to which
 * group is not what is tested, so parts may depend on it.
 * @param group its code: the number of groups that came before it
 */
export function groupShare(group: number, { early, isClosed }: KnownGroups): number {
  if (isClosed) return 1 / early;
  if (group < early) return (1 - RESERVE) / early;
  const late = group - early + 1;
  return RESERVE / (late * (late + 1));
}

/**
 * The part of a metric's error budget that the windows begun at one start may
 * spend: half for the whole stream, and of the other half 1/(k (k + 1)) for
 * the k-th fresh start, which add up to 1. So all windows of a stream
 * without end spend it once, and a start costs the more the later it is, but
 * only through the logarithm of its number.
 * @param start the start's number; 0 is the beginning of the stream
 */
export function startShare(start: number): number {
  return start === 0 ? 0.5 : 0.5 / (start * (start + 1));
}

/**
 * The same without fresh starts, where one window grows until its alarm is
 * closed and the next begins: 0.8 for the first, 0.2/(j (j + 1)) for the one
 * after the j-th alarm.
 * @param closed alarms that were closed so far
 */
export function growingShare(closed: number): number {
  return closed === 0 ? 1 - RESERVE : RESERVE / (closed * (closed + 1));
}

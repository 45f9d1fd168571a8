import { needsTruth, whyRejected } from './conventions.ts';
import { hasGaps, hasSpellings, type Level } from './facts.ts';
import type { Frame } from './frames.ts';
import { type FrameValues, isRejection, type MeasureValues, type PeerValues, type Rejection } from './values.ts';
import type { Verdicts } from './verdicts.ts';

/** The values of fairlearn, and whether they are of the accepted rows only. */
export interface Source<Values> {
  readonly values: Values;
  readonly isKept: boolean;
}

/**
 * Returns fairlearn's values for a measure: those of all rows, or those of the rows that fairlearn accepts if it must
 * reject the others. Reports a rejection that does not follow from the rows, and a missing one that does.
 */
export function sourceOf<Values extends number | MeasureValues>(
  measure: string,
  frame: Frame,
  levels: ReadonlyMap<string, Level>,
  { raw, kept, old }: PeerValues,
  pick: (values: FrameValues) => Values | Rejection | undefined,
  verdicts: Verdicts,
  what = measure,
): Source<Values> | undefined {
  const first = pick(raw);
  const accepted = (values: FrameValues | null): Source<Values> | undefined => {
    const found = values === null ? undefined : pick(values);
    if (found !== undefined && !isRejection(found)) return { values: found, isKept: values === kept };
    verdicts.fail(what, 'a value', `fairlearn rejects the accepted rows: ${found?.error ?? 'no answer'}`);
    return undefined;
  };
  if (hasSpellings(frame)) verdicts.count('spellings of a number');
  if (hasGaps(frame)) {
    verdicts.count('rows without a group');
    const hasNull = Object.values(frame.sensitive).some((column) => column.includes(null));
    const isExpected = hasNull ? isRejection(first) && first.error.includes('missing values') : !isRejection(first);
    if (!isExpected) verdicts.fail(what, 'rows without a group', JSON.stringify(first));
    return accepted(frame.kind === 'decisions' || frame.kind === 'classes' ? old : kept);
  }
  const why = whyRejected(measure, frame, levels);
  if (isRejection(first)) {
    if (why === undefined) {
      verdicts.fail(what, 'a value', first.error);
      return undefined;
    }
    verdicts.count(why);
    return accepted(kept);
  }
  if (why !== undefined) {
    verdicts.fail(what, why, 'a rejection');
    return undefined;
  }
  // In a frame with a measure that needs true values, the package drops incomplete rows for all measures of numbers.
  if (frame.kind === 'numbers' && frame.yTrue.includes(null) && frame.measures.some(needsTruth)) {
    verdicts.count('rows without a true label');
    return accepted(kept);
  }
  return first === undefined ? undefined : { values: first, isKept: false };
}

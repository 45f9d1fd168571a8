import { z } from 'zod';

import { placeOrNull } from './detector-state.ts';

/** What a detector remembers of its warnings. */
export interface WarningZone {
  /** Whether the latest value was a warning, and not a change. */
  isWarning: boolean;
  /** The number of the value at which the present row of warnings began; null where there is none. */
  warnedAt: number | null;
}

/** The fields of {@link WarningZone} in a saved memory. */
export const WARNING_FIELDS = { isWarning: z.boolean(), warnedAt: placeOrNull };

/**
 * Notes whether value number n is in the zone of warnings; a change is in it too, and ends it.
 * @returns whether it is a change
 */
export function noteWarning(zone: WarningZone, n: number, isInZone: boolean, isChange: boolean): boolean {
  zone.warnedAt = isInZone || isChange ? (zone.warnedAt ?? n) : null;
  zone.isWarning = isInZone && !isChange;
  return isChange;
}

/** How many values back the present row of warnings began; 0 where a change came without any. */
export function warningAge(zone: WarningZone, n: number): number {
  return n - (zone.warnedAt ?? n);
}

import type { Verdict } from '../verdicts.ts';
import type { AlarmCell, RunOutcome } from './design.ts';

/** A cell of the study with its runs. */
export interface AlarmResult {
  readonly cell: AlarmCell;
  readonly runs: readonly RunOutcome[];
}

/** The guaranteed rate of false alarms. */
const ALPHA = 0.05;
/** The one-sided critical value at 5%. */
const CRITICAL_Z = 1.645;
/** The maximum ratio of a delay to its reference value. */
const MAX_SLOWER = 1.5;
/** The maximum ratio of the delay of a late change to that of the same change at the start. */
const MAX_LATER = 5;

/** Returns the number of runs with an alarm of a rule. */
export function alarmsOf({ runs }: AlarmResult, rule: keyof RunOutcome = 'alarm'): number {
  return runs.filter((run) => run[rule] !== null).length;
}

/**
 * Returns the median of a rule's delays; Infinity if most runs had no alarm. Runs with an alarm before the change are
 * excluded.
 */
export function medianDelay({ runs }: AlarmResult, rule: keyof RunOutcome = 'alarm'): number {
  const delays = runs.filter(({ alarm }) => alarm !== 0).map((run) => run[rule] ?? Infinity);
  return delays.sort((a, b) => a - b)[Math.floor(delays.length / 2)] ?? NaN;
}

/** Returns the maximum number of alarms compatible with a true rate of 5%, by a one-sided binomial test at 5%: 61 of 1,000. */
export function maxAlarms(runs: number): number {
  return Math.floor(runs * ALPHA + CRITICAL_Z * Math.sqrt(runs * ALPHA * (1 - ALPHA)));
}

/** Compares the results with the acceptance criteria. */
export function alarmVerdicts(results: readonly AlarmResult[]): Verdict[] {
  return results.flatMap((result): Verdict[] => {
    const { cell, runs } = result;
    if (cell.kind === 'fair') {
      const alarms = alarmsOf(result);
      const most = maxAlarms(runs.length);
      const text = `${alarms} of ${runs.length} runs raised a false alarm (at most ${most} allowed). Stream: ${cell.text}`;
      return [{ text, isMet: alarms <= most }];
    }
    const median = medianDelay(result);
    const early = runs.filter(({ alarm }) => alarm === 0).length;
    const before = cell.fairEvents > 0 ? ` ${early} of ${runs.length} runs had an alarm before the change.` : '';
    if (cell.reference !== undefined) {
      const most = MAX_SLOWER * cell.reference;
      const text = `the median delay is ${median} events (at most ${most} allowed). Stream: ${cell.text}`;
      return [{ text, isMet: median <= most }];
    }
    const fresh = results.find((other) => other.cell.id === cell.against);
    if (fresh === undefined) return [];
    const ratio = median / medianDelay(fresh);
    const text = `the median delay is ${median} events, ${ratio.toFixed(2)} times the median delay for a gap from the first event (at most ${MAX_LATER} times allowed).${before} Stream: ${cell.text}`;
    return [{ text, isMet: ratio <= MAX_LATER }];
  });
}

import type { Verdict } from '../verdicts.ts';
import type { AlarmCell, RunOutcome } from './design.ts';

/** A cell with its runs. */
export interface AlarmResult {
  readonly cell: AlarmCell;
  readonly runs: readonly RunOutcome[];
}

/** The rate of false alarms that is promised. */
const ALPHA = 0.05;
/** One-sided 5%. */
const CRITICAL_Z = 1.645;
/** A delay may be so many times the one that was found elsewhere. */
const MAX_SLOWER = 1.5;
/** A late change may take so many times what the same change takes at the start. */
const MAX_LATER = 5;

/** How many runs had a rule's alarm. */
export function alarmsOf({ runs }: AlarmResult, rule: keyof RunOutcome = 'alarm'): number {
  return runs.filter((run) => run[rule] !== null).length;
}

/** The median of a rule's delays; Infinity where most runs had no alarm. Runs that alarmed before the change are left out. */
export function medianDelay({ runs }: AlarmResult, rule: keyof RunOutcome = 'alarm'): number {
  const delays = runs.filter(({ alarm }) => alarm !== 0).map((run) => run[rule] ?? Infinity);
  return delays.sort((a, b) => a - b)[Math.floor(delays.length / 2)] ?? NaN;
}

/** The most alarms of so many runs that a true rate of 5% explains, by a one-sided binomial test at 5%: 61 of 1,000. */
export function mostAlarms(runs: number): number {
  return Math.floor(runs * ALPHA + CRITICAL_Z * Math.sqrt(runs * ALPHA * (1 - ALPHA)));
}

export function alarmVerdicts(results: readonly AlarmResult[]): Verdict[] {
  return results.flatMap((result): Verdict[] => {
    const { cell, runs } = result;
    if (cell.kind === 'fair') {
      const alarms = alarmsOf(result);
      const most = mostAlarms(runs.length);
      const text = `false alarms, ${cell.text}: ${alarms} of ${runs.length} runs, at most ${most} asked`;
      return [{ text, isMet: alarms <= most }];
    }
    const median = medianDelay(result);
    const early = runs.filter(({ alarm }) => alarm === 0).length;
    const before = cell.fairEvents > 0 ? `; ${early} of ${runs.length} runs alarmed before the change` : '';
    if (cell.reference !== undefined) {
      const most = MAX_SLOWER * cell.reference;
      return [{ text: `delay, ${cell.text}: median ${median} events, at most ${most} asked`, isMet: median <= most }];
    }
    const fresh = results.find((other) => other.cell.id === cell.against);
    if (fresh === undefined) return [];
    const ratio = median / medianDelay(fresh);
    const text = `delay, ${cell.text}: median ${median} events, ${ratio.toFixed(2)} times that of the same gap from the first event, at most ${MAX_LATER} asked${before}`;
    return [{ text, isMet: ratio <= MAX_LATER }];
  });
}

import type { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { FairnessReportingDashboard } from '../../monitoring/dashboard/fairness-reporting-dashboard.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import type { MonitorParts } from './monitor-parts.ts';
import { writeState } from './monitor-state.ts';

/** What became of the files that a run writes whole. */
export interface WriteOutcome {
  readonly written: readonly string[];
  /** What kept others from being written; one does not keep the next from being tried. */
  readonly problems: readonly unknown[];
}

/** Writes the dashboard and the state, where they are asked for. A stream without any event has no state to go on from. */
export async function writeOutputs(request: MonitorRequest, parts: MonitorParts): Promise<WriteOutcome> {
  const { outputDir, state } = request;
  const { tracker, engine, policy } = parts;
  const tasks: (() => Promise<string[]>)[] = [];
  if (outputDir !== undefined) {
    tasks.push(async () => {
      const saved = await new FairnessReportingDashboard({ tracker, engine: shownEngine(request, parts) }).save(
        outputDir,
      );
      return [saved.dashboard, saved.report, saved.activeAlerts];
    });
  }
  if (state !== undefined && tracker.nEvents > 0) {
    tasks.push(async () => {
      await writeState(state, tracker, engine, policy);
      return [state];
    });
  }
  const written: string[] = [];
  const problems: unknown[] = [];
  for (const task of tasks) {
    try {
      written.push(...(await task()));
    } catch (cause) {
      problems.push(cause);
    }
  }
  return { written, problems };
}

/** Returns the engine that a dashboard may look at: where a state is kept, a copy, since a look is a check. */
export function shownEngine({ state }: MonitorRequest, { engine }: MonitorParts): FairnessDriftAndAlertEngine {
  return state === undefined ? engine : engine.copy();
}

/** Writes outputs at each refresh and outlives what keeps it from it: tells the first failure of an outage. */
export function refresher(
  request: MonitorRequest,
  parts: MonitorParts,
  onProblem: ((problem: string) => void) | undefined,
): () => Promise<void> {
  let isOutage = false;
  return async () => {
    // Until something was counted there is nothing to show, and perhaps never will be.
    if (parts.tracker.nEvents === 0) return;
    const { problems } = await writeOutputs(request, parts);
    const [first] = problems;
    if (problems.length > 0 && !isOutage) onProblem?.(first instanceof Error ? first.message : String(first));
    isOutage = problems.length > 0;
  };
}

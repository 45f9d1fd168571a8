import type { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { FairnessReportingDashboard } from '../../monitoring/dashboard/fairness-reporting-dashboard.ts';
import type { MonitorRequest } from '../../schemas/monitor.ts';
import type { MonitorParts } from './monitor-parts.ts';
import { writeState } from './monitor-state.ts';

/** The result of writing the dashboard and the state. */
export interface WriteOutcome {
  readonly written: readonly string[];
  /** The errors of files that could not be written. If a file cannot be written, the next file is still tried. */
  readonly problems: readonly unknown[];
}

/** Writes the dashboard and the state, if requested. If there was no event, no state is written. */
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
      // The counts and the positions of a state belong together: nothing is counted while it is encoded.
      const positions = parts.kafka?.positions;
      const topic = request.topic ?? '';
      const kafka = positions === undefined ? undefined : { topic, positions };
      await writeState(state, { tracker, engine, policy, kafka, files: parts.files ?? parts.saved?.files });
      if (positions !== undefined) parts.kafka?.noteSaved(positions);
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

/**
 * Returns the engine for a dashboard. With a saved state, this is a copy, because the check for the dashboard would
 * otherwise change the saved state.
 */
export function shownEngine({ state }: MonitorRequest, { engine }: MonitorParts): FairnessDriftAndAlertEngine {
  return state === undefined ? engine : engine.copy();
}

/**
 * Returns a function that writes outputs at each refresh. If several refreshes fail in a row, only the first failure is
 * reported.
 */
export function refresher(
  request: MonitorRequest,
  parts: MonitorParts,
  onProblem: ((problem: string) => void) | undefined,
): () => Promise<void> {
  let isOutage = false;
  return async () => {
    // Before the first event there is nothing to write.
    if (parts.tracker.nEvents === 0) return;
    const { problems } = await writeOutputs(request, parts);
    const [first] = problems;
    if (problems.length > 0 && !isOutage) onProblem?.(first instanceof Error ? first.message : String(first));
    isOutage = problems.length > 0;
  };
}

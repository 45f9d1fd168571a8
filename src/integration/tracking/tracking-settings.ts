import { TrackingFault } from './tracking-fault.ts';
import type { ArtifactTrackingOptions } from './tracking-options.ts';
import { findTrackingServer, type TrackingEnvironment, type TrackingServer } from './tracking-server.ts';

/** The options of tracking with every default filled in. */
export interface TrackingSettings {
  readonly server: TrackingServer;
  readonly experiment: string;
  readonly runName: string | undefined;
  readonly runId: string | undefined;
  readonly step: number;
  readonly artifacts: readonly string[];
  readonly timeoutMillis: number;
  readonly totalTimeoutMillis: number;
  readonly signal: AbortSignal | undefined;
  readonly now: () => number;
}

/** The longest time that a timer takes. */
const LONGEST_MILLIS = 2 ** 31 - 1;

/**
 * Fills in what options leave out, from the environment or as documented.
 * @throws {TrackingFault} where no server is named, or an option is out of range
 */
export function toTrackingSettings(
  options: ArtifactTrackingOptions,
  environment: TrackingEnvironment,
): TrackingSettings {
  const fromEnvironment = environment['MLFLOW_EXPERIMENT_NAME'];
  const server = findTrackingServer(options.trackingUri, environment);
  return {
    server,
    experiment:
      options.experiment ?? (fromEnvironment === undefined || fromEnvironment === '' ? 'evenhand' : fromEnvironment),
    runName: options.runName,
    runId: options.runId,
    step: wholeNumber('step', options.step ?? 0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    artifacts: options.artifacts ?? [],
    timeoutMillis: wholeNumber('timeoutMillis', options.timeoutMillis ?? 10_000, 1, LONGEST_MILLIS),
    totalTimeoutMillis: wholeNumber('totalTimeoutMillis', options.totalTimeoutMillis ?? 30_000, 1, LONGEST_MILLIS),
    signal: options.signal,
    now: options.now ?? ((): number => new Date().getTime()),
  };
}

function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new TrackingFault(
    `the ${name} parameter must be a whole number from ${String(least)} to ${String(most)}, not ${String(value)}`,
  );
}

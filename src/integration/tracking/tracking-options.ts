import type { OptionNames } from '../../internal/arguments.ts';

/** Where and how results are tracked. */
export interface TrackingOptions {
  /**
   * The address of an MLflow tracking server, http or https, with a path before the API where a proxy adds one.
   * @defaultValue the environment variable `MLFLOW_TRACKING_URI`
   */
  readonly trackingUri?: string | undefined;
  /**
   * The experiment that the run belongs to; made where it is missing.
   * @defaultValue the environment variable `MLFLOW_EXPERIMENT_NAME`, else 'evenhand'
   */
  readonly experiment?: string | undefined;
  /**
   * What the run is called.
   * @defaultValue a name that the server makes up
   */
  readonly runName?: string | undefined;
  /**
   * A run that is already there: it is added to and left open, and `experiment` and `runName` mean nothing.
   * @defaultValue a new run, which is ended
   */
  readonly runId?: string | undefined;
  /**
   * The step that metrics belong to: a whole number, an epoch or a day, say.
   * @defaultValue 0
   */
  readonly step?: number | undefined;
  /** Tags of the run, beside those that say what made it. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Parameters of the run. A server refuses to change one that a run already has. */
  readonly params?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * Stands before the name of each metric, as in 'holdout.'.
   * @defaultValue ''
   */
  readonly prefix?: string | undefined;
  /**
   * How long one call may take, in milliseconds.
   * @defaultValue 10000
   */
  readonly timeoutMillis?: number | undefined;
  /**
   * How long all calls with their repetitions may take, in milliseconds.
   * @defaultValue 30000
   */
  readonly totalTimeoutMillis?: number | undefined;
  /** Stops the tracking. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time, in milliseconds since 1970.
   * @defaultValue the system's clock
   */
  readonly now?: (() => number) | undefined;
}

/** Lists the options of {@link TrackingOptions}. */
export const TRACKING_OPTION_NAMES: OptionNames<TrackingOptions> = {
  trackingUri: true,
  experiment: true,
  runName: true,
  runId: true,
  step: true,
  tags: true,
  params: true,
  prefix: true,
  timeoutMillis: true,
  totalTimeoutMillis: true,
  signal: true,
  now: true,
};

/** Options of tracking that also keeps files. */
export interface ArtifactTrackingOptions extends TrackingOptions {
  /** Paths of files and folders to keep with the run, under their own names. */
  readonly artifacts?: readonly string[] | undefined;
}

/** Lists the options of {@link ArtifactTrackingOptions}. */
export const ARTIFACT_TRACKING_OPTION_NAMES: OptionNames<ArtifactTrackingOptions> = {
  ...TRACKING_OPTION_NAMES,
  artifacts: true,
};

import type { OptionNames } from '../../internal/arguments.ts';

/** Options of tracking on an MLflow server. */
export interface TrackingOptions {
  /**
   * The http or https address of an MLflow tracking server, including the path prefix of a proxy, if any.
   * @defaultValue the environment variable `MLFLOW_TRACKING_URI`
   */
  readonly trackingUri?: string | undefined;
  /**
   * The experiment of the run; created if it does not exist.
   * @defaultValue the environment variable `MLFLOW_EXPERIMENT_NAME`, else 'evenhand'
   */
  readonly experiment?: string | undefined;
  /**
   * The name of the run.
   * @defaultValue a name chosen by the server
   */
  readonly runName?: string | undefined;
  /**
   * The identifier of an existing run. Results are added to it, it is left open, and `experiment` and `runName` are
   * ignored.
   * @defaultValue a new run, which is ended
   */
  readonly runId?: string | undefined;
  /**
   * The step of the metrics: a whole number, for example an epoch or a day.
   * @defaultValue 0
   */
  readonly step?: number | undefined;
  /** Tags of the run, in addition to those that name its source. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Parameters of the run. The server rejects a changed value of an existing parameter. */
  readonly params?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * The prefix of the name of each metric, such as 'holdout.'.
   * @defaultValue ''
   */
  readonly prefix?: string | undefined;
  /**
   * The time limit of one call, in milliseconds.
   * @defaultValue 10000
   */
  readonly timeoutMillis?: number | undefined;
  /**
   * The time limit of all calls including retries, in milliseconds.
   * @defaultValue 30000
   */
  readonly totalTimeoutMillis?: number | undefined;
  /** Stops the tracking. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the time, in milliseconds since 1970.
   * @defaultValue the system clock
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

/** Options of tracking with files. */
export interface ArtifactTrackingOptions extends TrackingOptions {
  /** Paths of files and folders to upload to the run, under their own names. */
  readonly artifacts?: readonly string[] | undefined;
}

/** Lists the options of {@link ArtifactTrackingOptions}. */
export const ARTIFACT_TRACKING_OPTION_NAMES: OptionNames<ArtifactTrackingOptions> = {
  ...TRACKING_OPTION_NAMES,
  artifacts: true,
};

import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import type { FilledOptions, OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { MAX_TIMER_MILLIS, withTimeLimit } from '../../internal/retry.ts';
import { VERSION } from '../../internal/version.ts';
import type { TrackingOutcome } from '../workflow-result.ts';
import {
  artifactFolder,
  createRun,
  endRun,
  findOrMakeExperiment,
  findRun,
  logBatch,
  putArtifact,
  type Run,
  toBatches,
} from './mlflow-runs.ts';
import { RunEntries } from './run-entries.ts';
import {
  callerOf,
  type CallServer,
  findTrackingServer,
  seconds,
  TrackingFailure,
  type TrackingServer,
} from './tracking-server.ts';

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
   * The identifier of an existing run. Results are added to this run, and the run is not ended. `experiment` and
   * `runName` are ignored.
   * @defaultValue none: a new run is created and ended
   */
  readonly runId?: string | undefined;
  /**
   * The step of the metrics: a whole number, for example an epoch or a day.
   * @defaultValue 0
   */
  readonly step?: number | undefined;
  /** Tags of the run, in addition to the tags that the package sets itself. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Parameters of the run. The server rejects a new value for an existing parameter. */
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

/** The options of tracking, with defaults filled in. */
type TrackingSettings = FilledOptions<
  Omit<ArtifactTrackingOptions, 'trackingUri' | 'tags' | 'params' | 'prefix'>,
  'runName' | 'runId' | 'signal'
> & { readonly server: TrackingServer };

/**
 * Fills in missing options from the environment or the documented defaults.
 * @throws {TrackingFailure} if no server is configured, or an option is out of range
 */
function toTrackingSettings(options: ArtifactTrackingOptions): TrackingSettings {
  const fromEnvironment = process.env['MLFLOW_EXPERIMENT_NAME'];
  return {
    server: findTrackingServer(options.trackingUri, process.env),
    experiment:
      options.experiment ?? (fromEnvironment === undefined || fromEnvironment === '' ? 'evenhand' : fromEnvironment),
    runName: options.runName,
    runId: options.runId,
    step: integer('step', options.step ?? 0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    artifacts: options.artifacts ?? [],
    timeoutMillis: integer('timeoutMillis', options.timeoutMillis ?? 10_000, 1, MAX_TIMER_MILLIS),
    totalTimeoutMillis: integer('totalTimeoutMillis', options.totalTimeoutMillis ?? 30_000, 1, MAX_TIMER_MILLIS),
    signal: options.signal,
    now: options.now ?? machineClock,
  };
}

function integer(name: string, value: number, min: number, most: number): number {
  if (Number.isInteger(value) && value >= min && value <= most) return value;
  throw new TrackingFailure(
    `the ${name} parameter must be a whole number from ${String(min)} to ${String(most)}, not ${String(value)}`,
  );
}

/** The additional time in milliseconds, after the total time limit, for marking a run as failed. */
const ENDING_MILLIS = 2000;

/**
 * Creates a run on the server, or adds to an existing one. This function does not throw. Failures are described in the
 * returned outcome and in the log.
 * @param fill adds the content of the run
 */
export async function trackRun(
  fill: (entries: RunEntries) => void,
  options: ArtifactTrackingOptions,
): Promise<TrackingOutcome> {
  let secrets: readonly string[] = [];
  try {
    const settings = toTrackingSettings(options);
    ({ secrets } = settings.server);
    const run = await track(contentOf(fill, options), settings);
    const url = `${settings.server.address}/#/experiments/${run.experimentId}/runs/${run.runId}`;
    return Object.freeze({ logged: true, reason: null, runId: run.runId, url });
  } catch (cause) {
    const reason = redact(cause instanceof Error ? cause.message : String(cause), secrets);
    getLogger().warn(`MLflow tracking failed: ${reason}`);
    return Object.freeze({ logged: false, reason, runId: null, url: null });
  }
}

function contentOf(fill: (entries: RunEntries) => void, { params, tags }: ArtifactTrackingOptions): RunEntries {
  const entries = new RunEntries();
  fill(entries);
  entries.tag('evenhand.version', VERSION);
  entries.tag('mlflow.source.name', 'evenhand');
  for (const [name, value] of Object.entries(params ?? {})) entries.param(name, value);
  for (const [name, value] of Object.entries(tags ?? {})) entries.tag(name, value);
  return entries;
}

async function track(entries: RunEntries, settings: TrackingSettings): Promise<Run> {
  const { server, timeoutMillis, totalTimeoutMillis } = settings;
  const files = await listArtifacts(settings.artifacts);
  const exceeded = (): Error =>
    new TrackingFailure(`the calls took longer than ${seconds(totalTimeoutMillis)} in total`);
  return withTimeLimit(totalTimeoutMillis, exceeded, settings.signal, async (signal) => {
    const call = callerOf(server, { timeoutMillis, signal });
    const run = await openRun(call, settings);
    try {
      await fillRun(call, run, entries, settings);
      await keepFiles(callerOf(server, { timeoutMillis: totalTimeoutMillis, signal }), run, files, signal);
      if (settings.runId === undefined) await endRun(call, run.runId, 'FINISHED', settings.now());
      return run;
    } catch (cause) {
      if (settings.runId === undefined) await endBadly(run, settings);
      throw cause;
    }
  });
}

async function openRun(call: CallServer, { runId, experiment, runName, now }: TrackingSettings): Promise<Run> {
  if (runId !== undefined) return findRun(call, runId);
  const experimentId = await findOrMakeExperiment(call, experiment);
  return createRun(call, experimentId, runName, now());
}

async function fillRun(
  call: CallServer,
  { runId }: Run,
  entries: RunEntries,
  { now, step }: TrackingSettings,
): Promise<void> {
  const moment = { timestamp: now(), step };
  for (const batch of toBatches(entries.content())) await logBatch(call, runId, batch, moment);
}

async function keepFiles(
  call: CallServer,
  { artifactUri }: Run,
  files: readonly ArtifactFile[],
  signal: AbortSignal,
): Promise<void> {
  if (files.length === 0) return;
  const folder = artifactFolder(artifactUri);
  if (folder === undefined) {
    getLogger().warn('no files were sent: MLflow stores the files of this run outside the server');
    return;
  }
  for (const file of files) await putArtifact(call, folder, file.name, await readFile(file.path, { signal }));
}

/** Marks a run as failed, or as killed if it was stopped. Errors are ignored, since the first failure is reported. */
async function endBadly({ runId }: Run, { server, signal, now }: TrackingSettings): Promise<void> {
  const status = signal?.aborted === true ? 'KILLED' : 'FAILED';
  const exceeded = (): Error => new TrackingFailure('the run could not be ended');
  await withTimeLimit(ENDING_MILLIS, exceeded, undefined, (limit) =>
    endRun(callerOf(server, { timeoutMillis: ENDING_MILLIS, signal: limit }), runId, status, now()),
  ).catch(() => undefined);
}

/** Removes secrets from a text, since the response of a server may quote the request. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** A file to upload to a run. */
interface ArtifactFile {
  readonly path: string;
  /** The name of the file in the run, with `/` between folders and `_` for characters that MLflow rejects. */
  readonly name: string;
}

/**
 * Lists the files of the given paths. For a folder, all its files are listed under the name of the folder.
 * @throws {TrackingFailure} if a path does not exist, or two files have the same name
 */
async function listArtifacts(paths: readonly string[]): Promise<ArtifactFile[]> {
  const files: ArtifactFile[] = [];
  for (const given of paths) files.push(...(await filesUnder(path.resolve(given))));
  const names = new Set<string>();
  const twice = files.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) throw new TrackingFailure(`two of the artifacts have the name '${twice.name}'`);
  return files;
}

async function filesUnder(location: string): Promise<ArtifactFile[]> {
  const name = toArtifactName(path.basename(location));
  const found = await stat(location).catch((cause: unknown) => {
    throw new TrackingFailure(`the artifact '${location}' cannot be read`, { cause });
  });
  if (!found.isDirectory()) return [{ path: location, name }];
  const entries = await readdir(location, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return {
        path: file,
        name: [name, ...path.relative(location, file).split(path.sep).map(toArtifactName)].join('/'),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns a name that MLflow accepts: characters with a meaning in a URL or a path become `_`. */
function toArtifactName(name: string): string {
  return name.replaceAll(/[#%?;:*"<>|\\\p{Cc}]/gu, '_');
}

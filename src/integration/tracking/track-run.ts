import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { getLogger } from '../../internal/logger.ts';
import { withTimeLimit } from '../../internal/retry.ts';
import { VERSION } from '../../internal/version.ts';
import type { TrackingOutcome } from '../workflow-result.ts';
import { callerOf, type CallServer, seconds } from './call-server.ts';
import {
  artifactFolder,
  createRun,
  endRun,
  findOrMakeExperiment,
  findRun,
  logBatch,
  putArtifact,
  type Run,
  type RunStatus,
  toBatches,
} from './mlflow-runs.ts';
import { RunEntries } from './run-entries.ts';
import type { ArtifactTrackingOptions } from './tracking-options.ts';
import {
  findTrackingServer,
  type TrackingEnvironment,
  TrackingFailure,
  type TrackingServer,
} from './tracking-server.ts';

/** The options of tracking, with defaults filled in. */
interface TrackingSettings {
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

/** The longest delay of a timer. */
const MAX_MILLIS = 2 ** 31 - 1;

/**
 * Fills in missing options from the environment or the documented defaults.
 * @throws {TrackingFailure} if no server is configured, or an option is out of range
 */
function toTrackingSettings(options: ArtifactTrackingOptions, environment: TrackingEnvironment): TrackingSettings {
  const fromEnvironment = environment['MLFLOW_EXPERIMENT_NAME'];
  const server = findTrackingServer(options.trackingUri, environment);
  return {
    server,
    experiment:
      options.experiment ?? (fromEnvironment === undefined || fromEnvironment === '' ? 'evenhand' : fromEnvironment),
    runName: options.runName,
    runId: options.runId,
    step: integer('step', options.step ?? 0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    artifacts: options.artifacts ?? [],
    timeoutMillis: integer('timeoutMillis', options.timeoutMillis ?? 10_000, 1, MAX_MILLIS),
    totalTimeoutMillis: integer('totalTimeoutMillis', options.totalTimeoutMillis ?? 30_000, 1, MAX_MILLIS),
    signal: options.signal,
    now: options.now ?? ((): number => new Date().getTime()),
  };
}

function integer(name: string, value: number, min: number, most: number): number {
  if (Number.isInteger(value) && value >= min && value <= most) return value;
  throw new TrackingFailure(
    `the ${name} parameter must be a whole number from ${String(min)} to ${String(most)}, not ${String(value)}`,
  );
}

/** The time to mark a run as failed, in addition to the total time limit. */
const ENDING_MILLIS = 2000;

/**
 * Creates a run on the server, or adds to an existing one. It does not throw: failures are in the outcome and in the
 * log.
 * @param fill adds the content of the run
 */
export async function trackRun(
  fill: (entries: RunEntries) => void,
  options: ArtifactTrackingOptions,
): Promise<TrackingOutcome> {
  let secrets: readonly string[] = [];
  try {
    const settings = toTrackingSettings(options, process.env);
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
  const exceeded = (): Error => new TrackingFailure(`it took longer than ${seconds(totalTimeoutMillis)} in total`);
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
  return createRun(call, { experimentId, runName, startTimeMillis: now() });
}

async function fillRun(
  call: CallServer,
  { runId }: Run,
  entries: RunEntries,
  { now, step }: TrackingSettings,
): Promise<void> {
  const moment = { timestampMillis: now(), step };
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

/** Marks a run as failed, or as killed if it was stopped. Errors are ignored: the first failure is reported. */
async function endBadly({ runId }: Run, { server, signal, now }: TrackingSettings): Promise<void> {
  const status: RunStatus = signal?.aborted === true ? 'KILLED' : 'FAILED';
  const exceeded = (): Error => new TrackingFailure('the run could not be ended');
  await withTimeLimit(ENDING_MILLIS, exceeded, undefined, (limit) =>
    endRun(callerOf(server, { timeoutMillis: ENDING_MILLIS, signal: limit }), runId, status, now()),
  ).catch(() => undefined);
}

/** Replaces secrets in a text, since a server may repeat the request in its response. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** A file to keep with a run. */
interface ArtifactFile {
  readonly path: string;
  /** Its name among the files of the run, with `/` between folders and `_` for characters that MLflow rejects. */
  readonly name: string;
}

/**
 * Lists the files of the given paths. A folder gives all files in it, under its own name.
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

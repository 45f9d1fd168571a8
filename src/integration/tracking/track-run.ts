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
import { findTrackingServer, type TrackingEnvironment, TrackingFault, type TrackingServer } from './tracking-server.ts';

/** The options of tracking with every default filled in. */
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

/** The longest time that a timer takes. */
const MAX_MILLIS = 2 ** 31 - 1;

/**
 * Fills in what options leave out, from the environment or as documented.
 * @throws {TrackingFault} where no server is named, or an option is out of range
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
    step: wholeNumber('step', options.step ?? 0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    artifacts: options.artifacts ?? [],
    timeoutMillis: wholeNumber('timeoutMillis', options.timeoutMillis ?? 10_000, 1, MAX_MILLIS),
    totalTimeoutMillis: wholeNumber('totalTimeoutMillis', options.totalTimeoutMillis ?? 30_000, 1, MAX_MILLIS),
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

/** How long a run that failed may take to be marked as such; beyond the limit of the whole. */
const ENDING_MILLIS = 2000;

/**
 * Puts a run on the server, or adds to one. Nothing is thrown: what went wrong
 * is in the outcome and in the log.
 * @param fill adds what the run is to hold
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
    getLogger().warn(`tracking on MLflow did not work: ${reason}`);
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
  const exceeded = (): Error => new TrackingFault(`it took longer than ${seconds(totalTimeoutMillis)} in all`);
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
    getLogger().warn('MLflow keeps the files of this run outside the server, so that none were sent');
    return;
  }
  for (const file of files) await putArtifact(call, folder, file.name, await readFile(file.path, { signal }));
}

/** Marks a run as failed, or as killed where it was stopped; where even that fails, the first fault is told. */
async function endBadly({ runId }: Run, { server, signal, now }: TrackingSettings): Promise<void> {
  const status: RunStatus = signal?.aborted === true ? 'KILLED' : 'FAILED';
  const exceeded = (): Error => new TrackingFault('the run could not be ended');
  await withTimeLimit(ENDING_MILLIS, exceeded, undefined, (limit) =>
    endRun(callerOf(server, { timeoutMillis: ENDING_MILLIS, signal: limit }), runId, status, now()),
  ).catch(() => undefined);
}

/** A server may repeat in its answer what it was sent. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** A file to keep with a run. */
interface ArtifactFile {
  readonly path: string;
  /** Its name among the run's files, with slashes between folders and `_` for characters that MLflow does not take. */
  readonly name: string;
}

/**
 * The files that paths name; a folder stands for all files in it, under its own name.
 * @throws {TrackingFault} for a path where nothing is, or two files of one name
 */
async function listArtifacts(paths: readonly string[]): Promise<ArtifactFile[]> {
  const files: ArtifactFile[] = [];
  for (const given of paths) files.push(...(await filesUnder(path.resolve(given))));
  const names = new Set<string>();
  const twice = files.find(({ name }) => names.size === names.add(name).size);
  if (twice !== undefined) throw new TrackingFault(`two of the files to keep are called '${twice.name}'`);
  return files;
}

async function filesUnder(place: string): Promise<ArtifactFile[]> {
  const name = toArtifactName(path.basename(place));
  const found = await stat(place).catch((cause: unknown) => {
    throw new TrackingFault(`the file '${place}' that should be kept cannot be read`, { cause });
  });
  if (!found.isDirectory()) return [{ path: place, name }];
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { path: file, name: [name, ...path.relative(place, file).split(path.sep).map(toArtifactName)].join('/') };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A name that MLflow takes: what means something in an address or a path becomes `_`. */
function toArtifactName(name: string): string {
  return name.replaceAll(/[#%?;:*"<>|\\\p{Cc}]/gu, '_');
}

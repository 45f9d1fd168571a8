import { readFile } from 'node:fs/promises';

import { getLogger } from '../../internal/logger.ts';
import { VERSION } from '../../internal/version.ts';
import type { TrackingOutcome } from '../workflow/workflow-result.ts';
import { type ArtifactFile, listArtifacts } from './artifact-files.ts';
import { type CallServer, callerOf, seconds } from './call-server.ts';
import { toBatches } from './entry-batches.ts';
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
} from './mlflow-runs.ts';
import { RunEntries } from './run-entries.ts';
import { within } from './time-limit.ts';
import { TrackingFault } from './tracking-fault.ts';
import type { ArtifactTrackingOptions } from './tracking-options.ts';
import { type TrackingSettings, toTrackingSettings } from './tracking-settings.ts';

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
  return within(totalTimeoutMillis, exceeded, settings.signal, async (signal) => {
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
  await within(ENDING_MILLIS, exceeded, undefined, (limit) =>
    endRun(callerOf(server, { timeoutMillis: ENDING_MILLIS, signal: limit }), runId, status, now()),
  ).catch(() => undefined);
}

/** A server may repeat in its answer what it was sent. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

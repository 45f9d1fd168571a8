import type { MetricEntry, RunContent, TextEntry } from './run-entries.ts';
import { type CallServer, requiredTextAt, textAt, TrackingFailure } from './tracking-server.ts';

/** The limits of MLflow for one call. */
const MAX_OF_KIND = { metrics: 1000, params: 100, tags: 100 } as const;
const MAX_ENTRIES = 1000;
/**
 * The maximum size of the entries of one call, in bytes. The limit of MLflow is 1,000,000 bytes, which includes the
 * JSON around the entries.
 */
const MAX_BYTES = 900_000;
/** The number of bytes that an entry needs for its punctuation, and for the time and step of a metric. */
const EXTRA_BYTES = 80;

interface OpenBatch {
  readonly metrics: MetricEntry[];
  readonly params: TextEntry[];
  readonly tags: TextEntry[];
  bytes: number;
}

/** Splits the content of a run into calls within the limits of MLflow: parameters first, then tags, then metrics. */
export function toBatches(content: RunContent): RunContent[] {
  const batches: OpenBatch[] = [];
  for (const kind of ['params', 'tags', 'metrics'] as const) {
    for (const entry of content[kind]) {
      const bytes = Buffer.byteLength(JSON.stringify(entry)) + EXTRA_BYTES;
      let last = batches.at(-1);
      if (last === undefined || !hasRoom(last, kind, bytes)) {
        last = { metrics: [], params: [], tags: [], bytes: 0 };
        batches.push(last);
      }
      (last[kind] as (MetricEntry | TextEntry)[]).push(entry);
      last.bytes += bytes;
    }
  }
  return batches.map(({ metrics, params, tags }) => ({ metrics, params, tags }));
}

function hasRoom(batch: OpenBatch, kind: keyof typeof MAX_OF_KIND, bytes: number): boolean {
  const entries = batch.metrics.length + batch.params.length + batch.tags.length;
  return batch[kind].length < MAX_OF_KIND[kind] && entries < MAX_ENTRIES && batch.bytes + bytes <= MAX_BYTES;
}

/** A run on the server. */
export interface Run {
  readonly runId: string;
  readonly experimentId: string;
  /** The location of the run's files, in the form in which the server reports it. */
  readonly artifactUri: string;
}

/** The final status of a run. */
type RunStatus = 'FINISHED' | 'FAILED' | 'KILLED';

const API = '/api/2.0/mlflow';

/**
 * Returns the identifier of an experiment, and creates the experiment if it does not exist.
 * @throws {TrackingFailure} if the experiment is deleted; only the user may restore it
 */
export async function findOrMakeExperiment(call: CallServer, name: string): Promise<string> {
  const found = await findExperiment(call, name);
  if (found !== undefined) return found;
  try {
    const made = await call({ method: 'POST', path: `${API}/experiments/create`, body: { name } });
    return requiredTextAt(made, 'experiment_id');
  } catch (cause) {
    // Another process has created the experiment, or an earlier call whose response was lost.
    const meanwhile = hasCode(cause, 'RESOURCE_ALREADY_EXISTS') ? await findExperiment(call, name) : undefined;
    if (meanwhile !== undefined) return meanwhile;
    throw cause;
  }
}

async function findExperiment(call: CallServer, name: string): Promise<string | undefined> {
  const path = `${API}/experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`;
  const found = await call({ method: 'GET', path }).catch((cause: unknown) => {
    if (hasCode(cause, 'RESOURCE_DOES_NOT_EXIST')) return undefined;
    throw cause;
  });
  if (found === undefined) return undefined;
  if (textAt(found, 'experiment', 'lifecycle_stage') === 'deleted') {
    throw new TrackingFailure(
      `the experiment '${name}' is deleted: restore it on the server, or name another experiment`,
    );
  }
  return requiredTextAt(found, 'experiment', 'experiment_id');
}

/** Creates a run. */
export async function createRun(
  call: CallServer,
  experimentId: string,
  runName: string | undefined,
  startTimeMillis: number,
): Promise<Run> {
  const body = {
    experiment_id: experimentId,
    start_time: startTimeMillis,
    ...(runName === undefined ? {} : { run_name: runName }),
  };
  // A repeated call could create a second run.
  return runOf(await call({ method: 'POST', path: `${API}/runs/create`, body, isRepeatable: false }));
}

/**
 * Returns an existing run.
 * @throws {TrackingFailure} if the run does not exist or is deleted
 */
export async function findRun(call: CallServer, runId: string): Promise<Run> {
  const answer = await call({ method: 'GET', path: `${API}/runs/get?run_id=${encodeURIComponent(runId)}` });
  if (textAt(answer, 'run', 'info', 'lifecycle_stage') === 'deleted') {
    throw new TrackingFailure(`the run '${runId}' is deleted: restore it on the server, or name another run`);
  }
  return runOf(answer);
}

function runOf(answer: unknown): Run {
  return {
    runId: requiredTextAt(answer, 'run', 'info', 'run_id'),
    experimentId: requiredTextAt(answer, 'run', 'info', 'experiment_id'),
    artifactUri: textAt(answer, 'run', 'info', 'artifact_uri') ?? '',
  };
}

/** Adds entries to a run. Repeating the call changes nothing. */
export async function logBatch(
  call: CallServer,
  runId: string,
  { metrics, params, tags }: RunContent,
  moment: { readonly timestamp: number; readonly step: number },
): Promise<void> {
  const stamped = metrics.map((metric) => ({ ...metric, ...moment }));
  const body = { run_id: runId, metrics: stamped, params, tags };
  await call({ method: 'POST', path: `${API}/runs/log-batch`, body });
}

/** Ends a run. */
export async function endRun(call: CallServer, runId: string, status: RunStatus, endTimeMillis: number): Promise<void> {
  await call({
    method: 'POST',
    path: `${API}/runs/update`,
    body: { run_id: runId, status, end_time: endTimeMillis },
  });
}

/**
 * Returns the API path for the files of a run; undefined if the files are in a store that cannot be accessed through
 * the server.
 */
export function artifactFolder(artifactUri: string): string | undefined {
  const [, folder] = /^mlflow-artifacts:\/([^/].*?)\/*$/.exec(artifactUri) ?? [];
  return folder === undefined ? undefined : `/api/2.0/mlflow-artifacts/artifacts/${encodePath(folder)}`;
}

/** Uploads a file to a run. */
export async function putArtifact(call: CallServer, folder: string, name: string, bytes: Uint8Array): Promise<void> {
  await call({ method: 'PUT', path: `${folder}/${encodePath(name)}`, body: bytes });
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof TrackingFailure && cause.errorCode === code;
}

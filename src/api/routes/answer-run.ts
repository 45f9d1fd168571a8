import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';

import { suggestNames } from '../../internal/arguments.ts';
import type { Service, ServiceContext } from '../context/service-context.ts';
import { problemOfToolkitError } from '../jobs/problem-of-toolkit-error.ts';
import { fieldProblem, ServiceProblem } from '../problem/service-problem.ts';
import { checkWebhookUrl, WEBHOOK_PARAMETER } from '../webhooks/webhooks.ts';
import { type IdempotencyClaim, isFinal, type RunRecord, type RunRequest } from '../runs/runs.ts';

/** The suggestion for a request that sends options in the query instead of the body. */
const IN_BODY = 'With JSON, put options in the body; with a form, send them as parts.';

/**
 * Returns the parameters of the query. Unknown parameters are rejected. Without this check, a gate with a misspelled or
 * misplaced parameter would be ignored silently.
 * @param known the parameters of the operation
 * @throws {ServiceProblem} 422 if a parameter is unknown or repeated
 */
export function readQuery<Name extends string>(
  { query }: Pick<ServiceContext, 'query'>,
  known: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const names = Object.keys(query);
  const wrong = names.find((name) => !(known as readonly string[]).includes(name) || Array.isArray(query[name]));
  if (wrong === undefined) return query as Readonly<Partial<Record<Name, string>>>;
  const isKnown = (known as readonly string[]).includes(wrong);
  const name = wrong.slice(0, 64);
  const detail = isKnown
    ? `The query contains '${name}' more than once.`
    : `The query parameter '${name}' is not supported here.`;
  const unknown = known.length === 0 ? IN_BODY : suggestNames(name, known, 'parameters');
  throw fieldProblem(422, name, detail, isKnown ? 'Send it once.' : unknown);
}

/** The format of an Idempotency-Key. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads the Idempotency-Key header before the body, so that an invalid key is rejected early.
 * @returns a function that takes the hexadecimal digest of the body and returns the idempotency claim, or null without
 * the header
 * @throws {ServiceProblem} 400 if the header is not a valid key
 */
export function readIdempotencyKey(context: ServiceContext): {
  readonly isGiven: boolean;
  readonly claim: (digest: string) => IdempotencyClaim | null;
} {
  const name = context.get('idempotency-key');
  if (name === '') return { isGiven: false, claim: () => null };
  if (!KEY.test(name)) {
    throw new ServiceProblem(400, {
      detail: 'The Idempotency-Key header must be 1 to 255 printable characters without spaces.',
      errors: [{ pointer: 'Idempotency-Key', detail: 'is not a valid key' }],
      suggestion: 'Use a new UUID for each new request.',
    });
  }
  const { path, state } = context;
  const query = [...new URLSearchParams(context.querystring)].sort();
  const mediaType = context.get('content-type').split(';')[0];
  return {
    isGiven: true,
    claim: (digest) => ({
      key: `${state.client}:${name}`,
      fingerprint: createHash('sha256')
        .update(JSON.stringify([path, query, mediaType, digest]))
        .digest('hex'),
    }),
  };
}

/** The time in seconds after which a client may ask for the result again. */
const POLL_SECONDS = '1';

/** The abort reason for a client that has disconnected or that does not want to wait longer. */
const ENDED_WAITING = new Error('the client no longer waits');

/**
 * Submits a job and responds with its result, or immediately with 202 if the client prefers an asynchronous response.
 * If a client disconnects, its run is cancelled, unless the client sent an Idempotency-Key with which it can request
 * the result again.
 */
export async function answerRun(context: ServiceContext, service: Service, request: RunRequest): Promise<void> {
  const { runs } = service;
  const { isAsync, waitSeconds } = readPreference(context.get('prefer'));
  const webhook = context.query[WEBHOOK_PARAMETER];
  if (typeof webhook === 'string')
    await orRemove(request, () => {
      checkWebhookUrl(service.webhooks, webhook);
    });
  if (isAsync) await assertValid(service, request);
  // The receiver of a webhook reads the result too.
  const isWaitedFor = !isAsync && request.idempotency === null && webhook === undefined;
  const { runId, isReplay } = await runs.submit({ ...request, isWaitedFor, tenant: context.state.tenant });
  if (isReplay) context.set('Idempotency-Replayed', 'true');
  else if (typeof webhook === 'string') await addWebhook(service, runId, webhook);
  if (isAsync && waitSeconds === null) {
    await answerAccepted(context, service, runId);
    return;
  }
  const { res } = context;
  const controller = new AbortController();
  const stopWaiting = (): void => {
    controller.abort(ENDED_WAITING);
  };
  res.once('close', stopWaiting);
  if (res.destroyed) stopWaiting();
  const timer = waitSeconds === null ? undefined : setTimeout(stopWaiting, waitSeconds * 1000);
  try {
    answerEnded(context, await runs.wait(runId, controller.signal));
  } catch (error) {
    if (error !== ENDED_WAITING) throw error;
    if (!res.destroyed) await answerAccepted(context, service, runId);
    else if (request.idempotency === null) await runs.remove(runId);
  } finally {
    clearTimeout(timer);
    res.off('close', stopWaiting);
  }
}

/**
 * Checks the configuration of a run before it is accepted, so that the client does not have to fetch a result to learn
 * that it cannot be run.
 * @throws {ServiceProblem} 400, 413 or 422; the upload is then removed
 */
async function assertValid({ runs }: Service, { job, inputFolder }: RunRequest): Promise<void> {
  try {
    const { checkJob, isCheckedInline } = await import('../jobs/check-job.ts');
    if (isCheckedInline(job)) await checkJob(job);
    else await runs.work({ kind: 'check', job });
  } catch (error) {
    const { concealPaths } = await import('../jobs/run-job.ts');
    if (inputFolder !== null) await rm(inputFolder, { recursive: true, force: true });
    if (error instanceof ServiceProblem) throw error;
    const problem = problemOfToolkitError(error, job)?.toJSON();
    if (problem === undefined) throw error;
    throw ServiceProblem.fromJSON(concealPaths(problem, job, inputFolder ?? ''));
  }
}

/** Has the end of a run reported; if that is not possible, the run is cancelled. */
async function addWebhook({ runs, webhookSender }: Service, runId: string, url: string): Promise<void> {
  try {
    await webhookSender.add({ runId, url });
  } catch (error) {
    await runs.remove(runId);
    throw error;
  }
}

/** Runs a check; if it fails, the upload of the request is removed. */
async function orRemove({ inputFolder }: RunRequest, check: () => void): Promise<void> {
  try {
    check();
  } catch (error) {
    if (inputFolder !== null) await rm(inputFolder, { recursive: true, force: true });
    throw error;
  }
}

/** Answers 202 with the path of the future result. */
async function answerAccepted(context: ServiceContext, { runs, basePath }: Service, runId: string): Promise<void> {
  const record = await runs.get(runId);
  if (record !== undefined && isFinal(record.status)) {
    answerEnded(context, record);
    return;
  }
  const location = `${basePath}/results/${runId}`;
  context.status = 202;
  context.set({ Location: location, 'Preference-Applied': 'respond-async', 'Retry-After': POLL_SECONDS });
  context.body = {
    run_id: runId,
    endpoint: record?.endpoint,
    status: record?.status ?? 'queued',
    created_at: record?.createdAt,
    result: location,
    events: `${location}/events`,
  };
}

function answerEnded(context: ServiceContext, { body, problem, runId, status }: RunRecord): void {
  if (body !== null) {
    answerText(context, body);
    return;
  }
  if (problem !== null && status === 'failed') throw ServiceProblem.fromJSON(problem);
  throw new ServiceProblem(409, {
    detail: problem?.detail ?? 'The run was cancelled before it ended.',
    suggestion: problem?.suggestion ?? 'Send the request again.',
    runId,
  });
}

/** Answers with JSON text. */
export function answerText(context: ServiceContext, text: string): void {
  context.status = 200;
  context.type = 'application/json; charset=utf-8';
  context.body = text;
}

/** The content of a request's Prefer header (RFC 7240). */
interface Preference {
  readonly isAsync: boolean;
  /** The time in seconds to wait for the result before responding with 202; null if not given. */
  readonly waitSeconds: number | null;
}

/** Reads `Prefer: respond-async, wait=10`. Unknown preferences are ignored, as the standard requires. */
export function readPreference(header: string): Preference {
  const parts = header.split(',').map((part) => part.trim().toLowerCase());
  const wait = parts
    .map((part) => /^wait\s*=\s*"?(\d{1,5})"?/.exec(part)?.[1])
    .find((seconds) => seconds !== undefined);
  return {
    isAsync: parts.some((part) => /^respond-async(?:\s*;|$)/.test(part)),
    waitSeconds: wait === undefined ? null : Number(wait),
  };
}

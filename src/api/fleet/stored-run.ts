import { createHash } from 'node:crypto';

import { z } from 'zod';

import { ERROR_CODES } from '../../exceptions/index.ts';
import { problemSchema } from '../models/run.ts';
import { damagedRun, type ProblemJson } from '../problem/service-problem.ts';
import {
  isFinal,
  ownedBy,
  RUN_ENDPOINTS,
  RUN_STATUSES,
  type RunEvent,
  type RunRecord,
  type RunSummary,
} from '../runs/runs.ts';
import { type StoredFile, storedFilesSchema, type StoredJob, storedJobSchema } from './service-task.ts';

/** A run as it is stored in Redis. */
export interface StoredRun {
  readonly record: RunRecord;
  /** The files of the run; `record.files` are their names. */
  readonly files: readonly StoredFile[];
  /**
   * Why the run is not listed any more. Its end can still be followed, and unless it was removed, be waited for. Null for
   * a listed run.
   */
  readonly hidden: 'dropped' | 'forgotten' | 'removed' | null;
  /** See `RunRequest`. */
  readonly isWaitedFor: boolean;
  readonly download: string | undefined;
  /** The job of a run that has not ended. */
  readonly job: StoredJob | null;
  /** The ID of the last event so far. */
  readonly eventId: number;
}

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('is not JSON');
    return z.NEVER;
  }
});

const moment = z.iso.datetime();
const eventId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
  .pipe(z.number().int().min(1));
const flag = z
  .literal('1')
  .optional()
  .transform((value) => value === '1');

/** A problem, whose code is one of this version. */
export const storedProblemSchema = problemSchema
  .refine(({ code }) => Object.hasOwn(ERROR_CODES, code))
  .transform((problem) => problem as ProblemJson);

const runStateSchema = z.object({ status: z.enum(RUN_STATUSES), event: eventId });

const summarySchema = runStateSchema.pick({ status: true }).extend({
  endpoint: z.enum(RUN_ENDPOINTS),
  created: moment,
  finished: moment.optional(),
  tenant: z.string().optional(),
});

const storedRunSchema = summarySchema
  .extend({
    event: eventId,
    body: z.string().optional(),
    digest: z.string().optional(),
    problem: json.pipe(storedProblemSchema).optional(),
    files: json.pipe(storedFilesSchema).default([]),
    hidden: z.enum(['dropped', 'forgotten', 'removed']).optional(),
    waited: flag,
    download: z.string().optional(),
    job: json.pipe(storedJobSchema).optional(),
  })
  // A removed run has no content.
  .refine((run) => run.hidden === 'removed' || (run.body === undefined) === (run.status !== 'succeeded'))
  .refine((run) => run.body === undefined || digestOfBody(run.body) === run.digest);

function digestOfBody(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Returns the names and values of a run's fields in Redis, one after the other. */
export function fieldsOfRecord(record: RunRecord, files: readonly StoredFile[]): string[] {
  const { endpoint, status, createdAt, finishedAt, body, problem, tenant } = record;
  return pairs({
    endpoint,
    status,
    created: createdAt,
    finished: finishedAt ?? undefined,
    tenant,
    body: body ?? undefined,
    digest: body === null ? undefined : digestOfBody(body),
    problem: problem === null ? undefined : JSON.stringify(problem),
    files: files.length === 0 ? undefined : JSON.stringify(files),
  });
}

/** Returns names and values one after the other, without undefined values. */
export function pairs(fields: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

/**
 * Returns a run from the names and values of its fields.
 * @throws {ServiceProblem} 500 if they are not those of a run; the cause does not contain the values
 */
export function parseStoredRun(runId: string, fields: readonly string[]): StoredRun {
  const entries = Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i], fields[2 * i + 1]]);
  const parsed = storedRunSchema.safeParse(Object.fromEntries(entries));
  if (!parsed.success) {
    const wrong = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw damagedRun(runId, new Error(`The fields of a run in Redis are not valid: ${wrong}`));
  }
  const { endpoint, status, created, finished, body, problem, files, event, tenant, ...others } = parsed.data;
  const record = Object.freeze({
    runId,
    endpoint,
    status,
    createdAt: created,
    finishedAt: finished ?? null,
    body: body ?? null,
    problem: problem ?? null,
    lastEventId: isFinal(status) ? event : 0,
    files: Object.freeze(files.map(({ name }) => name)),
    ...ownedBy(tenant),
  });
  return {
    record,
    files,
    hidden: others.hidden ?? null,
    isWaitedFor: others.waited,
    download: others.download,
    job: others.job ?? null,
    eventId: event,
  };
}

/** A run in a list, and the time at which Redis recorded it. */
type ListedRun = readonly [summary: RunSummary, since: number];

/** Returns a run in a list; undefined if its fields are not valid. */
export function parseListedRun(listed: readonly (string | null)[]): ListedRun | undefined {
  const [runId = '', endpoint, status, created, finished, since, tenant] = listed;
  const absent = { finished: finished ?? undefined, tenant: tenant ?? undefined };
  const parsed = summarySchema.safeParse({ endpoint, status, created, ...absent });
  if (!parsed.success) return undefined;
  const { data } = parsed;
  const summary = {
    runId: runId ?? '',
    endpoint: data.endpoint,
    status: data.status,
    createdAt: data.created,
    finishedAt: data.finished ?? null,
    ...ownedBy(data.tenant),
  };
  return [summary, Number(since)];
}

const reportSchema = z.tuple([z.string(), z.number(), z.number()]);

/** The state of a run, and its events after one of them. */
export interface RunNews {
  /** The ID of the last event. */
  readonly lastId: number;
  /** The events, in order. */
  readonly events: readonly RunEvent[];
  /** The last event of a run that has ended. */
  readonly end: RunEvent | null;
}

/** The answer of the script EVENTS. */
export type RawEvents = readonly [status: string, event: string, started: string, reports: readonly string[]] | [];

/**
 * Returns the events of a run after one of them; undefined for an unknown run. Reports that are not valid are left out.
 */
export function parseEvents([status, event, started, reports = []]: RawEvents, after: number): RunNews | undefined {
  const parsed = runStateSchema.safeParse({ status, event });
  if (!parsed.success) return undefined;
  const { status: state, event: lastId } = parsed.data;
  const statuses: RunEvent[] = [{ id: 1, type: 'status', status: 'queued' }];
  if (started !== '' && started !== undefined)
    statuses.push({ id: Number(started), type: 'status', status: 'running' });
  const end: RunEvent | null = isFinal(state) ? { id: lastId, type: 'status', status: state } : null;
  // The only event of an immediate answer is its end.
  if (lastId === 1 && end !== null) statuses.pop();
  if (end !== null) statuses.push(end);
  const events = [...statuses, ...reports.flatMap(parseReport)].filter(({ id }) => id > after && id <= lastId);
  return { lastId, events: events.sort((a, b) => a.id - b.id), end };
}

function parseReport(text: string): RunEvent[] {
  const [, id, report = ''] = /^(\d{1,15}) (.*)$/s.exec(text) ?? [];
  const parsed = json.pipe(reportSchema).safeParse(report);
  if (!parsed.success) return [];
  const [stage, done, total] = parsed.data;
  return [{ id: Number(id), type: 'progress', stage, done, total }];
}

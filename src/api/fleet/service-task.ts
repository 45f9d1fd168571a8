import { z } from 'zod';

import { isSafeId } from '../store/result-store.ts';
import type { Job } from '../jobs/job.ts';
import type { RunEndpoint } from '../runs/runs.ts';

/** The kind of the tasks of runs. */
export const SERVICE_JOB = 'service-job';

/**
 * The kind of the tasks of runs that evaluate language models. They mostly wait for the network, and should not block
 * other work.
 */
export const SERVICE_LLM_JOB = 'service-llm-job';

/** Returns the kind of the task of a run. */
export function taskKindOf(endpoint: RunEndpoint): string {
  return endpoint === '/llm-eval' ? SERVICE_LLM_JOB : SERVICE_JOB;
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** No file of a run is larger than 8 GiB. */
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 33);

/** A file of a run, stored in Redis under its SHA-256. Its name cannot refer to another folder. */
const storedFileSchema = z.strictObject({ name: z.string().refine(isSafeId), digest, bytes });

/** A stored file. */
export type StoredFile = z.output<typeof storedFileSchema>;

export const storedFilesSchema = z.array(storedFileSchema).max(8);

const texts = z.record(z.string(), z.string());

/** A job without its local paths. */
const sentJobSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('validate-rows'), maxItems: z.number().int().min(1) }),
  z.strictObject({
    kind: z.literal('validate-table'),
    format: z.enum(['csv', 'ndjson', 'parquet']),
    options: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    source: z.enum(['query', 'form']).default('query'),
  }),
  z.strictObject({ kind: z.enum(['pipeline', 'workflow']), config: z.string(), fields: texts }),
  z.strictObject({ kind: z.literal('llm-eval'), body: z.string() }),
  z.strictObject({
    kind: z.enum(['predict', 'calibrate', 'ab-test', 'train']),
    fields: z.record(z.string(), z.union([z.string(), z.array(z.string())])).nullable(),
    maxItems: z.number().int().min(1),
  }),
]);

/** What a worker needs to execute the job of a run. It is stored with the run. */
export const storedJobSchema = z.strictObject({
  job: sentJobSchema,
  /** The uploads by the names of their parts. */
  uploads: z.record(z.string().regex(/^[a-z_]{1,40}$/), storedFileSchema),
});

/** What a worker needs to execute the job of a run. */
export type StoredJob = z.output<typeof storedJobSchema>;

/**
 * The values of a task. They contain nothing of the request, because the queue keeps them after the run: everything else
 * is stored with the run, and removed with it.
 */
export const sentTaskSchema = z.strictObject({ runId: z.string().refine(isSafeId) });

/** The values of a task's output: the body or the problem of the run, as JSON, and its files. */
export const taskOutputSchema = z.strictObject({
  isProblem: z.boolean(),
  outcome: storedFileSchema,
  files: storedFilesSchema,
});

/** The values of a task's output. */
export type TaskOutput = z.output<typeof taskOutputSchema>;

/** Returns a job without its local paths. A worker uses its own folder for the files of language models. */
export function jobToStore(job: Job): StoredJob['job'] {
  switch (job.kind) {
    case 'validate-rows':
      return { kind: job.kind, maxItems: job.maxItems };
    case 'validate-table':
      return {
        kind: job.kind,
        format: job.format,
        options: copyOf(job.options),
        source: job.source ?? 'query',
      };
    case 'pipeline':
    case 'workflow':
      return { kind: job.kind, config: job.config, fields: { ...job.fields } };
    case 'llm-eval':
      return { kind: job.kind, body: job.body };
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train':
      return { kind: job.kind, fields: job.fields === null ? null : copyOf(job.fields), maxItems: job.maxItems };
    case 'check':
    case 'monitor-report':
    case 'named-model':
    case 'validation-report':
      throw new Error('A report is not a run.');
  }
}

function copyOf(texts: Readonly<Record<string, string | readonly string[]>>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}

/** Returns a stored job with the paths of its uploads on this machine. */
export function receivedJob(
  { job }: StoredJob,
  uploads: Readonly<Record<string, string>>,
  llmFolder: string | null,
): Job {
  switch (job.kind) {
    case 'llm-eval':
      return { ...job, llmFolder };
    case 'predict':
    case 'calibrate':
    case 'ab-test':
    case 'train':
      return { ...job, files: uploads };
    default:
      return { ...job, path: uploads['path'] ?? '' };
  }
}

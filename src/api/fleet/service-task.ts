import { z } from 'zod';

import { isSafeId } from '../store/result-store.ts';
import type { Job } from '../jobs/job.ts';

/** The kind of the tasks of runs. */
export const SERVICE_JOB = 'service-job';

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
  }),
  z.strictObject({ kind: z.enum(['pipeline', 'workflow']), config: z.string(), fields: texts }),
  z.strictObject({ kind: z.literal('llm-eval'), body: z.string() }),
]);

/** The values of a task: a job, and its upload, which is stored with the run. */
export const sentTaskSchema = z.strictObject({
  runId: z.string().refine(isSafeId),
  job: sentJobSchema,
  upload: storedFileSchema.nullable(),
});

/** The values of a task. */
export type SentTask = z.output<typeof sentTaskSchema>;

/** The values of a task's output, whose bytes are the body: the files of the run, or the problem of a failed job. */
export const taskOutputSchema = z.union([
  z.strictObject({ files: storedFilesSchema }),
  z.strictObject({ problem: z.record(z.string(), z.unknown()) }),
]);

/** Returns a job without its local paths. A worker uses its own folder for the files of language models. */
export function jobToSend(job: Job): SentTask['job'] {
  switch (job.kind) {
    case 'validate-rows':
      return { kind: job.kind, maxItems: job.maxItems };
    case 'validate-table':
      return {
        kind: job.kind,
        format: job.format,
        options: Object.fromEntries(
          Object.entries(job.options).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
        ),
      };
    case 'pipeline':
    case 'workflow':
      return { kind: job.kind, config: job.config, fields: { ...job.fields } };
    case 'llm-eval':
      return { kind: job.kind, body: job.body };
    case 'validation-report':
      throw new Error('A report is not a run.');
  }
}

/** Returns the job of a task, with the path of its upload on this machine. */
export function receivedJob({ job }: SentTask, upload: string, llmFolder: string | null): Job {
  return job.kind === 'llm-eval' ? { ...job, llmFolder } : { ...job, path: upload };
}

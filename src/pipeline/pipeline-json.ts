import { z } from 'zod';

import { DataValidationError } from '../exceptions/index.ts';
import { TRANSFORMER_KINDS } from '../schemas/pipeline/transformer-params.ts';

/** Whole, whatever its keys: a schema of records would drop `__proto__`, which may be a label. */
const record = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'should be an object',
);

const pipelineSchema = z.object({
  kind: z.literal('fairness_pipeline'),
  steps: z.array(
    z.object({
      name: z.string().min(1),
      transformer: z.object({ kind: z.enum(TRANSFORMER_KINDS), params: record, state: record.nullable() }),
    }),
  ),
  weight_scale: z.number().gt(0).nullable(),
});

/** A pipeline as plain data. */
export type PipelineJson = Readonly<z.infer<typeof pipelineSchema>>;

/** @throws {DataValidationError} for anything but what a pipeline's `toJSON` gives */
export function readPipelineJson(json: unknown): PipelineJson {
  const parsed = pipelineSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DataValidationError(`This is no saved pipeline: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`, {
    context: { issues: parsed.error.issues },
    suggestion: 'Give what toJSON of a pipeline gave.',
    cause: parsed.error,
  });
}

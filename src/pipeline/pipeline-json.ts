import { z } from 'zod';

import { isMapping, valueAt } from '../internal/values.ts';
import { DataValidationError } from '../exceptions/index.ts';
import { requirementOf } from '../schemas/parse.ts';
import { TRANSFORMER_KINDS } from '../schemas/pipeline/transformer-params.ts';
import { describeValue } from '../io/config-text/path-problem.ts';

/**
 * The schema of a mapping whose keys can be any text. `z.record` would drop the key `__proto__`, which may be a label.
 */
const record = z.custom<Readonly<Record<string, unknown>>>(isMapping);

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

/**
 * Checks and returns a pipeline as plain data.
 * @throws {DataValidationError} if the data is not the output of a pipeline's `toJSON`; `context.problem` contains only
 *   the reason
 */
export function readPipelineJson(json: unknown): PipelineJson {
  const parsed = pipelineSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues
    .slice(0, 1)
    .map((issue) => describeIssue(issue, json))
    .join('');
  throw new DataValidationError(`This is not a saved pipeline: ${problem}.`, {
    code: 'invalid-state',
    context: { problem, issues: parsed.error.issues },
    suggestion: "Pass the unchanged output of a pipeline's toJSON.",
    cause: parsed.error,
  });
}

/** Describes a problem: the part, the requirement, and the value found. */
function describeIssue(issue: z.core.$ZodIssue, json: unknown): string {
  const part = issue.path.length === 0 ? 'it' : issue.path.map(String).join('.');
  const isEmpty = issue.code === 'too_small' && issue.origin === 'string';
  const required = isEmpty ? 'a text that is not empty' : (requirementOf(issue, KINDS) ?? 'a mapping');
  return `${part} must be ${required}; got ${describeValue(valueAt(json, issue.path))}`;
}

const KINDS = { array: 'a list', number: 'a number', object: 'a mapping', string: 'a text' };

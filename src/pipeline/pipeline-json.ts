import { z } from 'zod';

import { isMapping } from '../internal/values.ts';
import { DataValidationError } from '../exceptions/index.ts';
import { TRANSFORMER_KINDS } from '../schemas/pipeline/transformer-params.ts';
import { describeValue } from '../io/config-text/fault-places.ts';
import { valueAt } from '../io/config-text/path-fault.ts';

/** A mapping with all its keys; `z.record` would drop `__proto__`, which may be a label. */
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
 * @throws {DataValidationError} if the data is not the output of a pipeline's `toJSON`; `context.problem` has the
 *   reason alone
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
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const part = path.length === 0 ? 'it' : path.join('.');
  return `${part} must be ${requirementOf(issue)}; got ${describeValue(valueAt(json, path))}`;
}

function requirementOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_value': {
      const names = issue.values.map(String);
      return names.length === 1 ? `'${names.join('')}'` : `one of ${names.join(', ')}`;
    }
    case 'too_small':
      return issue.origin === 'string' ? 'a text that is not empty' : `above ${String(issue.minimum)}`;
    case 'invalid_type':
      return KINDS[issue.expected] ?? 'something else';
    default:
      return 'a mapping';
  }
}

const KINDS: Readonly<Partial<Record<string, string>>> = {
  array: 'a list',
  number: 'a number',
  object: 'a mapping',
  string: 'a text',
};

import type { FairnessToolkitError } from '../../exceptions/index.ts';
import { parametersIn, renameParameters, toCamelCase, toSnakeCase } from '../../internal/arguments.ts';
import { validateRowsSchema } from '../../schemas/validate-rows.ts';
import { validateTableSchema } from '../../schemas/validate-table.ts';
import { workflowFieldsSchema } from '../../schemas/workflow-fields.ts';
import type { Job } from './job.ts';

/** Maps the library's arguments and options to request fields. */
const WIRE_NAMES: ReadonlyMap<string, string> = new Map([
  ...[validateRowsSchema.shape, validateTableSchema.shape, workflowFieldsSchema.shape, { target_column: null }]
    .flatMap(Object.keys)
    .map((field) => [toCamelCase(field), field] as const),
  ['applyPipeline', 'POST /pipeline'],
]);

/** The arguments of the library that have a request field outside the configuration. */
const FIELDS_BESIDE: Readonly<Partial<Record<Job['kind'], readonly string[]>>> = {
  workflow: ['minGroupSize', 'trainSize', 'randomState', 'threshold', 'classWeight'],
  'llm-eval': ['minGroupSize', 'withCi', 'ciLevel', 'ciSamples', 'threshold', 'metric', 'comparator', 'randomState'],
};

/** Returns whether a job is a validation, whose fields are the library's arguments. */
export function isValidation(kind: Job['kind']): boolean {
  return kind === 'validate-rows' || kind === 'validate-table';
}

/** Returns the request field for an argument of the library; undefined if there is no such field. */
export function wireNameOf(argument: string, kind: Job['kind']): string | undefined {
  if (!isValidation(kind)) return FIELDS_BESIDE[kind]?.includes(argument) === true ? toSnakeCase(argument) : undefined;
  // Arrays use one name for scores, with or without decisions.
  if (kind === 'validate-rows' && argument === 'score') return 'y_score';
  if (kind === 'validate-table' && argument === 'yScore') return 'score';
  return WIRE_NAMES.get(argument);
}

/**
 * Returns a message of the library, with the library's names replaced by request fields.
 * @param context the error's context, which names the parameters that the message contains
 */
export function inWireNames(text: string, kind: Job['kind'], context: FairnessToolkitError['context'] = {}): string {
  return renameParameters(text, (name) => wireNameOf(name, kind) ?? WIRE_NAMES.get(name), parametersIn(context));
}

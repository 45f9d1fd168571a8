import { z } from 'zod';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { toCamelCase, toSnakeCase } from '../../internal/arguments.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** Parameters that come from the rest of the configuration, not from the step; steps have no keys for them. */
export const FROM_AROUND = { label: z.string().optional(), candidates: z.array(z.string()).optional() } as const;

/** The options and the fitted state of a stored transformer. */
export interface StoredTransformer<Options, State> {
  readonly options: Options;
  /** null if it was stored before `fit`. */
  readonly state: State | null;
}

/**
 * Reads the output of a transformer's `toJSON`.
 * @throws {DataValidationError} naming the first invalid part
 */
export function readTransformerJson<State extends z.ZodType>(
  kind: TransformerKind,
  json: unknown,
  schemas: { readonly params: z.ZodType<object>; readonly state: State },
): StoredTransformer<Record<string, unknown>, z.output<State>> {
  const {
    kind: given,
    params,
    state,
  } = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  if (given !== kind) throw unreadable(kind, `kind: it is ${JSON.stringify(given)}`);
  const options = toCamelCaseKeys(readPart(kind, 'params', schemas.params, params));
  return { options, state: state === null ? null : readPart(kind, 'state', schemas.state, state) };
}

/**
 * Creates a transformer from stored options. An option out of range is a ValueError in a constructor, but a
 * DataValidationError in stored data.
 * @throws {DataValidationError} if the constructor rejects an option
 */
export function fromStored<Made>(kind: TransformerKind, make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof ValueError) throw unreadable(kind, `params: ${cause.message}`, cause);
    throw cause;
  }
}

function readPart<Schema extends z.ZodType>(
  kind: string,
  part: string,
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = [part, ...(issue?.path ?? [])].map(String).join('.');
  throw unreadable(kind, `${field}: ${issue?.message ?? 'it cannot be read'}`, parsed.error);
}

function unreadable(kind: string, problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`This is not a stored ${kind}: ${problem}`, {
    code: 'invalid-state',
    context: { kind },
    suggestion: `Pass the unchanged output of the toJSON method of a ${kind}.`,
    cause,
  });
}

/** Renames an object's own keys to snake_case and drops undefined values; nested values are not changed. */
export function toSnakeCaseKeys(settings: object): Record<string, unknown> {
  return mapKeys(settings, toSnakeCase);
}

/** Reverses {@link toSnakeCaseKeys}. */
function toCamelCaseKeys(params: object): Record<string, unknown> {
  return mapKeys(params, toCamelCase);
}

function mapKeys(from: object, nameOf: (key: string) => string): Record<string, unknown> {
  const entries = Object.entries(from) as [string, unknown][];
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[nameOf(key), value]])));
}

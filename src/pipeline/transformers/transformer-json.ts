import { z } from 'zod';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { toCamelCase, toSnakeCase } from '../../internal/arguments.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** Parameters that come from around a step and not from its own: a configuration has no keys for them. */
export const FROM_AROUND = { label: z.string().optional(), candidates: z.array(z.string()).optional() } as const;

/** What a stored transformer was made of and has learned. */
export interface StoredTransformer<Options, State> {
  readonly options: Options;
  /** null where it was stored before `fit`. */
  readonly state: State | null;
}

/**
 * Reads what a transformer's `toJSON` gave.
 * @throws {DataValidationError} naming the first part that is not as it should be
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
 * Makes what stored options describe: options out of range are a caller's
 * mistake in a constructor, and bad data in a file.
 * @throws {DataValidationError} for options that the constructor refuses
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

function unreadable(kind: string, fault: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`This is no stored ${kind}: ${fault}`, {
    context: { kind },
    suggestion: `Give what toJSON of a ${kind} gave, unchanged.`,
    cause,
  });
}

/** An object with its own keys in snake_case, without those that are undefined; what they hold is left as it is. */
export function toSnakeCaseKeys(settings: object): Record<string, unknown> {
  return mapKeys(settings, toSnakeCase);
}

/** The way back from {@link toSnakeCaseKeys}. */
function toCamelCaseKeys(params: object): Record<string, unknown> {
  return mapKeys(params, toCamelCase);
}

function mapKeys(from: object, nameOf: (key: string) => string): Record<string, unknown> {
  const entries = Object.entries(from) as [string, unknown][];
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[nameOf(key), value]])));
}

import { z } from 'zod';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { camelFields } from '../../internal/arguments.ts';
import { firstIssue } from '../../schemas/parse.ts';
import { TRANSFORMER_PARAMS, type TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** Parameters that come from the rest of the configuration. Steps have no keys for these parameters. */
const FROM_AROUND = { label: z.string().optional(), candidates: z.array(z.string()).optional() } as const;

/** The definition of a class of transformers. */
export interface TransformerDefinition<State> {
  readonly kind: TransformerKind;
  /** The options of the constructor. */
  readonly options: Readonly<Record<string, true>>;
  readonly state: z.ZodType<State>;
}

/**
 * Reads the output of a transformer's `toJSON`.
 * @returns the options, and the fitted state, which is null if the transformer was stored before `fit`
 * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
 */
export function readTransformerJson<State>(
  { kind, options: known, state: stateSchema }: TransformerDefinition<State>,
  json: unknown,
): { readonly options: Record<string, unknown>; readonly state: State | null } {
  const {
    kind: given,
    params,
    state,
  } = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
  if (given !== kind) throw unreadable(kind, `kind: it is ${JSON.stringify(given)}`);
  const schema: z.ZodObject = TRANSFORMER_PARAMS[kind];
  const around = Object.entries(FROM_AROUND).filter(([name]) => name in known && !(name in schema.shape));
  const options = camelFields(readPart(kind, 'params', schema.extend(Object.fromEntries(around)), params));
  return { options, state: state === null ? null : readPart(kind, 'state', stateSchema, state) };
}

/**
 * Creates a transformer from stored options. If an option is out of range, the constructor throws a ValueError. This
 * function converts it to a DataValidationError, because the invalid value comes from stored data.
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
  const isOfPart = (parsed.error.issues[0]?.path.length ?? 0) > 0;
  throw unreadable(kind, `${part}${isOfPart ? '.' : ': '}${firstIssue(parsed.error)}`, parsed.error);
}

function unreadable(kind: string, problem: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`This is not a stored ${kind}: ${problem}`, {
    code: 'invalid-state',
    context: { kind },
    suggestion: `Pass the unchanged output of the toJSON method of a ${kind}.`,
    cause,
  });
}

import { z } from 'zod';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { readJson } from '../data/read-json.ts';
import type { EstimatorJson } from './estimator.ts';

/** The JSON schema of the state of an estimator with linear scores. */
export const LINEAR_STATE = z.object({
  coefficients: z.array(z.number()),
  intercept: z.number(),
  iterations: z.int(),
  converged: z.boolean(),
  warnings: z.array(z.string()),
});

/**
 * Reads the JSON of an estimator.
 * @param json the estimator as plain data
 * @param kind the required kind
 * @param schemas the schemas of the estimator's params and state
 * @throws {DataValidationError} if the estimator is of another kind, or if fields are missing or have the wrong type
 */
export function readEstimatorJson<Params extends z.ZodType, State extends z.ZodType>(
  json: unknown,
  kind: string,
  schemas: { readonly params: Params; readonly state: State },
): { readonly params: z.output<Params>; readonly state: z.output<State> | null } {
  const schema = z.object({ kind: z.literal(kind), params: schemas.params, state: z.nullable(schemas.state) });
  const given = (json as Partial<EstimatorJson> | null | undefined)?.kind;
  return readJson(schema, json, `estimator of kind '${kind}'`, {
    context: { kind, given },
    suggestion:
      'Pass the object that toJSON of an estimator of this kind returned, or use estimatorFromJson for any kind.',
  }) as { readonly params: z.output<Params>; readonly state: z.output<State> | null };
}

/**
 * Creates an object from stored options. Converts a ValueError of the constructor to a DataValidationError, because an
 * invalid option in a file is an error in the data and not in the call.
 * @param kind the class that wrote the options
 * @throws {DataValidationError} if the constructor rejects the options
 */
export function fromStoredParams<Made>(kind: string, make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new DataValidationError(`${cause.message} It is in the params of a stored '${kind}'.`, {
      code: 'invalid-state',
      context: { kind, ...cause.context },
      suggestion: 'Pass the unchanged object that its toJSON method returned.',
      cause,
    });
  }
}

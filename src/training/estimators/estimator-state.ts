import { z } from 'zod';

import { DataValidationError, ValueError } from '../../exceptions/index.ts';
import { readJson } from '../data/read-json.ts';
import type { EstimatorJson } from './estimator.ts';

/** The state of an estimator with linear scores, as JSON has it. */
export const LINEAR_STATE = z.object({
  coefficients: z.array(z.number()),
  intercept: z.number(),
  iterations: z.int(),
  converged: z.boolean(),
  warnings: z.array(z.string()),
});

/**
 * Reads what an estimator wrote.
 * @param json the estimator as plain data
 * @param kind what it must be
 * @param schemas of its params and its state
 * @throws {DataValidationError} for another kind, or fields that are missing or of another type
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
    suggestion: 'Give what the toJSON method of such an estimator gave, or use estimatorFromJson for any kind.',
  }) as { readonly params: z.output<Params>; readonly state: z.output<State> | null };
}

/**
 * Makes what stored options describe. Options out of range are a caller's
 * mistake in a constructor, and bad data in a file.
 * @param kind which class wrote them
 * @throws {DataValidationError} for options that the constructor refuses
 */
export function fromStoredParams<Made>(kind: string, make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new DataValidationError(`${cause.message} It is in the params of a stored '${kind}'.`, {
      context: { kind, ...cause.context },
      suggestion: 'Give what its toJSON method gave, unchanged.',
      cause,
    });
  }
}

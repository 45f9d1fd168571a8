import { z } from 'zod';

import { readEstimatorJson } from '../estimators/estimator-state.ts';
import { fittedNetworkSchema, networkFromJson } from './network-json.ts';
import type { TrainerState } from './network-trainer.ts';

/**
 * Reads what a trainer wrote.
 * @throws {DataValidationError} for another kind, or fields that are missing or of another type
 */
export function readTrainerJson<Epoch extends z.ZodType>(
  json: unknown,
  kind: string,
  epoch: Epoch,
): { readonly params: Record<string, unknown>; readonly state: TrainerState<z.output<Epoch>> | undefined } {
  const { params, state } = readEstimatorJson(json, kind, {
    params: z.record(z.string(), z.unknown()),
    state: z.object({
      network: fittedNetworkSchema,
      history: z.array(epoch),
      bestEpoch: z.int(),
      groups: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  });
  return { params, state: state === null ? undefined : { ...state, network: networkFromJson(state.network) } };
}

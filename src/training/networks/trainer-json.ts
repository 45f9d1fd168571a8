import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { TENSOR_BACKENDS } from '../../tensor/index.ts';
import { readEstimatorJson } from '../estimators/estimator-state.ts';
import { fittedNetworkSchema, networkFromJson } from './network-json.ts';
import { SCHEDULES } from './network-options.ts';
import { NETWORK_TASKS, type NetworkTask } from './network-task.ts';
import type { TrainerState } from './network-trainer.ts';

/** The options in the JSON of every trainer. The trainer's constructor checks their values. */
export const trainerParamsSchema = z.object({
  epochs: z.number(),
  lr: z.number(),
  batchSize: z.union([z.number(), z.literal('auto')]),
  hidden: z.array(z.number()),
  patience: z.number(),
  weightDecay: z.number(),
  schedule: z.enum(SCHEDULES),
  seed: z.number(),
  backend: z.enum(['auto', ...TENSOR_BACKENDS]).optional(),
  task: z.enum(NETWORK_TASKS),
  posWeight: z.number(),
});

/**
 * Reads the JSON that a trainer wrote.
 * @throws {DataValidationError} if the kind differs, or if fields are missing or have another type
 */
export function readTrainerJson<Params extends z.ZodType<{ readonly task: NetworkTask }>, Epoch extends z.ZodType>(
  json: unknown,
  kind: string,
  schemas: { readonly params: Params; readonly epoch: Epoch },
): { readonly params: z.output<Params>; readonly state: TrainerState<z.output<Epoch>> | undefined } {
  const { params, state } = readEstimatorJson(json, kind, {
    params: schemas.params,
    state: z.object({
      network: fittedNetworkSchema,
      history: z.array(schemas.epoch),
      bestEpoch: z.int(),
      batchSize: z.int(),
      groups: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  });
  if (state !== null && state.network.task !== params.task) {
    throw new DataValidationError(
      `The network of this ${kind} has task '${state.network.task}', but its params have task '${params.task}'.`,
      {
        code: 'invalid-state',
        context: { kind, params: params.task, network: state.network.task },
        suggestion: 'Pass the unchanged output of the toJSON method of a trainer.',
      },
    );
  }
  return { params, state: state === null ? undefined : { ...state, network: networkFromJson(state.network) } };
}

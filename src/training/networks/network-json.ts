import { z } from 'zod';

import { TENSOR_BACKENDS } from '../../tensor/index.ts';
import type { FittedNetwork } from './fitted-network.ts';
import { NETWORK_TASKS } from './network-task.ts';

const numbers = z.array(z.number());

/** A fitted network as JSON has it. */
export const fittedNetworkSchema = z.object({
  task: z.enum(NETWORK_TASKS),
  specs: z.array(
    z.union([
      z.object({
        kind: z.literal('numeric'),
        name: z.string(),
        mean: z.number(),
        scale: z.number(),
        marksMissing: z.boolean(),
      }),
      z.object({ kind: z.literal('categorical'), name: z.string(), levels: z.array(z.string()) }),
    ]),
  ),
  layers: z.array(z.object({ inputs: z.int(), outputs: z.int(), kernel: numbers, bias: numbers })),
  target: z.object({ mean: z.number(), scale: z.number() }),
  backend: z.enum(TENSOR_BACKENDS),
});

/** A fitted network as plain data; float32 numbers survive JSON exactly. */
export function networkToJson(network: FittedNetwork): z.infer<typeof fittedNetworkSchema> {
  return {
    ...network,
    specs: network.specs.map((spec) => (spec.kind === 'numeric' ? spec : { ...spec, levels: [...spec.levels] })),
    layers: network.layers.map((layer) => ({ ...layer, kernel: [...layer.kernel], bias: [...layer.bias] })),
  };
}

/** The inverse of {@link networkToJson}. */
export function networkFromJson(json: z.infer<typeof fittedNetworkSchema>): FittedNetwork {
  return {
    ...json,
    layers: json.layers.map((layer) => ({
      ...layer,
      kernel: Float32Array.from(layer.kernel),
      bias: Float32Array.from(layer.bias),
    })),
  };
}

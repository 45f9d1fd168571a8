import { z } from 'zod';

import { TENSOR_BACKENDS } from '../../tensor/index.ts';
import { encodedWidth } from '../data/feature-encoder.ts';
import type { FittedNetwork } from './fitted-network.ts';
import { NETWORK_TASKS } from './network-task.ts';

const numbers = z.array(z.number());

const layerSchema = z
  .object({ inputs: z.int().min(0), outputs: z.int().min(1), kernel: numbers, bias: numbers })
  .refine(({ inputs, outputs, kernel, bias }) => kernel.length === inputs * outputs && bias.length === outputs, {
    error: 'a kernel or a bias has another size than its layer',
  });

const featureSchema = z.union([
  z.object({
    kind: z.literal('numeric'),
    name: z.string(),
    mean: z.number(),
    scale: z.number().gt(0),
    marksMissing: z.boolean(),
  }),
  z.object({ kind: z.literal('categorical'), name: z.string(), levels: z.array(z.string()) }),
]);

/** A fitted network as JSON has it. */
export const fittedNetworkSchema = z
  .object({
    task: z.enum(NETWORK_TASKS),
    specs: z.array(featureSchema).min(1),
    layers: z.array(layerSchema).min(1),
    target: z.object({ mean: z.number(), scale: z.number().gt(0) }),
    backend: z.enum(TENSOR_BACKENDS),
  })
  .refine(({ specs, layers }) => fitTogether([encodedWidth(specs), ...layers.map(({ outputs }) => outputs)], layers), {
    error: 'the layers do not follow each other from the features to one output',
  });

/** Whether each layer takes what the one before it gives, and the last gives one number. */
function fitTogether(widths: readonly number[], layers: readonly { readonly inputs: number }[]): boolean {
  return layers.every(({ inputs }, index) => inputs === widths[index]) && widths.at(-1) === 1;
}

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

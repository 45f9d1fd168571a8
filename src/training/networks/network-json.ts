import { z } from 'zod';

import { TENSOR_BACKENDS } from '../../tensor/index.ts';
import { encodedWidth } from '../data/feature-encoder.ts';
import type { FittedNetwork } from './fitted-network.ts';
import { NETWORK_TASKS } from './network-task.ts';
import { type NetworkWeights, isSavedLayers } from './network-weights.ts';

const numbers = z.array(z.number());

const layerSchema = z
  .object({ inputs: z.int().min(0), outputs: z.int().min(1), kernel: numbers, bias: numbers })
  .refine(({ inputs, outputs, kernel, bias }) => kernel.length === inputs * outputs && bias.length === outputs, {
    error: 'the size of a kernel or a bias does not match its layer',
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

/** The schema of the names, shapes and types of the weights of a user's own network. */
export const weightSpecsSchema = z.array(
  z.object({ name: z.string(), shape: z.array(z.int().min(0)), dtype: z.enum(['float32', 'int32', 'bool']) }),
);

/** The schema of a user's own network. TensorFlow.js checks the topology itself. */
const savedLayersSchema = z.object({
  format: z.string(),
  generatedBy: z.string(),
  modelTopology: z.record(z.string(), z.unknown()),
  weightSpecs: weightSpecsSchema,
  weightData: z.base64(),
});

/** The schema of a fitted network in JSON. */
export const fittedNetworkSchema = z
  .object({
    task: z.enum(NETWORK_TASKS),
    specs: z.array(featureSchema).min(1),
    layers: z.union([z.array(layerSchema).min(1), savedLayersSchema]),
    target: z.object({ mean: z.number(), scale: z.number().gt(0) }),
    backend: z.enum(TENSOR_BACKENDS),
  })
  .refine(
    ({ specs, layers }) =>
      !Array.isArray(layers) || fitTogether([encodedWidth(specs), ...layers.map(({ outputs }) => outputs)], layers),
    { error: 'the sizes of the layers do not chain from the features to one output' },
  );

/**
 * Returns whether the shapes of layers fit together: each layer has as many inputs as the previous layer has outputs,
 * and the last layer has one output.
 */
function fitTogether(widths: readonly number[], layers: readonly { readonly inputs: number }[]): boolean {
  return layers.every(({ inputs }, index) => inputs === widths[index]) && widths.at(-1) === 1;
}

/** Converts a fitted network to plain data. JSON preserves float32 numbers exactly. */
export function networkToJson(network: FittedNetwork): z.infer<typeof fittedNetworkSchema> {
  return {
    ...network,
    specs: network.specs.map((spec) => (spec.kind === 'numeric' ? spec : { ...spec, levels: [...spec.levels] })),
    layers: layersToJson(network.layers),
  };
}

/** Restores a fitted network from the output of {@link networkToJson}. */
export function networkFromJson(json: z.infer<typeof fittedNetworkSchema>): FittedNetwork {
  return {
    ...json,
    layers: layersFromJson(json.layers),
  };
}

type LayersJson = z.infer<typeof fittedNetworkSchema>['layers'];

function layersToJson(layers: NetworkWeights): LayersJson {
  if (isSavedLayers(layers)) {
    return { ...layers, weightData: Buffer.from(layers.weightData).toString('base64') } as LayersJson;
  }
  return layers.map((layer) => ({ ...layer, kernel: [...layer.kernel], bias: [...layer.bias] }));
}

function layersFromJson(layers: LayersJson): NetworkWeights {
  if (!Array.isArray(layers)) {
    return { ...layers, weightData: Uint8Array.from(Buffer.from(layers.weightData, 'base64')).buffer };
  }
  return layers.map((layer) => ({
    ...layer,
    kernel: Float32Array.from(layer.kernel),
    bias: Float32Array.from(layer.bias),
  }));
}

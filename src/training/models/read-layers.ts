import { z } from 'zod';

import { ACTIVATIONS, type DenseLayer, denseLayer, type LayerActivation } from './dense-layer.ts';
import { badModelFile, parseModelFile, readModelFile, readModelJson } from './model-files.ts';
import { TOPOLOGY_FILE, WEIGHTS_FILE } from './write-layers.ts';

/** Activations by their names in files. */
const NAMES: Readonly<Record<string, LayerActivation>> = {
  ...Object.fromEntries(ACTIVATIONS.map((name) => [name, name])),
  hard_sigmoid: 'hardSigmoid',
};

const size = z.int().min(1);

/** A stack of dense layers: all that this package writes, and all that it reads. */
const schema = z.object({
  modelTopology: z.object({
    class_name: z.literal('Sequential'),
    config: z.object({
      layers: z
        .array(
          z.object({
            class_name: z.literal('Dense'),
            config: z.object({
              units: size,
              activation: z.string().refine((name) => Object.hasOwn(NAMES, name), 'this activation is unknown'),
              use_bias: z.literal(true),
            }),
          }),
        )
        .min(1),
    }),
  }),
  weightsManifest: z.tuple([
    z.object({
      paths: z.tuple([z.literal(WEIGHTS_FILE)]),
      weights: z.array(z.object({ shape: z.array(size).min(1).max(2), dtype: z.literal('float32') })),
    }),
  ]),
});

/**
 * Reads a layers model that {@link writeLayers} wrote, without TensorFlow.js:
 * a file is data, and names neither classes nor places that would be followed.
 * @throws {DataValidationError} for anything else: another kind of layer, shapes that do not chain, a file cut short
 */
export async function readLayers(folder: string): Promise<readonly DenseLayer[]> {
  const json = parseModelFile(folder, TOPOLOGY_FILE, schema, await readModelJson(folder, TOPOLOGY_FILE));
  const [{ weights }] = json.weightsManifest;
  const { layers } = json.modelTopology.config;
  const values = await readWeights(
    folder,
    weights.reduce((sum, { shape }) => sum + shape.reduce((product, side) => product * side, 1), 0),
  );
  let offset = 0;
  const take = (count: number): Float32Array => values.subarray(offset, (offset += count));
  return layers.map(({ config: { units, activation } }, index) => {
    const [inputs = 0, outputs] = weights[2 * index]?.shape ?? [];
    const [biases, ...more] = weights[2 * index + 1]?.shape ?? [];
    const before = index === 0 ? inputs : layers[index - 1]?.config.units;
    const doChain = inputs === before && outputs === units && biases === units && more.length === 0;
    if (!doChain || weights.length !== 2 * layers.length) {
      throw badModelFile(folder, TOPOLOGY_FILE, `the weights of layer ${String(index + 1)} do not fit it`);
    }
    return denseLayer([inputs, units], take(inputs * units), take(units), NAMES[activation] ?? 'linear');
  });
}

async function readWeights(folder: string, count: number): Promise<Float32Array> {
  const bytes = await readModelFile(folder, WEIGHTS_FILE);
  if (bytes.byteLength !== 4 * count) {
    const found = `it has ${String(bytes.byteLength)} bytes, and ${TOPOLOGY_FILE} tells of ${String(4 * count)}`;
    throw badModelFile(folder, WEIGHTS_FILE, found);
  }
  const values = Float32Array.from({ length: count }, (_, place) => bytes.readFloatLE(4 * place));
  const broken = values.findIndex((value) => !Number.isFinite(value));
  if (broken >= 0)
    throw badModelFile(folder, WEIGHTS_FILE, `weight ${String(broken + 1)} is ${String(values[broken])}`);
  return values;
}

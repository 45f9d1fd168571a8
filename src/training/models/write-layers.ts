import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { checksumOf, withChecksum } from '../../io/checksum.ts';
import type { Tf } from '../../tensor/index.ts';
import type { LayerWeights, SavedLayers } from '../networks/network-weights.ts';
import { saveLayers } from '../networks/user-network.ts';
import { CARD_FILE } from './model-card.ts';

/** The activations of layers. `hardSigmoid` is x / 5 + 1 / 2, clipped to [0, 1]. */
export const ACTIVATIONS = ['relu', 'sigmoid', 'linear', 'hardSigmoid'] as const;

/** One of {@link ACTIVATIONS}. */
export type LayerActivation = (typeof ACTIVATIONS)[number];

/** One layer of a TensorFlow.js layers model: activation(x kernel + bias). */
export interface DenseLayer extends LayerWeights {
  readonly activation: LayerActivation;
}

/** Creates a layer from numbers of any precision. */
export function denseLayer(
  shape: readonly [inputs: number, outputs: number],
  kernel: ArrayLike<number>,
  bias: ArrayLike<number>,
  activation: LayerActivation,
): DenseLayer {
  const [inputs, outputs] = shape;
  return { inputs, outputs, kernel: Float32Array.from(kernel), bias: Float32Array.from(bias), activation };
}

/** The files of a TensorFlow.js layers model. */
export const TOPOLOGY_FILE = 'model.json';
export const WEIGHTS_FILE = 'weights.bin';

/** Writes layers as a model that `tf.loadLayersModel` of plain `@tensorflow/tfjs` can load. */
export async function writeLayers(tf: Tf, folder: string, layers: readonly DenseLayer[]): Promise<void> {
  const model = tf.sequential({
    // The names are fixed, because the default names of TensorFlow.js contain a process-wide counter.
    name: 'evenhand',
    layers: layers.map(({ inputs, outputs, activation }, index) =>
      tf.layers.dense({
        name: `dense_${String(index + 1)}`,
        units: outputs,
        activation,
        ...(index === 0 ? { inputShape: [inputs] } : {}),
      }),
    ),
  });
  try {
    tf.tidy(() => {
      model.setWeights(
        layers.flatMap(({ kernel, bias, inputs, outputs }) => [
          tf.tensor2d(kernel, [inputs, outputs]),
          tf.tensor1d(bias),
        ]),
      );
    });
    await writeModel(folder, await saveLayers(tf, model));
  } finally {
    model.dispose();
  }
}

/** Writes a model's topology and weights in the files that plain `@tensorflow/tfjs` reads. */
export async function writeModel(folder: string, model: SavedLayers): Promise<void> {
  const { format, generatedBy, modelTopology, weightSpecs, weightData } = model;
  const weightsManifest = [{ paths: [WEIGHTS_FILE], weights: weightSpecs }];
  await writeFile(
    path.join(folder, TOPOLOGY_FILE),
    toJsonText({ format, generatedBy, modelTopology, weightsManifest }),
  );
  await writeFile(path.join(folder, WEIGHTS_FILE), Buffer.from(weightData));
}

/** Returns the SHA-256 of each file, for use in the card. */
export async function checksumsOf(folder: string, files: readonly string[]): Promise<Record<string, string>> {
  const entries = files.map(async (name) => [name, checksumOf(await readFile(path.join(folder, name)))] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Writes the card of a folder, including a checksum of the card itself. */
export async function writeCard(folder: string, card: object): Promise<void> {
  await writeFile(path.join(folder, CARD_FILE), withChecksum(toJsonText(card)));
}

/** Formats plain data as the text of a JSON file. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

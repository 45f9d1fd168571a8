import { readFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';

// Suppresses its advice to install another package.
tf.enableProdMode();

/** The part of a card that a user of plain TensorFlow.js needs. */
export interface PlainCard {
  readonly features: readonly (
    | { kind: 'numeric'; name: string; mean: number; scale: number; marks_missing: boolean }
    | { kind: 'categorical'; name: string; levels: readonly string[] }
  )[];
  readonly [field: string]: unknown;
}

/** One value of a row; null is missing. */
export type PlainValue = number | string | null;

export function readCard(folder: string): PlainCard {
  return JSON.parse(readFileSync(path.join(folder, 'card.json'), 'utf8')) as PlainCard;
}

/** Encodes a row as described for cards in docs/models.md, without code of the package. */
export function encodeByHand({ features }: PlainCard, row: Readonly<Record<string, PlainValue>>): number[] {
  return features.flatMap((feature) => {
    const value = row[feature.name] ?? null;
    if (feature.kind === 'categorical') {
      return feature.levels.map((level) => Number(level === (value === null ? '(missing)' : String(value))));
    }
    const scaled = value === null ? 0 : (Number(value) - feature.mean) / feature.scale;
    return feature.marks_missing ? [scaled, Number(value === null)] : [scaled];
  });
}

/** Loads a saved folder with plain `@tensorflow/tfjs`, from its two files. */
export async function predictWithPlainTfjs(folder: string, inputs: readonly number[][]): Promise<number[]> {
  const json = JSON.parse(readFileSync(path.join(folder, 'model.json'), 'utf8')) as {
    modelTopology: object;
    weightsManifest: { weights: tf.io.WeightsManifestEntry[] }[];
  };
  const bytes = readFileSync(path.join(folder, 'weights.bin'));
  const model = await tf.loadLayersModel(
    tf.io.fromMemory({
      modelTopology: json.modelTopology,
      weightSpecs: json.weightsManifest.flatMap(({ weights }) => weights),
      weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    }),
  );
  const outputs = tf.tidy(() => [...(model.predict(tf.tensor2d([...inputs])) as tf.Tensor).dataSync()]);
  model.dispose();
  return outputs;
}

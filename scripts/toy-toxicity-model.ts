// Writes models/toy-toxicity, a text classifier with weights set by hand, for tests. Run from the root of the project:
//   node --import tsx scripts/toy-toxicity-model.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { checksumOf, withChecksum } from '../src/io/checksum.ts';

/** The folder of the model. */
export const TOY_FOLDER = path.resolve(import.meta.dirname, '../models/toy-toxicity');

/** The weight of each word, and the bias. */
export const TOY_WEIGHTS = { kind: -1.5, nice: -1, awful: 2, idiot: 3, hate: 2.5 };
export const TOY_BIAS = -2;

/** Returns the files of the model by name: one dense layer with a sigmoid over word counts. */
export function toyFiles(): Readonly<Record<string, string | Uint8Array>> {
  const words = Object.keys(TOY_WEIGHTS);
  const layer = {
    class_name: 'Dense',
    config: {
      name: 'toxicity',
      units: 1,
      activation: 'sigmoid',
      use_bias: true,
      batch_input_shape: [null, words.length],
      dtype: 'float32',
    },
  };
  const model = {
    format: 'layers-model',
    modelTopology: { class_name: 'Sequential', config: { name: 'toy_toxicity', layers: [layer] } },
    weightsManifest: [
      {
        paths: ['weights.bin'],
        weights: [
          { name: 'toxicity/kernel', shape: [words.length, 1], dtype: 'float32' },
          { name: 'toxicity/bias', shape: [1], dtype: 'float32' },
        ],
      },
    ],
  };
  const vocabulary = {
    format: 'evenhand-text-classifier',
    name: 'toy classifier for tests',
    input: 'bag_of_words',
    words,
    output: 0,
  };
  const parts = {
    'model.json': toText(model),
    'weights.bin': new Uint8Array(Float32Array.of(...Object.values(TOY_WEIGHTS), TOY_BIAS).buffer),
  };
  const checksums = Object.fromEntries(Object.entries(parts).map(([name, content]) => [name, checksumOf(content)]));
  return { ...parts, 'vocabulary.json': withChecksum(toText({ ...vocabulary, checksums })) };
}

function toText(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) {
  mkdirSync(TOY_FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(toyFiles())) writeFileSync(path.join(TOY_FOLDER, name), content);
}

import type { io } from '@tensorflow/tfjs';

/** The weights of one layer: kernel [inputs, outputs] and bias [outputs], row-major. */
export interface LayerWeights {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: Float32Array;
  readonly bias: Float32Array;
}

/** A user's own network as plain data. Its output is a probability, or a standardised value. */
export interface SavedLayers {
  readonly format: string;
  readonly generatedBy: string;
  readonly modelTopology: object;
  readonly weightSpecs: readonly io.WeightsManifestEntry[];
  readonly weightData: ArrayBuffer;
}

/** The trained weights of one network: its layers, or a user's own model as plain data. */
export type NetworkWeights = readonly LayerWeights[] | SavedLayers;

/** Returns whether the weights of a network are a user's own network. */
export function isSavedLayers(weights: NetworkWeights): weights is SavedLayers {
  return 'modelTopology' in weights;
}

import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { VERSION } from '../../internal/version.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import type { Tf } from '../../tensor/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { networkLayers } from '../models/describe-model.ts';
import { dataToJson, featureToJson, holdsOnlyNetworks, MODEL_KIND, SWEEP_KIND } from '../models/model-card.ts';
import { networkFolder } from '../models/model-files.ts';
import {
  checksumsOf,
  TOPOLOGY_FILE,
  WEIGHTS_FILE,
  writeCard,
  writeLayers,
  writeModel,
} from '../models/write-layers.ts';
import { type NetworkWeights, isSavedLayers } from '../networks/network-weights.ts';
import type { ParetoPoint } from './pareto-points.ts';
import { pointToJson, type SweepInfo } from './pareto-sweep.ts';

export { holdsOnlyNetworks };

/** The files in a network's folder other than its card. */
const NETWORK_FILES = [TOPOLOGY_FILE, WEIGHTS_FILE];

/** The networks of a sweep and their description. */
interface SavedSweep {
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly NetworkWeights[];
  readonly points: readonly ParetoPoint[];
  readonly info: SweepInfo;
  /** The number of training rows by group. */
  readonly groups: Readonly<Record<string, number>>;
}

/**
 * Saves every network of a sweep in its own folder, `eta-<eta>`, in the format of `saveModel`: a card and a
 * TensorFlow.js layers model that plain `@tensorflow/tfjs` can load. The model maps encoded features to a probability.
 * @throws {DataValidationError} if the folder cannot be written or has other content
 */
export async function saveNetworks(tf: Tf, folder: string, sweep: SavedSweep): Promise<void> {
  await writeFolderAtomic(
    folder,
    async (target) => {
      for (const [index, point] of sweep.points.entries()) {
        const position = path.join(target, networkFolder(point.eta));
        await mkdir(position, { recursive: true });
        const weights = sweep.weights[index] ?? [];
        if (isSavedLayers(weights)) await writeModel(position, weights);
        else await writeLayers(tf, position, networkLayers(weights, 'binary'));
        await writeCard(position, networkCard(tf, sweep, index, await checksumsOf(position, NETWORK_FILES)));
      }
      const networks = sweep.points.map(({ eta }) => networkFolder(eta));
      await writeCard(target, sweepCard(tf, sweep, networks));
    },
    holdsOnlyNetworks,
  );
}

function networkCard(
  tf: Tf,
  sweep: SavedSweep,
  index: number,
  checksums: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const point = sweep.points[index] as ParetoPoint;
  return {
    kind: MODEL_KIND,
    method: isSavedLayers(sweep.weights[index] ?? []) ? 'layers_model' : 'regularized',
    output: 'probability of the positive label',
    files: NETWORK_FILES,
    checksums,
    ...sharedCard(tf, sweep, [point]),
    constraint: { penalty: sweep.info.penalty, eta: point.eta },
    decision_threshold: null,
    notes: [],
  };
}

function sweepCard(tf: Tf, sweep: SavedSweep, networks: readonly string[]): Record<string, unknown> {
  const { points, info } = sweep;
  return {
    kind: SWEEP_KIND,
    networks,
    ...sharedCard(tf, sweep, points),
    constraint: { penalty: info.penalty, etas: points.map(({ eta }) => eta) },
  };
}

function sharedCard(
  tf: Tf,
  { specs, info, groups }: SavedSweep,
  points: readonly ParetoPoint[],
): Record<string, unknown> {
  return {
    task: 'binary',
    versions: { evenhand: VERSION, tfjs: tf.version.tfjs },
    data: dataToJson(info),
    groups,
    metrics: points.map((point) => ({ rows: 'test', ...pointToJson(point) })),
    features: specs.map(featureToJson),
    seed: info.seed,
    backend: info.backend,
  };
}

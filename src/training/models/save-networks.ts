import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { VERSION } from '../../internal/version.ts';
import { writeFolderAtomic } from '../../io/atomic-write.ts';
import type { Tf } from '../../tensor/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { pointToJson } from '../pareto/pareto-json.ts';
import type { ParetoPoint } from '../pareto/pareto-points.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import type { SweepInfo } from '../pareto/pareto-sweep.ts';

/** Networks of a sweep with what describes them. */
export interface SavedSweep {
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly (readonly LayerWeights[])[];
  readonly points: readonly ParetoPoint[];
  readonly info: SweepInfo;
}

/** The file that tells an evenhand model folder from any other. */
const CARD = 'card.json';

/** What the card of a sweep's folder says it is; the folders in it have cards of single networks. */
const SWEEP_KIND = 'evenhand sweep';
const NETWORK_KIND = 'evenhand model';

/**
 * Saves every network of a sweep in a folder of its own, `eta-<eta>`, as a
 * TensorFlow.js layers model (model.json, weights.bin) that plain
 * `@tensorflow/tfjs` loads, with a card: data, features, metrics, seed, versions.
 * The model maps encoded features to a probability.
 * @throws {DataValidationError} where the folder cannot be written or holds something else
 */
export async function saveNetworks(tf: Tf, folder: string, sweep: SavedSweep): Promise<void> {
  await writeFolderAtomic(
    folder,
    async (target) => {
      for (const [index, point] of sweep.points.entries()) {
        const place = path.join(target, networkFolder(point));
        await mkdir(place, { recursive: true });
        await saveNetwork(tf, place, sweep.weights[index] ?? []);
        await writeFile(path.join(place, CARD), toJson({ kind: NETWORK_KIND, ...cardOf(tf, sweep, [point]) }));
      }
      const networks = sweep.points.map(networkFolder);
      await writeFile(
        path.join(target, CARD),
        toJson({ kind: SWEEP_KIND, networks, ...cardOf(tf, sweep, sweep.points) }),
      );
    },
    holdsOnlyNetworks,
  );
}

/**
 * Whether a folder is empty, or was written by {@link saveNetworks} and holds
 * nothing else: only then may it be replaced.
 */
export function holdsOnlyNetworks(folder: string): boolean {
  try {
    const names = readdirSync(folder);
    if (names.length === 0) return true;
    const card = JSON.parse(readFileSync(path.join(folder, CARD), 'utf8')) as { kind?: unknown; networks?: unknown };
    const expected: unknown[] = [CARD].concat(Array.isArray(card.networks) ? card.networks : []);
    return card.kind === SWEEP_KIND && names.every((name) => expected.includes(name));
  } catch {
    return false;
  }
}

async function saveNetwork(tf: Tf, folder: string, layers: readonly LayerWeights[]): Promise<void> {
  const model = tf.sequential({
    layers: layers.map(({ inputs, outputs }, index) =>
      tf.layers.dense({
        units: outputs,
        activation: index === layers.length - 1 ? 'sigmoid' : 'relu',
        ...(index === 0 ? { inputShape: [inputs] } : {}),
      }),
    ),
  });
  tf.tidy(() => {
    model.setWeights(
      layers.flatMap(({ kernel, bias, inputs, outputs }) => [
        tf.tensor2d(kernel, [inputs, outputs]),
        tf.tensor1d(bias),
      ]),
    );
  });
  await model.save(
    tf.io.withSaveHandler(async ({ modelTopology, weightSpecs, weightData, format, generatedBy }) => {
      const manifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
      await writeFile(
        path.join(folder, 'model.json'),
        toJson({ format, generatedBy, modelTopology, weightsManifest: manifest }),
      );
      await writeFile(path.join(folder, 'weights.bin'), Buffer.from(tf.io.CompositeArrayBuffer.join(weightData)));
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } };
    }),
  );
  model.dispose();
}

function networkFolder({ eta }: ParetoPoint): string {
  return `eta-${String(eta)}`;
}

function cardOf(tf: Tf, { specs, info }: SavedSweep, points: readonly ParetoPoint[]): Record<string, unknown> {
  return {
    task: 'binary',
    versions: { evenhand: VERSION, tfjs: tf.version.tfjs },
    data: {
      target: info.target,
      positive_label: info.positiveLabel,
      sensitive: info.sensitive,
      n_train: info.nTrain,
      n_test: info.nTest,
      n_dropped: info.nDropped,
    },
    constraint: { penalty: info.penalty, etas: points.map(({ eta }) => eta) },
    metrics: points.map(pointToJson),
    features: specs.map((spec) =>
      spec.kind === 'numeric'
        ? { kind: spec.kind, name: spec.name, mean: spec.mean, scale: spec.scale, marks_missing: spec.marksMissing }
        : spec,
    ),
    seed: info.seed,
    backend: info.backend,
  };
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

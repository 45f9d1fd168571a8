import { chooseBatchSize, type NetworkRows, type Tensorflow, traitsOf } from '../../tensor/index.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import { type Split, strata } from '../data/row-splits.ts';
import { setAside } from '../data/set-aside.ts';
import { takeTrainingRows, type TrainingData, type TrainingRows } from '../data/training-data.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import { mostRowsOf } from '../networks/penalties.ts';
import type { SweepShard } from '../networks/sweep-shard.ts';
import { trainShards } from '../networks/train-shards.ts';
import type { SweepPlan } from './sweep-options.ts';

/** Networks of one split with what is needed to apply them. */
export interface FittedNetworks {
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly (readonly LayerWeights[])[];
  /** What each network gives the held-out rows. */
  readonly outputs: readonly Float32Array[];
  readonly warnings: readonly string[];
  /** Rows that a step learned from. */
  readonly batchSize: number;
}

/** Trains the networks of all splits, shard by shard. */
export async function fitSplits(
  training: TrainingData,
  splits: readonly Split[],
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  options: SweepPlan,
): Promise<FittedNetworks[]> {
  const prepared = splits.map((split) => prepareSplit(training, split, options.seed));
  const size = Math.min(traitsOf(backend).networksAtOnce, options.etas.length);
  const parts = Array.from({ length: Math.ceil(options.etas.length / size) }, (_, part) =>
    options.etas.slice(part * size, (part + 1) * size),
  );
  // Once for all, so that folds of sizes a row apart do not differ in it.
  const batchSize = chooseBatchSize(tf, options.batchSize, {
    rows: Math.min(...prepared.map(({ train }) => train.y.length)),
    models: size,
    hidden: options.hidden,
    groups: training.rows.groups.labels.length,
    mostRows: mostRowsOf(options.penalty),
  });
  const shards = prepared.flatMap(({ train, validation, heldOut }) =>
    parts.map((etas): SweepShard => {
      const spec = {
        etas,
        penalty: options.penalty,
        task: 'binary',
        groupCount: train.groupCount,
        seed: options.seed,
      } as const;
      return { train, validation, heldOut, spec, backend, options: { ...pickTraining(options), batchSize } };
    }),
  );
  const trained = await trainShards(shards, options);
  return prepared.map(({ specs, warnings, heldOut }, split) => {
    const own = trained.slice(split * parts.length, (split + 1) * parts.length);
    const n = heldOut.y.length;
    const outputs = own.flatMap((shard) =>
      shard.weights.map((_, model) => shard.heldOut.subarray(model * n, (model + 1) * n)),
    );
    return { specs, warnings, outputs, batchSize, weights: own.flatMap((shard) => shard.weights) };
  });
}

/** What a thread needs of the options. */
function pickTraining(options: SweepPlan): Omit<SweepShard['options'], 'batchSize'> {
  const { epochs, lr, hidden, patience, weightDecay, schedule, seed } = options;
  return { epochs, lr, hidden, patience, weightDecay, schedule, seed };
}

/** Rows of one split, encoded. */
interface PreparedSplit {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly heldOut: NetworkRows;
  readonly specs: readonly FeatureSpec[];
  readonly warnings: readonly string[];
}

function prepareSplit(training: TrainingData, { train, test }: Split, seed: number): PreparedSplit {
  const { specs, warnings } = fitFeatures(train.table, training.features);
  const [fitting, validation] = setAside(strata(train), seed);
  const encode = (rows: TrainingRows): NetworkRows => ({
    x: encodeFeatures(rows.table, specs),
    y: Float32Array.from(rows.y),
    groups: rows.groups.codes,
    inputs: encodedWidth(specs),
    groupCount: training.rows.groups.labels.length,
  });
  return {
    train: encode(takeTrainingRows(train, fitting)),
    validation: encode(takeTrainingRows(train, validation)),
    heldOut: encode(test),
    specs,
    warnings,
  };
}

/** What one network, by its place, gives the held-out rows of all splits. */
export function joinOutputs(fits: readonly FittedNetworks[], model: number): Float32Array {
  return Float32Array.from(fits.flatMap(({ outputs }) => [...(outputs[model] ?? [])]));
}

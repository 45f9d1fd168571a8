import type { Tensor2D } from '@tensorflow/tfjs';

import {
  type BatchRows,
  createRowChunks,
  largestTensor,
  type NetworkRows,
  readTogether,
  takeBatchRows,
  type Tf,
  weightOf,
} from '../../tensor/index.ts';
import type { NetworkProblem } from './network-problem.ts';
import type { Judgement, LossJudge, OutputJudge } from './objective.ts';
import { rowParts } from './row-parts.ts';
import type { StackedNetwork } from './stacked-network.ts';

/** Judges networks after each epoch, with one reading of the device. */
export interface NetworkJudge {
  judge(epoch: number): Promise<Judgement>;
  dispose(): void;
}

/** Makes the judge that an objective asks for; what it needs of the rows stays where the network is. */
export function createNetworkJudge(
  tf: Tf,
  network: StackedNetwork,
  { objective, train, validation, names }: NetworkProblem,
): NetworkJudge {
  const { judge } = objective;
  if (judge.kind === 'outputs') return judgeOutputs(tf, network, train, validation, judge);
  return judgeLosses(tf, network, validation, judge, names.length);
}

/** By the mean loss of each model on the validation rows. */
function judgeLosses(
  tf: Tf,
  network: StackedNetwork,
  validation: NetworkRows,
  { losses, mostRows }: LossJudge,
  models: number,
): NetworkJudge {
  const parts = rowParts(validation.y.length, mostRows ?? mostTogether(tf, validation, models));
  const rows: BatchRows[] = parts.map((picked) => takeBatchRows(tf, validation, picked));
  const whole = weightOf(validation);
  const shares = parts.map((picked) => weightOf(validation, picked) / whole);
  // Part after part, so that the outputs of each lie together.
  const chunks = createRowChunks(tf, inOrderOf(validation, parts), network.rowsAtOnce);
  return {
    async judge() {
      const perPart = tf.tidy(() => {
        const outputs = chunks.map((x) => network.forward(x).outputs);
        let start = 0;
        const each = rows.map((part) => {
          const size = part.shares.shape[0];
          const ofPart = parts.length === 1 ? outputs : outputs.slice<Tensor2D>([0, start], [models, size]);
          start += size;
          return losses(ofPart, part);
        });
        return tf.stack(each);
      });
      try {
        const [values = new Float32Array(0)] = await readTogether(tf, [perPart]);
        return { scores: weightedMeans(values, shares, models) };
      } finally {
        perPart.dispose();
      }
    },
    dispose() {
      chunks.dispose();
      tf.dispose(rows.flatMap(({ labels, membership, shares: ofRows }) => [labels, membership, ofRows]));
    },
  };
}

/** The most rows whose membership and outputs are tensors of the backend. */
function mostTogether(tf: Tf, { groupCount }: NetworkRows, models: number): number {
  return Math.max(1, Math.floor(largestTensor(tf) / Math.max(groupCount, models)));
}

/** The mean of each model over parts, [k], from [parts, k]. */
function weightedMeans(values: Float32Array, shares: readonly number[], models: number): Float64Array {
  const means = new Float64Array(models);
  for (const [part, share] of shares.entries()) {
    for (let model = 0; model < models; model++) {
      means[model] = (means[model] as number) + share * (values[part * models + model] as number);
    }
  }
  return means;
}

/** Rows in another order; only what goes through a network. */
function inOrderOf(rows: NetworkRows, parts: readonly Int32Array[]): NetworkRows {
  if (parts.length === 1) return rows;
  const { inputs } = rows;
  const x = new Float32Array(rows.x.length);
  let place = 0;
  for (const row of parts.flatMap((part) => [...part])) {
    x.set(rows.x.subarray(row * inputs, (row + 1) * inputs), place++ * inputs);
  }
  return { ...rows, x };
}

/** By what each model gives all rows, on the host. */
function judgeOutputs(
  tf: Tf,
  network: StackedNetwork,
  train: NetworkRows,
  validation: NetworkRows,
  objective: OutputJudge,
): NetworkJudge {
  const chunks = [train, validation].map((rows) => createRowChunks(tf, rows, network.rowsAtOnce));
  return {
    async judge(epoch) {
      const outputs = tf.tidy(() => chunks.map((rows) => rows.map((x) => network.forward(x).outputs)));
      try {
        const values = await readTogether(tf, [...outputs, ...objective.watched]);
        const [ofTrain, ofValidation, ...watched] = values as [Float32Array, Float32Array, ...Float32Array[]];
        return objective.judge(epoch, { train: ofTrain, validation: ofValidation, watched });
      } finally {
        tf.dispose(outputs);
      }
    },
    dispose() {
      for (const rows of chunks) rows.dispose();
    },
  };
}

import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { sumOf } from '../../internal/values.ts';
import { CELLS_PER_GROUP, cellIndex } from '../../metrics/statistics/group-stats.ts';
import {
  areTensors,
  groupColumnTable,
  type NetworkData,
  type NetworkTensors,
  readTogether,
  type Slice,
  type Tf,
} from '../../tensor/index.ts';
import { decide } from '../estimators/estimator-rows.ts';
import { crossEntropy } from '../logistic.ts';
import { rowErrors } from '../networks/network-task.ts';

/** The outputs of k networks, [k, n]: an array, or a tensor if the rows are tensors. */
export type Outputs = Float32Array | Tensor2D;

/** The decisions of a network, [n], in the same form as its outputs. */
export type Decisions = Uint8Array | Tensor1D;

/** The number of pairs of a label and two decisions. */
const PAIRS = 8;

/** The decisions and losses of one network, summed over rows. */
export interface JudgedOutputs {
  /**
   * The number of rows by group, label, reference decision and own decision, [groups x 8]. Without a reference, all
   * reference decisions are 0.
   */
  readonly pairs: Float64Array;
  /** The sum of the rows' binary cross-entropy. */
  readonly loss: number;
}

/** Options of {@link judgeOutputs}. */
interface JudgeOptions {
  /** The number of networks, k. */
  readonly models: number;
  /** The number of groups of the rows. */
  readonly groupCount: number;
  /** The decisions with which each network's decisions are paired. */
  readonly reference?: Decisions | undefined;
}

/** Returns the index of a pair of decisions in {@link JudgedOutputs}. */
export function pairIndex(group: number, label: 0 | 1, before: 0 | 1, after: 0 | 1): number {
  return PAIRS * group + 4 * label + 2 * before + after;
}

/** Counts pairs of decisions of two models on the same rows. */
export function countPairs(
  before: ArrayLike<number> | undefined,
  after: ArrayLike<number>,
  {
    y,
    codes,
    groupCount,
  }: {
    readonly y: ArrayLike<number>;
    readonly codes: ArrayLike<number>;
    readonly groupCount: number;
  },
): Float64Array {
  const pairs = new Float64Array(PAIRS * groupCount);
  for (let row = 0; row < y.length; row++) {
    const [label, one, other] = [y[row], before?.[row] ?? 0, after[row]] as [0 | 1, 0 | 1, 0 | 1];
    const pair = pairIndex(codes[row] as number, label, one, other);
    pairs[pair] = (pairs[pair] as number) + 1;
  }
  return pairs;
}

/** Returns the counts of a network's own decisions, by group and `cellIndex`. */
export function decisionCounts(pairs: Float64Array): Float64Array {
  const groups = pairs.length / PAIRS;
  const counts = new Float64Array(groups * CELLS_PER_GROUP);
  for (let group = 0; group < groups; group++) {
    for (const label of [0, 1] as const) {
      for (const after of [0, 1] as const) {
        const count = ([0, 1] as const).map((before) => pairs[pairIndex(group, label, before, after)] as number);
        counts[group * CELLS_PER_GROUP + cellIndex(label, after)] = (count[0] as number) + (count[1] as number);
      }
    }
  }
  return counts;
}

/** Returns the outputs of one network of k, [n]. Call it inside `tf.tidy` if the outputs are a tensor. */
function outputsOf(tf: Tf, outputs: Tensor2D, model: number): Tensor1D {
  // On wasm, a slice copies all outputs first.
  return tf.gather(outputs, [model]).flatten();
}

/**
 * Returns the decisions of the first network: 1 if the logit is at least 0, which means that the probability is at least
 * 0.5. The caller disposes of a tensor.
 */
export function firstDecisions(tf: Tf, outputs: Outputs, rows: number): Decisions {
  if (outputs instanceof Float32Array) return decide(outputs.subarray(0, rows), 0);
  return tf.tidy(() => outputsOf(tf, outputs, 0).greaterEqual(0).cast<Tensor1D>('float32'));
}

/**
 * Counts the decisions of k networks and sums their losses, where the rows are. Only the sums are read, for all networks
 * together.
 */
export async function judgeOutputs(
  tf: Tf,
  outputs: Outputs,
  rows: NetworkData,
  options: JudgeOptions,
): Promise<JudgedOutputs[]> {
  if (areTensors(rows)) {
    return judgeTensors(tf, outputs as Tensor2D, rows, options);
  }
  const { models, groupCount, reference } = options;
  const n = rows.y.length;
  return Array.from({ length: models }, (_, model) => {
    const logits = (outputs as Float32Array).subarray(model * n, (model + 1) * n);
    const given = { y: rows.y, codes: rows.groups, groupCount };
    return {
      pairs: countPairs(reference as Uint8Array | undefined, decide(logits, 0), given),
      loss: logits.reduce((sum, logit, row) => sum + crossEntropy(logit, rows.y[row] as number), 0),
    };
  });
}

async function judgeTensors(
  tf: Tf,
  outputs: Tensor2D,
  rows: NetworkTensors,
  { models, groupCount, reference }: JudgeOptions,
): Promise<JudgedOutputs[]> {
  const size = PAIRS * groupCount;
  const tables = tf.tidy(() => {
    const labels: Tensor1D = rows.y.flatten();
    const before = (reference as Tensor1D | undefined) ?? tf.zerosLike(labels);
    // The pair of each row, without the own decision.
    const pairs = rows.groups.flatten().mul(PAIRS).add(labels.mul(4)).add<Tensor1D>(before.mul(2));
    return Array.from({ length: models }, (_, model) =>
      tf.tidy(() => {
        const logits = outputsOf(tf, outputs, model);
        const cells = {
          rows: labels.size,
          cells: size,
          codesOf: (slice: Slice) =>
            slice(pairs).add(slice(logits).greaterEqual(0).cast('float32')).cast<Tensor1D>('int32'),
        };
        return groupColumnTable(tf, cells, 2, (slice) => [
          tf.onesLike(slice(labels)),
          rowErrors(tf, 'binary', slice(logits), slice(labels)),
        ]);
      }),
    );
  });
  try {
    return (await readTogether(tf, tables)).map((table) => ({
      pairs: Float64Array.from(table.subarray(0, size)),
      loss: sumOf(table.subarray(size)),
    }));
  } finally {
    tf.dispose(tables);
  }
}

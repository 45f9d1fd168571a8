import type { Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import { createAdam } from '../../ops/adam.ts';
import { createBatches, createRowChunks, type NetworkRows, readTogether } from '../../ops/batches.ts';
import { joinParameters, splitParameters } from '../../ops/parameters.ts';
import { rectifierGradient, sharedDense, stackedDense, timesTransposed } from '../../ops/stacked-dense.ts';
import { each, ofModels, partOf, product, turned } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import {
  between,
  codes,
  EXACT,
  hostCase,
  QUOTIENT,
  roundings,
  spread,
  SQUARE_ROOT,
  sumOf,
  tensorCase,
  uniform,
} from '../pose.ts';

const RATES = [0.1, 0.1, 0.05, 0.01, 0.2] as const;

/**
 * Computes Adam with decoupled weight decay, as defined by Kingma and Ba (algorithm 1) and Loshchilov and Hutter
 * (algorithm 2).
 */
function adamOf(start: number, gradients: readonly number[], decay: number): number {
  let [weight, mean, square] = [start, 0, 0];
  for (const [index, gradient] of gradients.entries()) {
    const rate = RATES[index] as number;
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const [unbiased, spreadOf] = [mean / (1 - 0.9 ** (index + 1)), square / (1 - 0.999 ** (index + 1))];
    weight -= rate * (unbiased / (Math.sqrt(spreadOf) + 1e-8) + decay * weight);
  }
  return weight;
}

const ADAM: readonly NumericsCase[] = [0, 0.1].map((weightDecay) => ({
  op: 'createAdam',
  name: `five steps of 257 weights, gradients of 12 orders of magnitude, decay ${String(weightDecay)}`,
  // A step is at most 10 times its rate. It has a dozen roundings, a square root and a quotient.
  tolerance: RATES.length * (SQUARE_ROOT + QUOTIENT + roundings(12)),
  reads: 1,
  run: async (tf) => {
    const start = uniform(1, 257);
    const gradients = RATES.map((_, step) => spread(step + 2, 257, -6, 6));
    const weights = tf.tidy(() => tf.variable(tf.tensor1d(start)));
    const adam = createAdam(tf, weights, { weightDecay });
    try {
      for (const [step, gradient] of gradients.entries()) {
        tf.tidy(() => {
          adam.step(tf.tensor1d(gradient), RATES[step] as number);
        });
      }
      const ofWeight = (index: number): number[] => gradients.map((gradient) => gradient[index] as number);
      return {
        actual: (await weights.data()) as Float32Array,
        expected: each(start, (weight, index) => adamOf(weight, ofWeight(index), weightDecay)),
      };
    } finally {
      adam.dispose();
      weights.dispose();
    }
  },
}));

/** The numbers of rows, features and groups, and the batch size. The last batch is smaller. */
const [N, D, G, BATCH] = [257, 5, 3, 100];

function networkRows(isWeighed: boolean): NetworkRows {
  return {
    x: uniform(11, N * D),
    y: Float32Array.from(codes(12, N, 2)),
    groups: codes(13, N, G + 1).map((code) => code - 1),
    weights: isWeighed ? between(14, N, 0.5, 1) : undefined,
    inputs: D,
    groupCount: G,
  };
}

/** Computes a batch from its definition: the features, labels, memberships and shares of the given rows. */
function batchOf({ x, y, groups, weights }: NetworkRows, picked: readonly number[]): number[][] {
  const weightOf = (row: number): number => weights?.[row] ?? 1;
  const total = picked.reduce((sum, row) => sum + weightOf(row), 0);
  return [
    picked.flatMap((row) => [...x.slice(row * D, (row + 1) * D)]),
    picked.map((row) => y[row] as number),
    picked.flatMap((row) => Array.from({ length: G }, (_, g) => (groups[row] === g ? weightOf(row) / total : 0))),
    picked.map((row) => weightOf(row) / total),
  ];
}

const BATCHES: readonly NumericsCase[] = [false, true].map((isWeighed) => ({
  op: 'createBatches',
  name: `three batches of 257 rows in another order, one short, ${isWeighed ? 'with' : 'without'} weights`,
  tolerance: roundings(2),
  reads: 12,
  run: async (tf) => {
    const rows = networkRows(isWeighed);
    const order = Array.from({ length: N }, (_, index) => (index * 7) % N);
    const batches = createBatches(tf, rows, BATCH);
    try {
      batches.reorder(Int32Array.from(order));
      const actual: number[] = [];
      for (let index = 0; index < batches.count; index++) {
        // The batches dispose of their own tensors; the copies are disposed of here.
        const copies = tf.tidy(() => {
          const { x, labels, membership, shares } = batches.take(index);
          return [x, labels, membership, shares].map((tensor) => tensor.clone());
        });
        for (const copy of copies) actual.push(...(await copy.data()));
        tf.dispose(copies);
      }
      const parts = [0, 1, 2].map((index) => order.slice(index * BATCH, (index + 1) * BATCH));
      return { actual, expected: parts.flatMap((part) => batchOf(rows, part).flat()) };
    } finally {
      batches.dispose();
    }
  },
}));

const CHUNKS: NumericsCase = {
  op: 'createRowChunks',
  name: 'the sums of 257 rows, 100 at once',
  tolerance: sumOf(D),
  reads: 1,
  run: async (tf) => {
    const rows = networkRows(false);
    const chunks = createRowChunks(tf, rows, BATCH);
    const sums = tf.tidy(() => chunks.map((x) => x.sum(1).reshape<Tensor2D>([1, -1])));
    try {
      const actual = (await sums.data()) as Float32Array;
      return { actual, expected: product(rows.x, new Float64Array(D).fill(1), N, D, 1) };
    } finally {
      sums.dispose();
      chunks.dispose();
    }
  },
};

const PARTS: readonly NumericsCase[] = [
  hostCase({ op: 'readTogether', name: 'three tensors in one read', tolerance: EXACT, reads: 1 }, () => {
    const values = [uniform(15, 1), uniform(16, 257), uniform(17, 33)] as const;
    return {
      given: (tf) => ({ a: tf.tensor1d(values[0]), b: tf.tensor1d(values[1]), c: tf.tensor2d(values[2], [3, 11]) }),
      ask: (tf, { a, b, c }) => readTogether(tf, [a, b, c]),
      expected: [...values],
    };
  }),
  tensorCase(
    { op: 'splitParameters', name: 'of 3 models, and joined again by joinParameters', tolerance: EXACT, answers: 3 },
    () => {
      const values = uniform(18, 3 * 38);
      const shapes = [
        { rows: 5, columns: 7 },
        { rows: 3, columns: 1 },
      ];
      return {
        ask: (tf) => {
          const parts = splitParameters(tf.tensor2d(values, [3, 38]), shapes);
          return [...parts, joinParameters(tf, parts, 3)];
        },
        expected: [
          ofModels(3, (model) => partOf(values, model, 3).slice(0, 35)),
          ofModels(3, (model) => partOf(values, model, 3).slice(35)),
          values,
        ],
      };
    },
  ),
  tensorCase({ op: 'timesTransposed', name: 'matrices, and stacks of them', tolerance: sumOf(33), answers: 2 }, () => {
    const [a, b] = [uniform(19, 3 * 5 * 33), uniform(20, 3 * 7 * 33)];
    const of = (left: readonly number[], right: readonly number[], n: number, m: number): number[] =>
      product(left, turned(right, m, 33), n, 33, m);
    return {
      ask: (tf) => [
        timesTransposed(tf, tf.tensor2d(a, [15, 33]), tf.tensor2d(b, [21, 33])),
        timesTransposed<Tensor3D>(tf, tf.tensor3d(a, [3, 5, 33]), tf.tensor3d(b, [3, 7, 33])),
      ],
      expected: [
        of([...a], [...b], 15, 21),
        ofModels(3, (model) => of(partOf(a, model, 3), partOf(b, model, 3), 5, 7)),
      ],
    };
  }),
  tensorCase({ op: 'rectifierGradient', name: 'is 0 at 0 and below', tolerance: EXACT }, () => {
    const flow = uniform(21, 257);
    const passed = uniform(22, 257).map((value, index) => (index % 5 === 0 ? 0 : value));
    return {
      ask: (tf) => rectifierGradient(tf, tf.tensor1d(flow), tf.tensor1d(passed)),
      expected: each(flow, (value, index) => ((passed[index] as number) > 0 ? value : 0)),
    };
  }),
  tensorCase({ op: 'sharedDense', name: 'and stackedDense with a rectifier', tolerance: sumOf(7), answers: 2 }, () => {
    const [x, w, b] = [uniform(23, 2 * 7 * 257), uniform(24, 2 * 3 * 7), uniform(25, 2 * 3)];
    const layer = (z: readonly number[], kernel: readonly number[], bias: readonly number[], q: number): number[] =>
      each(product(kernel, z, q, 7, 257), (sum, position) =>
        Math.max(0, sum + (bias[Math.floor(position / 257)] as number)),
      );
    return {
      ask: (tf) => [
        sharedDense(
          tf,
          tf.tensor2d(x.slice(0, 1799), [7, 257]),
          tf.tensor2d(w, [6, 7]),
          tf.tensor2d(b, [6, 1]),
          'relu',
        ),
        stackedDense(tf, tf.tensor3d(x, [2, 7, 257]), tf.tensor3d(w, [2, 3, 7]), tf.tensor3d(b, [2, 3, 1]), 'relu'),
      ],
      expected: [
        layer([...x.slice(0, 1799)], [...w], [...b], 6),
        ofModels(2, (model) => layer(partOf(x, model, 2), partOf(w, model, 2), partOf(b, model, 2), 3)),
      ],
    };
  }),
];

/** Cases for the parts of a training step other than layers and losses. */
export const TRAINING_CASES: readonly NumericsCase[] = [...ADAM, ...BATCHES, CHUNKS, ...PARTS];

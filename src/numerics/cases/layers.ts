import type { Tensor2D, Tensor3D } from '@tensorflow/tfjs';

import {
  createAdam,
  createBatches,
  createRowChunks,
  joinParameters,
  type NetworkRows,
  readTogether,
  rectifierGradient,
  sharedDense,
  sharedDenseGradients,
  splitParameters,
  stackedDense,
  stackedDenseGradients,
  timesTransposed,
} from '../../tensor/index.ts';
import { each, ofModels, partOf, product, rowSums, turned } from '../float64.ts';
import { between, codes, spread, uniform } from '../inputs.ts';
import { hostCase, type NumericsCase, tensorCase, vectors } from '../numerics-case.ts';
import { EXACT, QUOTIENT, roundings, SQUARE_ROOT, sumOf } from '../tolerances.ts';

/** The number of rows, the number of features, and the number of units of a first layer. */
const SHARED: readonly (readonly [n: number, d: number, units: number])[] = [
  [1, 1, 1],
  [3, 33, 5],
  [255, 7, 33],
  [257, 107, 4],
];

/** Computes the output of a layer: the matrix product plus the bias of each unit. */
function layer(
  w: ArrayLike<number>,
  x: ArrayLike<number>,
  b: ArrayLike<number>,
  q: number,
  p: number,
  n: number,
): number[] {
  return each(product(w, x, q, p, n), (sum, index) => sum + (b[Math.floor(index / n)] as number));
}

const SHARED_CASES: readonly NumericsCase[] = SHARED.flatMap(([n, d, units]) => {
  const sizes = `${String(units)} units, ${String(d)} features, ${String(n)} rows`;
  return [
    tensorCase({ op: 'sharedDense', name: sizes, tolerance: sumOf(d) + roundings(1) }, () => {
      const [x, w, b] = [uniform(1, d * n), uniform(2, units * d), uniform(3, units)];
      return {
        ask: (tf) => sharedDense(tf, tf.tensor2d(x, [n, d]), tf.tensor2d(w, [units, d]), tf.tensor2d(b, [units, 1])),
        expected: layer(w, turned(x, n, d), b, units, d, n),
      };
    }),
    tensorCase({ op: 'sharedDenseGradients', name: sizes, tolerance: sumOf(n), reads: 2 }, () => {
      const [rows, flow] = [uniform(1, n * d), uniform(4, units * n)];
      return {
        ask: (tf) => sharedDenseGradients(tf, tf.tensor2d(rows, [n, d]), tf.tensor2d(flow, [units, n])),
        expected: [product(flow, rows, units, n, d), rowSums(flow, units, n)],
      };
    }),
  ];
});

/** The sizes of a case: the number of models, of units of the layer, of units of the previous layer, and of rows. */
const STACKED: readonly (readonly [k: number, q: number, p: number, n: number])[] = [
  [1, 1, 1, 1],
  [3, 1, 33, 257],
  [5, 4, 3, 255],
  [2, 33, 5, 3],
];

const STACKED_CASES: readonly NumericsCase[] = STACKED.flatMap(([k, q, p, n]) => {
  const sizes = `${String(k)} models, ${String(q)} units on ${String(p)}, ${String(n)} rows`;
  return [
    tensorCase({ op: 'stackedDense', name: sizes, tolerance: sumOf(p) + roundings(1) }, () => {
      const [z, w, b] = [uniform(5, k * p * n), uniform(6, k * q * p), uniform(7, k * q)];
      return {
        ask: (tf) => stackedDense(tf, tf.tensor3d(z, [k, p, n]), tf.tensor3d(w, [k, q, p]), tf.tensor3d(b, [k, q, 1])),
        expected: ofModels(k, (m) => layer(partOf(w, m, k), partOf(z, m, k), partOf(b, m, k), q, p, n)),
      };
    }),
    tensorCase({ op: 'stackedDenseGradients', name: sizes, tolerance: sumOf(Math.max(n, q)), reads: 3 }, () => {
      const [z, w, flow] = [uniform(5, k * p * n), uniform(6, k * q * p), uniform(8, k * q * n)];
      return {
        ask: (tf) =>
          stackedDenseGradients(tf, tf.tensor3d(z, [k, p, n]), tf.tensor3d(w, [k, q, p]), tf.tensor3d(flow, [k, q, n])),
        expected: [
          ofModels(k, (m) => product(partOf(flow, m, k), turned(partOf(z, m, k), p, n), q, n, p)),
          rowSums(flow, k * q, n),
          ofModels(k, (m) => product(turned(partOf(w, m, k), q, p), partOf(flow, m, k), p, q, n)),
        ],
      };
    }),
  ];
});

/** Cases for the layers of networks, and their gradients. */
export const LAYER_CASES: readonly NumericsCase[] = [...SHARED_CASES, ...STACKED_CASES];

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

const ADAM: readonly NumericsCase[] = [0, 0.1].map((weightDecay) => {
  const name = `five steps of 257 weights, gradients of 12 orders of magnitude, decay ${String(weightDecay)}`;
  // A step is at most 10 times its learning rate. A step has a dozen roundings, a square root and a quotient.
  const tolerance = RATES.length * (SQUARE_ROOT + QUOTIENT + roundings(12));
  return hostCase({ op: 'createAdam', name, tolerance }, () => {
    const start = uniform(1, 257);
    const gradients = RATES.map((_, step) => spread(step + 2, 257, -6, 6));
    return {
      given: (tf) => {
        const weights = tf.tidy(() => tf.variable(tf.tensor1d(start)));
        return { adam: createAdam(tf, weights, { weightDecay }), weights };
      },
      ask: (tf, { adam, weights }) => {
        for (const [step, gradient] of gradients.entries()) {
          tf.tidy(() => {
            adam.step(tf.tensor1d(gradient), RATES[step] as number);
          });
        }
        return weights.data<'float32'>();
      },
      expected: each(start, (weight, index) =>
        adamOf(
          weight,
          gradients.map((gradient) => gradient[index] as number),
          weightDecay,
        ),
      ),
    };
  });
});

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

/** Computes a batch with plain loops: the features, labels, memberships and shares of the given rows. */
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

const BATCHES: readonly NumericsCase[] = [false, true].map((isWeighed) => {
  const name = `three batches of 257 rows in another order, one short, ${isWeighed ? 'with' : 'without'} weights`;
  return hostCase({ op: 'createBatches', name, tolerance: roundings(2), reads: 12 }, () => {
    const rows = networkRows(isWeighed);
    const order = Array.from({ length: N }, (_, index) => (index * 7) % N);
    return {
      given: (tf) => ({ batches: createBatches(tf, rows, BATCH) }),
      ask: async (tf, { batches }) => {
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
        return actual;
      },
      expected: [0, 1, 2].flatMap((index) => batchOf(rows, order.slice(index * BATCH, (index + 1) * BATCH)).flat()),
    };
  });
});

/** Cases for the parts of a training step other than layers and losses. */
export const TRAINING_CASES: readonly NumericsCase[] = [
  ...ADAM,
  ...BATCHES,
  hostCase({ op: 'createRowChunks', name: 'the sums of 257 rows, 100 at once', tolerance: sumOf(D) }, () => {
    const rows = networkRows(false);
    return {
      given: (tf) => {
        const chunks = createRowChunks(tf, rows, BATCH);
        return { chunks, sums: tf.tidy(() => chunks.map((x) => x.sum(1).reshape<Tensor2D>([1, -1]))) };
      },
      ask: (_, { sums }) => sums.data<'float32'>(),
      expected: rowSums(rows.x, N, D),
    };
  }),
  hostCase({ op: 'readTogether', name: 'three tensors in one read', tolerance: EXACT }, () => {
    const [a, b, c] = [uniform(15, 1), uniform(16, 257), uniform(17, 33)];
    return {
      given: (tf) => ({ ...vectors(tf, { a, b }), c: tf.tensor2d(c, [3, 11]) }),
      ask: (tf, tensors) => readTogether(tf, [tensors.a, tensors.b, tensors.c]),
      expected: [a, b, c],
    };
  }),
  tensorCase(
    { op: 'splitParameters', name: 'of 3 models, and joined again by joinParameters', tolerance: EXACT, reads: 3 },
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
  tensorCase({ op: 'timesTransposed', name: 'matrices, and stacks of them', tolerance: sumOf(33), reads: 2 }, () => {
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
  tensorCase({ op: 'sharedDense', name: 'and stackedDense with a rectifier', tolerance: sumOf(7), reads: 2 }, () => {
    const [x, w, b] = [uniform(23, 2 * 7 * 257), uniform(24, 2 * 3 * 7), uniform(25, 2 * 3)];
    const first = x.slice(0, 7 * 257);
    return {
      ask: (tf) => [
        sharedDense(tf, tf.tensor2d(first, [257, 7]), tf.tensor2d(w, [6, 7]), tf.tensor2d(b, [6, 1]), 'relu'),
        stackedDense(tf, tf.tensor3d(x, [2, 7, 257]), tf.tensor3d(w, [2, 3, 7]), tf.tensor3d(b, [2, 3, 1]), 'relu'),
      ],
      expected: [
        layer(w, turned(first, 257, 7), b, 6, 7, 257),
        ofModels(2, (model) => layer(partOf(w, model, 2), partOf(x, model, 2), partOf(b, model, 2), 3, 7, 257)),
      ].map((sums) => each(sums, (sum) => Math.max(0, sum))),
    };
  }),
];

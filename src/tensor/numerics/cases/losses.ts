import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { bceFromLogits, bceGradient } from '../../ops/bce-from-logits.ts';
import { largestGap, softRates, squaredGapGradient } from '../../ops/soft-rates.ts';
import type { Tf } from '../../runtime.ts';
import { columnSums, each, ofModels, partOf, product, sigmoid, softplus } from '../float64.ts';
import type { NumericsCase } from '../numerics-case.ts';
import {
  between,
  codes,
  meanOf,
  memberships,
  roundings,
  SIGMOID,
  SOFTPLUS,
  sumOf,
  tensorCase,
  uniform,
} from '../pose.ts';

/** The rows for which a loss is computed. */
interface LogitRows {
  /** [k, n] */
  readonly logits: Float32Array;
  readonly labels: Float32Array;
  readonly shares: Float32Array;
}

/**
 * Generates logits of k models on n rows, with labels and shares of the mean. The first rows have logits of +-1e4, 30
 * and 0.
 */
function logitRows(k: number, n: number): LogitRows {
  const extreme = [1e4, -1e4, 30, -30, 0];
  const logits = between(n, k * n, -6, 12).map((value, index) => extreme[index % n] ?? value);
  const labels = Float32Array.from(codes(n + 1, n, 2));
  const weights = between(n + 2, n, 0.5, 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return { logits, labels, shares: weights.map((weight) => weight / total) };
}

/** Computes -share (posWeight y log p + (1 - y) log(1 - p)) of one row, where p is the sigmoid of the logit. */
function lossOf(logit: number, label: number, share: number, posWeight: number): number {
  return share * (label === 1 ? posWeight * softplus(-logit) : softplus(logit));
}

/** Computes the derivative of the loss: share (p - 1) posWeight for a positive row, share p for a negative row. */
function gradientOf(logit: number, label: number, share: number, posWeight: number): number {
  return share * (label === 1 ? posWeight * (sigmoid(logit) - 1) : sigmoid(logit));
}

const BCE: readonly NumericsCase[] = (
  [
    [1, 1, 1],
    [3, 257, 1],
    [2, 4097, 3],
  ] as const
).flatMap(([k, n, posWeight]) => {
  const name = `${String(k)} models, ${String(n)} rows, positives counted ${String(posWeight)} times, logits of +-1e4`;
  const rowwise = (work: typeof lossOf): number[] => {
    const { logits, labels, shares } = logitRows(k, n);
    return each(logits, (logit, index) =>
      work(logit, labels[index % n] as number, shares[index % n] as number, posWeight),
    );
  };
  const ask = (tf: Tf, logits: Tensor2D): Tensor1D => {
    const { labels, shares } = logitRows(k, n);
    return bceFromLogits(tf, logits, tf.tensor2d(labels, [1, n]), tf.tensor2d(shares, [n, 1]), posWeight);
  };
  return [
    // With a logit of 1e4 on a wrong label, partial sums are no larger than the loss itself.
    tensorCase({ op: 'bceFromLogits', name, tolerance: posWeight * SOFTPLUS + sumOf(n) }, () => ({
      ask: (tf) => ask(tf, tf.tensor2d(logitRows(k, n).logits, [k, n])),
      expected: ofModels(k, (model) => [partOf(rowwise(lossOf), model, k).reduce((sum, loss) => sum + loss, 0)]),
    })),
    tensorCase({ op: 'bceSlope', name, tolerance: posWeight * (SIGMOID + roundings(3)) }, () => ({
      ask: (tf) => {
        const { logits, labels, shares } = logitRows(k, n);
        const scores = tf.sigmoid(tf.tensor2d(logits, [k, n]));
        return bceGradient(tf, scores, tf.tensor2d(labels, [1, n]), tf.tensor2d(shares, [n, 1]), posWeight);
      },
      expected: rowwise(gradientOf),
    })),
    tensorCase(
      { op: 'bceFromLogits', name: `its gradient: ${name}`, tolerance: posWeight * (SIGMOID + roundings(3)) },
      () => ({
        ask: (tf) =>
          tf.grad((logits) => ask(tf, logits as Tensor2D).sum())(tf.tensor2d(logitRows(k, n).logits, [k, n])),
        expected: rowwise(gradientOf),
      }),
    ),
  ];
});

/** The numbers of models, rows, groups, and groups without rows. */
const GROUPED: readonly (readonly [k: number, n: number, g: number, empty: number])[] = [
  [1, 1, 1, 0],
  [2, 3, 2, 1],
  [3, 257, 33, 2],
  [1, 4097, 5, 1],
];

/**
 * The weight of each group, [g], and its weighted mean score under each model, [k, g]; 0 for a group without rows.
 */
interface GroupMeans {
  readonly weights: number[];
  readonly means: number[];
}

function groupMeans(scores: Float32Array, membership: Float32Array, k: number, n: number, g: number): GroupMeans {
  const weights = columnSums(membership, n, g);
  const sums = product(scores, membership, k, n, g);
  return { weights, means: each(sums, (sum, index) => ratio(sum, weights[index % g] as number)) };
}

function ratio(sum: number, weight: number): number {
  return weight > 0 ? sum / weight : 0;
}

/**
 * The groups with the largest and the smallest mean under one model, and the difference of these means. Absent groups
 * are ignored.
 */
interface Gap {
  readonly highest: number;
  readonly lowest: number;
  readonly gap: number;
  readonly isGap: boolean;
}

function gapOf(means: readonly number[], weights: readonly number[]): Gap {
  const present = [...weights.keys()].filter((group) => (weights[group] as number) > 0);
  const byMean = present.sort((a, b) => (means[b] as number) - (means[a] as number));
  const [highest = 0, lowest = 0] = [byMean[0], byMean.at(-1)];
  return { highest, lowest, gap: (means[highest] as number) - (means[lowest] as number), isGap: present.length > 1 };
}

/**
 * Computes the gradient with respect to the scores, [k, n], of a function of the largest gap, given the function's
 * derivative. A row contributes to its group's mean by its share.
 */
function gapGradients(
  { membership, means, weights }: GroupRows,
  k: number,
  n: number,
  g: number,
  gradient: (gap: number) => number,
): number[] {
  const share = (row: number, group: number): number =>
    ratio(membership[row * g + group] as number, weights[group] as number);
  return ofModels(k, (model) => {
    const { highest, lowest, gap, isGap } = gapOf(partOf(means, model, k), weights);
    const factor = isGap ? gradient(gap) : 0;
    return Array.from({ length: n }, (_, row) => factor * (share(row, highest) - share(row, lowest)));
  });
}

/** Rows in groups, and the groups' means. */
interface GroupRows extends GroupMeans {
  readonly scores: Float32Array;
  readonly membership: Float32Array;
}

const RATES: readonly NumericsCase[] = GROUPED.flatMap(([k, n, g, empty]) => {
  const name = `${String(k)} models, ${String(n)} rows in ${String(g)} groups, ${String(empty)} of them without rows`;
  const rows = (): GroupRows => {
    const scores = between(n, k * n, 0, 1);
    const membership = memberships(n + 1, n, g, empty);
    return { scores, membership, ...groupMeans(scores, membership, k, n, g) };
  };
  return [
    tensorCase({ op: 'softRates', name, tolerance: meanOf(n), answers: 2 }, () => {
      const { scores, membership, means, weights } = rows();
      return {
        ask: (tf) => {
          const found = softRates(tf, tf.tensor2d(scores, [k, n]), tf.tensor2d(membership, [n, g]));
          return [found.rates, found.present];
        },
        expected: [means, each(weights, (weight) => (weight > 0 ? 1 : 0))],
      };
    }),
    tensorCase({ op: 'largestGap', name, tolerance: 2 * meanOf(n) }, () => {
      const { scores, membership, means, weights } = rows();
      return {
        ask: (tf) => largestGap(tf, softRates(tf, tf.tensor2d(scores, [k, n]), tf.tensor2d(membership, [n, g]))),
        expected: ofModels(k, (model) => [gapOf(partOf(means, model, k), weights).gap]),
      };
    }),
    tensorCase({ op: 'largestGap', name: `its gradient: ${name}`, tolerance: meanOf(n) + roundings(3) }, () => {
      const given = rows();
      return {
        ask: (tf) =>
          tf.grad((scores) =>
            largestGap(tf, softRates(tf, scores as Tensor2D, tf.tensor2d(given.membership, [n, g]))).sum(),
          )(tf.tensor2d(given.scores, [k, n])),
        expected: gapGradients(given, k, n, g, () => 1),
      };
    }),
    tensorCase({ op: 'squaredGapSlope', name, tolerance: 6 * meanOf(n) }, () => {
      const given = rows();
      return {
        ask: (tf) => squaredGapGradient(tf, tf.tensor2d(given.scores, [k, n]), tf.tensor2d(given.membership, [n, g])),
        expected: gapGradients(given, k, n, g, (gap) => 2 * gap),
      };
    }),
  ];
});

const NO_GAP = tensorCase(
  { op: 'largestGap', name: 'one group with rows has no gap, and no gradient', tolerance: 0, answers: 2 },
  () => {
    const scores = uniform(1, 3);
    return {
      ask: (tf) => {
        const gap = (given: Tensor2D): Tensor1D =>
          largestGap(tf, softRates(tf, given, tf.tensor2d([1, 0, 1, 0, 1, 0], [3, 2])));
        const given = tf.tensor2d(scores, [1, 3]);
        return [gap(given), tf.grad((x) => gap(x as Tensor2D).sum())(given)];
      },
      expected: [[0], [0, 0, 0]],
    };
  },
);

/** Cases for losses and rates of groups, and their gradients. */
export const LOSS_CASES: readonly NumericsCase[] = [...BCE, ...RATES, NO_GAP];

import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { bceFromLogits, bceSlope, largestGap, softRates, squaredGapSlope, type Tf } from '../../tensor/index.ts';
import { columnSums, each, ofModels, partOf, product, sigmoid, softplus } from '../float64.ts';
import { between, codes, memberships, uniform } from '../inputs.ts';
import { type NumericsCase, tensorCase } from '../numerics-case.ts';
import { meanOf, roundings, SIGMOID, SOFTPLUS, sumOf } from '../tolerances.ts';

/**
 * Generates the logits of k models for n rows, labels, and the share that each row has in the mean. The first rows have
 * logits of +-1e4, 30 and 0.
 */
function logitRows(k: number, n: number): Record<'labels' | 'logits' | 'shares', Float32Array> {
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

function bceCases(k: number, n: number, posWeight: number): NumericsCase[] {
  const name = `${String(k)} models, ${String(n)} rows, positives counted ${String(posWeight)} times, logits of +-1e4`;
  const gradientTolerance = posWeight * (SIGMOID + roundings(3));
  const rowwise = (work: typeof lossOf): number[] => {
    const { logits, labels, shares } = logitRows(k, n);
    return each(logits, (logit, index) =>
      work(logit, labels[index % n] as number, shares[index % n] as number, posWeight),
    );
  };
  const uploaded = (tf: Tf): Record<'labels' | 'logits' | 'shares', Tensor2D> => {
    const { logits, labels, shares } = logitRows(k, n);
    return {
      logits: tf.tensor2d(logits, [k, n]),
      labels: tf.tensor2d(labels, [1, n]),
      shares: tf.tensor2d(shares, [n, 1]),
    };
  };
  return [
    // If a row has a logit of 1e4 and the opposite label, partial sums are not larger than the loss itself.
    tensorCase({ op: 'bceFromLogits', name, tolerance: posWeight * SOFTPLUS + sumOf(n) }, () => ({
      ask: (tf) => {
        const { logits, labels, shares } = uploaded(tf);
        return bceFromLogits(tf, logits, labels, shares, posWeight);
      },
      expected: ofModels(k, (model) => [partOf(rowwise(lossOf), model, k).reduce((sum, loss) => sum + loss, 0)]),
    })),
    tensorCase({ op: 'bceSlope', name, tolerance: gradientTolerance }, () => ({
      ask: (tf) => {
        const { logits, labels, shares } = uploaded(tf);
        return bceSlope(tf, tf.sigmoid(logits), labels, shares, posWeight);
      },
      expected: rowwise(gradientOf),
    })),
    tensorCase({ op: 'bceFromLogits', name: `its gradient: ${name}`, tolerance: gradientTolerance }, () => ({
      ask: (tf) => {
        const { logits, labels, shares } = uploaded(tf);
        return tf.grad((given) => bceFromLogits(tf, given as Tensor2D, labels, shares, posWeight).sum())(logits);
      },
      expected: rowwise(gradientOf),
    })),
  ];
}

/** The sizes of a case: the number of models, of rows, of groups, and of groups without rows. */
type GroupSizes = readonly [k: number, n: number, g: number, empty: number];

const GROUPED: readonly GroupSizes[] = [
  [1, 1, 1, 0],
  [2, 3, 2, 1],
  [3, 257, 33, 2],
  [1, 4097, 5, 1],
];

/** Rows that belong to groups, with the weights and mean scores of the groups. */
interface GroupRows {
  /** [k, n] */
  readonly scores: Float32Array;
  /** [n, g] */
  readonly membership: Float32Array;
  /** The weight of each group, [g]. */
  readonly weights: readonly number[];
  /** The weighted mean score of each group for each model, [k, g]; 0 for a group without rows. */
  readonly means: readonly number[];
}

function groupRows([k, n, g, empty]: GroupSizes): GroupRows {
  const scores = between(n, k * n, 0, 1);
  const membership = memberships(n + 1, n, g, empty);
  const weights = columnSums(membership, n, g);
  const sums = product(scores, membership, k, n, g);
  return { scores, membership, weights, means: each(sums, (sum, index) => ratio(sum, weights[index % g] as number)) };
}

function ratio(sum: number, weight: number): number {
  return weight > 0 ? sum / weight : 0;
}

/**
 * The groups with the largest and the smallest mean score of one model, and the difference between these means. Absent
 * groups are ignored.
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
 * Computes the gradient of a function of the largest gap with respect to the scores, [k, n]. `gradient` is the
 * derivative of the function. The mean of a group changes by each row's share in the group.
 */
function gapGradients(sizes: GroupSizes, gradient: (gap: number) => number): number[] {
  const { membership, means, weights } = groupRows(sizes);
  const [k, n, g] = sizes;
  const share = (row: number, group: number): number =>
    ratio(membership[row * g + group] as number, weights[group] as number);
  return ofModels(k, (model) => {
    const { highest, lowest, gap, isGap } = gapOf(partOf(means, model, k), weights);
    const factor = isGap ? gradient(gap) : 0;
    return Array.from({ length: n }, (_, row) => factor * (share(row, highest) - share(row, lowest)));
  });
}

const RATES: readonly NumericsCase[] = GROUPED.flatMap((sizes) => {
  const [k, n, g, empty] = sizes;
  const name = `${String(k)} models, ${String(n)} rows in ${String(g)} groups, ${String(empty)} of them without rows`;
  const uploaded = (tf: Tf): [scores: Tensor2D, membership: Tensor2D] => {
    const { scores, membership } = groupRows(sizes);
    return [tf.tensor2d(scores, [k, n]), tf.tensor2d(membership, [n, g])];
  };
  return [
    tensorCase({ op: 'softRates', name, tolerance: meanOf(n), reads: 2 }, () => {
      const { means, weights } = groupRows(sizes);
      return {
        ask: (tf) => {
          const { rates, present } = softRates(tf, ...uploaded(tf));
          return [rates, present];
        },
        expected: [means, each(weights, (weight) => (weight > 0 ? 1 : 0))],
      };
    }),
    tensorCase({ op: 'largestGap', name, tolerance: 2 * meanOf(n) }, () => {
      const { means, weights } = groupRows(sizes);
      return {
        ask: (tf) => largestGap(tf, softRates(tf, ...uploaded(tf))),
        expected: ofModels(k, (model) => [gapOf(partOf(means, model, k), weights).gap]),
      };
    }),
    tensorCase({ op: 'largestGap', name: `its gradient: ${name}`, tolerance: meanOf(n) + roundings(3) }, () => ({
      ask: (tf) => {
        const [scores, membership] = uploaded(tf);
        return tf.grad((given) => largestGap(tf, softRates(tf, given as Tensor2D, membership)).sum())(scores);
      },
      expected: gapGradients(sizes, () => 1),
    })),
    tensorCase({ op: 'squaredGapSlope', name, tolerance: 6 * meanOf(n) }, () => ({
      ask: (tf) => squaredGapSlope(tf, ...uploaded(tf)),
      expected: gapGradients(sizes, (gap) => 2 * gap),
    })),
  ];
});

const NO_GAP = tensorCase(
  { op: 'largestGap', name: 'one group with rows has no gap, and no gradient', tolerance: 0, reads: 2 },
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
export const LOSS_CASES: readonly NumericsCase[] = [
  ...bceCases(1, 1, 1),
  ...bceCases(3, 257, 1),
  ...bceCases(2, 4097, 3),
  ...RATES,
  NO_GAP,
];

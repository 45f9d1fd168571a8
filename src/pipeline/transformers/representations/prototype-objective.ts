import { dot } from '../../../internal/values.ts';
import type { Objective } from './minimise.ts';
import { memberships, type Prototypes, readPrototypes, reconstruct } from './prototypes.ts';

/** The rows to represent, in units of their columns' spreads. */
export interface PrototypeRows {
  /** The scaled features, [rows, columns]. */
  readonly x: Float64Array;
  readonly columns: number;
  /** The labels, [rows], 0 or 1. */
  readonly y: Float64Array;
  /** The group codes, [rows], from 0 to groups - 1. Every group has rows. */
  readonly groups: Int32Array;
  readonly groupCount: number;
  /** The weights, [rows], above 0. */
  readonly weights: Float64Array;
}

/** The weight of each part of the loss. */
export interface LossWeights {
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
}

/** The parts of the loss, before weighting. */
export interface LossParts {
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
}

/** Differences between groups are smoothed within this distance of 0, so that the gradient is continuous. */
const SMOOTHING = 1e-3;

/** Probabilities are clipped to this distance from 0 and 1. */
const CERTAIN = 1e-12;

/** The loss of learned fair representations, and its gradient. */
export class PrototypeObjective {
  readonly #rows: PrototypeRows;
  readonly #count: number;
  readonly #weights: LossWeights;
  readonly #groupTotals: Float64Array;
  readonly #total: number;
  /** The memberships of the rows at the latest point, [rows, prototypes]. */
  readonly #shares: Float64Array;

  constructor(rows: PrototypeRows, count: number, weights: LossWeights) {
    this.#rows = rows;
    this.#count = count;
    this.#weights = weights;
    this.#groupTotals = new Float64Array(rows.groupCount);
    rows.groups.forEach((group, row) => {
      this.#groupTotals[group] = (this.#groupTotals[group] as number) + (rows.weights[row] as number);
    });
    this.#total = this.#groupTotals.reduce((sum, each) => sum + each, 0);
    this.#shares = new Float64Array(rows.y.length * count);
  }

  /**
   * Returns the value of the loss and fills in the gradient. Differences of shares are smoothed near 0. Takes O(rows
   * prototypes columns) time.
   */
  readonly evaluate: Objective = (point, gradient) => {
    const { reconstruction, prediction, parity } = this.#weights;
    const prototypes = readPrototypes(point, this.#count);
    gradient.fill(0);
    const means = this.#shareRows(prototypes.positions);
    const gaps = shareGap(means, this.#count, SMOOTHING);
    const parts = this.#backward(prototypes, gaps.slopes, gradient);
    for (let k = 0; k < this.#count; k++) {
      const label = prototypes.labels[k] as number;
      gradient[k] = (gradient[k] as number) * label * (1 - label);
    }
    return reconstruction * parts.reconstruction + prediction * parts.prediction + parity * gaps.value;
  };

  /** Returns the parts of the loss at a point, without smoothing. */
  parts(point: Float64Array): LossParts {
    const prototypes = readPrototypes(point, this.#count);
    const { value: parity, slopes } = shareGap(this.#shareRows(prototypes.positions), this.#count, 0);
    const { reconstruction, prediction } = this.#backward(prototypes, slopes, new Float64Array(point.length));
    return { reconstruction, prediction, parity };
  }

  /** Computes the memberships of all rows, and returns their means by group, [groups, prototypes]. */
  #shareRows(positions: Float64Array): Float64Array {
    const { x, columns, groups, weights } = this.#rows;
    const count = this.#count;
    const means = new Float64Array(this.#rows.groupCount * count);
    for (let row = 0; row < groups.length; row++) {
      const own = this.#shares.subarray(row * count, (row + 1) * count);
      memberships(x, row * columns, columns, positions, own);
      const group = groups[row] as number;
      const weight = (weights[row] as number) / (this.#groupTotals[group] as number);
      for (let k = 0; k < count; k++) {
        means[group * count + k] = (means[group * count + k] as number) + weight * (own[k] as number);
      }
    }
    return means;
  }

  /**
   * Adds each row's contribution to the gradient. The gradient is with respect to the labels, not yet the log-odds.
   * With m = softmax(-d), d_k = |x - v_k|: dL/dv_k = m_k dL/dx^ + s_k (v_k - x) / d_k, s_k = -m_k (g_k - sum_j m_j
   * g_j), g = dL/dm.
   */
  #backward(
    { labels, positions }: Prototypes,
    gapSlopes: Float64Array,
    gradient: Float64Array,
  ): Omit<LossParts, 'parity'> {
    const { x, columns, y, groups, groupCount, weights } = this.#rows;
    const count = this.#count;
    const estimate = new Float64Array(columns);
    const slopes = new Float64Array(count);
    let [reconstruction, prediction] = [0, 0];
    for (let row = 0; row < y.length; row++) {
      const group = groups[row] as number;
      const ofGroup = (weights[row] as number) / (this.#groupTotals[group] as number);
      const own = this.#shares.subarray(row * count, (row + 1) * count);
      reconstruct(own, positions, estimate);
      // All groups have equal weight. For two groups, the factor 2 gives the sum in the paper.
      const share = (2 * ofGroup) / (groupCount * columns);
      for (let p = 0; p < columns; p++) {
        const miss = (estimate[p] as number) - (x[row * columns + p] as number);
        reconstruction += share * miss * miss;
        estimate[p] = 2 * this.#weights.reconstruction * share * miss;
      }
      const mixed = clip(dot(own, labels));
      const ofAll = (weights[row] as number) / this.#total;
      const label = y[row] as number;
      prediction -= ofAll * Math.log(label === 1 ? mixed : 1 - mixed);
      const labelSlope = (this.#weights.prediction * ofAll * (mixed - label)) / (mixed * (1 - mixed));
      let mean = 0;
      for (let k = 0; k < count; k++) {
        let slope = labelSlope * (labels[k] as number);
        slope += this.#weights.parity * (gapSlopes[group * count + k] as number) * ofGroup;
        for (let p = 0; p < columns; p++) slope += (estimate[p] as number) * (positions[k * columns + p] as number);
        slopes[k] = slope;
        mean += (own[k] as number) * slope;
      }
      for (let k = 0; k < count; k++) {
        const member = own[k] as number;
        gradient[k] = (gradient[k] as number) + labelSlope * member;
        this.#addPosition(gradient, positions, row, k, -member * ((slopes[k] as number) - mean), estimate);
      }
    }
    return { reconstruction, prediction };
  }

  #addPosition(
    gradient: Float64Array,
    positions: Float64Array,
    row: number,
    k: number,
    distanceSlope: number,
    estimateSlope: Float64Array,
  ): void {
    const { x, columns } = this.#rows;
    const member = this.#shares[row * this.#count + k] as number;
    let square = 0;
    for (let p = 0; p < columns; p++)
      square += ((positions[k * columns + p] as number) - (x[row * columns + p] as number)) ** 2;
    const by = square > 0 ? distanceSlope / Math.sqrt(square) : 0;
    const start = this.#count + k * columns;
    for (let p = 0; p < columns; p++) {
      const away = (positions[k * columns + p] as number) - (x[row * columns + p] as number);
      gradient[start + p] = (gradient[start + p] as number) + member * (estimateSlope[p] as number) + by * away;
    }
  }
}

function clip(probability: number): number {
  return Math.min(Math.max(probability, CERTAIN), 1 - CERTAIN);
}

/** The gap between groups, and its gradient. */
interface ShareGap {
  readonly value: number;
  /** The gradient, [groups, prototypes]. */
  readonly slopes: Float64Array;
}

/**
 * Computes the distance between the groups' mean memberships. The result is twice the mean distance from the mean of
 * all groups, over prototypes and groups. For two groups, it is the mean of |difference|. Each distance d is replaced
 * by sqrt(d^2 + s^2) - s.
 * @param means [groups, prototypes]
 * @param count the number of prototypes
 * @param smoothing s, 0 or more
 */
function shareGap(means: Float64Array, count: number, smoothing: number): ShareGap {
  const groupCount = means.length / count;
  const slopes = new Float64Array(means.length);
  let value = 0;
  for (let k = 0; k < count; k++) {
    let centre = 0;
    for (let g = 0; g < groupCount; g++) centre += (means[g * count + k] as number) / groupCount;
    let slopeOfCentre = 0;
    for (let g = 0; g < groupCount; g++) {
      const gap = 2 * ((means[g * count + k] as number) - centre);
      const length = Math.sqrt(gap * gap + smoothing * smoothing);
      value += (length - smoothing) / means.length;
      const slope = length > 0 ? (2 * gap) / (length * means.length) : 0;
      slopes[g * count + k] = slope;
      slopeOfCentre += slope / groupCount;
    }
    for (let g = 0; g < groupCount; g++) slopes[g * count + k] = (slopes[g * count + k] as number) - slopeOfCentre;
  }
  return { value, slopes };
}

import type { DecisionQuality } from '../decision-quality.ts';

/** The results of one network of a sweep on held-out rows. */
export interface ParetoPoint extends Pick<
  DecisionQuality,
  'accuracy' | 'dpDiff' | 'eoDiff' | 'accuracyCi' | 'dpDiffCi'
> {
  /** The weight of the fairness penalty. */
  readonly eta: number;
  /** The mean binary cross-entropy, without the penalty. */
  readonly loss: number;
  /**
   * Whether another point dominates this point. The other point then has at least as good an accuracy and at least as
   * good a gap, and at least one of the two is better.
   */
  readonly dominated: boolean;
}

/** Marks the points that another point dominates. A point without a gap neither dominates nor is dominated. */
export function markDominated(points: readonly Omit<ParetoPoint, 'dominated'>[]): ParetoPoint[] {
  return points.map((point) => ({
    ...point,
    dominated: points.some(
      (other) =>
        other.accuracy >= point.accuracy &&
        other.dpDiff <= point.dpDiff &&
        (other.accuracy > point.accuracy || other.dpDiff < point.dpDiff),
    ),
  }));
}

/**
 * Computes the dominated area of the points in the plane of accuracy and 1 - dpDiff: the area between the points and
 * the reference point (`referenceAccuracy`, 0). A larger area is better. Takes O(points log points) time.
 * @param referenceAccuracy the accuracy of always predicting the larger class
 */
export function hypervolume(points: readonly ParetoPoint[], referenceAccuracy: number): number {
  const front = points
    .filter((point) => !point.dominated && point.accuracy > referenceAccuracy && !Number.isNaN(point.dpDiff))
    .sort((a, b) => b.accuracy - a.accuracy || a.dpDiff - b.dpDiff);
  let area = 0;
  let covered = 0;
  for (const { accuracy, dpDiff } of front) {
    const parity = 1 - dpDiff;
    area += (accuracy - referenceAccuracy) * Math.max(0, parity - covered);
    covered = Math.max(covered, parity);
  }
  return area;
}

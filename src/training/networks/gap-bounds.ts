import type { Rank, Tensor2D, Variable } from '@tensorflow/tfjs';

import { sum } from '../../metrics/statistics/group-stats.ts';
import { type BatchRows, extremes, fusedMap, type Tf, timesTransposed } from '../../tensor/index.ts';
import { type FairnessEvent, isIn, MIN_SHARE, membershipIn } from './fairness-events.ts';
import type { NetworkTask } from './network-task.ts';

/** The settings for estimating rates and updating multipliers. */
export interface GapBoundsSpec {
  readonly task: NetworkTask;
  /**
   * Logits are divided by this value before rates are computed. A lower value brings soft rates closer to the rates of
   * decisions.
   */
  readonly temperature: number;
  /** The weight of earlier batches in the running means of rates, from 0 to below 1. */
  readonly smoothing: number;
  /**
   * The learning rate of the multipliers: the amount by which a multiplier changes per step and per unit of violation.
   */
  readonly lambdaLr: number;
}

/** An event, with a bound on the gap between groups in this event. */
export interface BoundedEvent {
  readonly event: FairnessEvent;
  /** The largest gap allowed. */
  readonly tolerance: number;
  /** A mask of the groups, [g]: 1 for a group that is constrained, 0 for other groups. */
  readonly constrained: ArrayLike<number>;
}

/** The bounds on the gaps of all events: their multipliers, and the running rates used to update the multipliers. */
export interface GapBounds {
  /**
   * The multipliers, [2, c]. Each group of each event has two multipliers: one for a rate above the midpoint, and one
   * for a rate below the midpoint.
   */
  readonly multipliers: Variable<Rank.R2>;
  /**
   * Returns the multiplier of each event's gap, given the values of `multipliers`. The multiplier of a gap is half the
   * sum of the multipliers of the event's groups.
   */
  lambdasOf(values: Float32Array): number[];
  /**
   * Adds the gradient of the bounds to the gradient of the error. Both gradients are with respect to the outputs, [1,
   * n]. Call it inside `tf.tidy`.
   */
  addGradient(error: Tensor2D, outputs: Tensor2D, rows: BatchRows): Tensor2D;
  /** Updates the running rates with a batch, then updates the multipliers. Call it inside `tf.tidy`. */
  update(outputs: Tensor2D, rows: BatchRows): void;
  dispose(): void;
}

/** Intermediate results for a batch, which both the gradient and the update need. */
interface Seen {
  readonly outputs: Tensor2D;
  readonly rows: BatchRows;
  /**
   * The soft scores and a row of ones, [2, n]. The ones make it possible to compute sums and weights in one product.
   */
  readonly scores: Tensor2D;
  /**
   * The membership matrix, [n, c]. Each row has its share of the batch's weight in the columns of its group. Other
   * columns contain 0.
   */
  readonly members: Tensor2D;
  /** The sum of scores and the weight of each column, [2, c]. */
  readonly sums: Tensor2D;
}

/**
 * Creates the bounds on the gaps of one model's rates. The groups of all events share one matrix with c columns, so
 * that a second event needs no additional kernel launch.
 */
export function createGapBounds(tf: Tf, spec: GapBoundsSpec, events: readonly BoundedEvent[]): GapBounds {
  const columns = columnsOf(tf, events);
  const { size, groups } = columns;
  const zeros = (): Variable<Rank.R2> => tf.tidy(() => tf.variable(tf.zeros<Rank.R2>([2, size]), false));
  // Sums and weights are stored separately, so that the rate of a group does not change if a batch has no row of the
  // group.
  const [multipliers, running] = [zeros(), zeros()];
  let last: Seen | undefined;
  /** Caches the last batch, because the gradient and the update are computed for the same batch. */
  const check = (outputs: Tensor2D, rows: BatchRows): Seen => {
    if (last?.outputs === outputs && last.rows === rows && !last.sums.isDisposed) return last;
    const scores = softScores(tf, spec, outputs);
    const members = membersOf(tf, columns, rows);
    last = { outputs, rows, scores, members, sums: tf.matMul(scores, members) };
    return last;
  };
  return {
    multipliers,
    lambdasOf: (values) =>
      events.map((_, event) => {
        const sideFrom = (start: number): Float32Array => values.subarray(start, start + groups);
        return sum([...sideFrom(event * groups), ...sideFrom(size + event * groups)]) / 2;
      }),
    addGradient: (error, outputs, rows) =>
      addPenaltyGradient(tf, spec, columns, { ...check(outputs, rows), error, multipliers }),
    update(outputs, rows) {
      running.assign(smoothed(tf, running, check(outputs, rows).sums, spec.smoothing));
      multipliers.assign(moved(tf, columns, multipliers, running, spec.lambdaLr));
    },
    dispose() {
      last = undefined;
      tf.dispose({ ...columns.constants, multipliers, running });
    },
  };
}

/** Properties of the columns that do not change during training. */
interface Columns {
  readonly events: readonly FairnessEvent[];
  /** The number of groups of one event. */
  readonly groups: number;
  /** The number of columns, c. */
  readonly size: number;
  readonly constants: {
    /**
     * A mask of the columns, [1, c]: 1 if rows with label 1 are included, otherwise 0.
     */
    readonly positives: Tensor2D;
    /**
     * A mask of the columns, [1, c]: 1 if rows with label 0 are included, otherwise 0.
     */
    readonly negatives: Tensor2D;
    /** A mask of the columns, [1, c]: 1 for a group that is constrained, otherwise 0. */
    readonly chosen: Tensor2D;
    /** The tolerance of each column, [1, c]. */
    readonly tolerances: Tensor2D;
    /** The signs of the two sides, [2, 1]: 1 for a rate above the midpoint, and -1 for a rate below the midpoint. */
    readonly sides: Tensor2D;
  };
}

function columnsOf(tf: Tf, events: readonly BoundedEvent[]): Columns {
  const groups = events[0]?.constrained.length ?? 0;
  const size = events.length * groups;
  const perColumn = (valueOf: (bounded: BoundedEvent, isConstrained: number) => number): Tensor2D => {
    const values = events.flatMap((bounded) => Array.from(bounded.constrained, (one) => valueOf(bounded, one)));
    return tf.tensor2d(values, [1, size]);
  };
  return {
    events: events.map(({ event }) => event),
    groups,
    size,
    constants: {
      positives: perColumn(({ event }, isConstrained) => Number(isIn(event, 1)) * isConstrained),
      negatives: perColumn(({ event }, isConstrained) => Number(isIn(event, 0)) * isConstrained),
      chosen: perColumn((_, isConstrained) => isConstrained),
      tolerances: perColumn(({ tolerance }) => tolerance),
      sides: tf.tensor2d([1, -1], [2, 1]),
    },
  };
}

/** Returns a matrix of two rows, [2, n]: the scores by which groups are compared, and ones. */
function softScores(tf: Tf, { task, temperature }: GapBoundsSpec, outputs: Tensor2D): Tensor2D {
  const isBinary = task === 'binary';
  return fusedMap(tf, {
    name: isBinary ? 'soft_decisions_over_ones' : 'outputs_over_ones',
    shape: [2, outputs.size],
    inputs: { outputs },
    numbers: { temperature },
    // In this form, the exponential never overflows.
    wgsl: `
      let small = exp(-abs(outputs / temperature));
      let soft = ${isBinary ? 'select(small, 1.0, outputs >= 0.0) / (1.0 + small)' : 'outputs'};
      value = select(1.0, soft, index < uniforms.outShape[1]);`,
    plain: () => {
      const soft: Tensor2D = isBinary ? tf.sigmoid(outputs.div<Tensor2D>(temperature)) : outputs;
      return tf.concat([soft, tf.onesLike(outputs)], 0);
    },
  });
}

/** Returns the membership matrix of a batch, [n, c], with one column per event and group. */
function membersOf(tf: Tf, { events, groups, size, constants }: Columns, rows: BatchRows): Tensor2D {
  const { membership } = rows;
  const { positives, negatives, chosen } = constants;
  const labels = rows.labels.reshape<Tensor2D>([-1, 1]);
  return fusedMap(tf, {
    name: 'members_in_events',
    shape: [membership.shape[0], size],
    inputs: { membership, labels, positives, negatives },
    numbers: { groups },
    wgsl: `
      let columns = uniforms.outShape[1];
      let group = (index % columns) % i32(groups);
      let share = all_membership[(index / columns) * i32(groups) + group];
      value = share * select(negatives, positives, labels == 1.0);`,
    plain: () => {
      const inEvents = events.map((event) => membershipIn(tf, event, rows));
      return tf.concat(inEvents, 1).mul<Tensor2D>(chosen);
    },
  });
}

/**
 * Adds the gradient of the constraint's terms, the sum of (up - down) x rate over the columns, to the gradient of the
 * error.
 */
function addPenaltyGradient(
  tf: Tf,
  { task, temperature }: GapBoundsSpec,
  { size, constants }: Columns,
  { error, scores, members, sums, multipliers }: Seen & { readonly error: Tensor2D; readonly multipliers: Tensor2D },
): Tensor2D {
  const isBinary = task === 'binary';
  return fusedMap(tf, {
    name: isBinary ? 'add_pull_of_gaps_of_decisions' : 'add_pull_of_gaps',
    shape: error.shape,
    inputs: { error, scores, members, sums, multipliers },
    numbers: { width: size, temperature },
    // The gradient of a soft decision with respect to its logit is p (1 - p) / temperature.
    wgsl: `
      let columns = i32(width);
      var pull = 0.0;
      for (var column = 0; column < columns; column++) {
        let share = all_members[index * columns + column];
        let pressure = all_multipliers[column] - all_multipliers[columns + column];
        pull += share * pressure / max(all_sums[columns + column], ${String(MIN_SHARE)});
      }
      let soft = all_scores[index];
      value = error + pull${isBinary ? ' * (soft - soft * soft) / temperature' : ''};`,
    plain: () => {
      // A group without rows does not contribute to any gradient.
      const weights = rowOf(sums, 1).maximum(MIN_SHARE);
      const pressure = multipliers.mul(constants.sides).sum<Tensor2D>(0, true).div<Tensor2D>(weights);
      const penaltyGradient = timesTransposed(tf, pressure, members);
      if (!isBinary) return error.add<Tensor2D>(penaltyGradient);
      const soft = rowOf(scores, 0);
      return error.add<Tensor2D>(penaltyGradient.mul(soft.sub(soft.square()).div(temperature)));
    },
  });
}

/** Adds a batch to the running sums and weights, [2, c]. */
function smoothed(tf: Tf, running: Tensor2D, sums: Tensor2D, smoothing: number): Tensor2D {
  return fusedMap(tf, {
    name: 'smoothed_sums',
    shape: running.shape,
    inputs: { running, sums },
    numbers: { smoothing },
    wgsl: 'value = smoothing * running + sums;',
    plain: () => running.mul<Tensor2D>(smoothing).add<Tensor2D>(sums),
  });
}

/**
 * Returns the multipliers after a step, [2, c]. The change depends on the distance of the group's rate from the
 * midpoint of its event.
 * @param running the running sums and weights, [2, c]
 */
function moved(
  tf: Tf,
  { events, groups, size, constants }: Columns,
  multipliers: Tensor2D,
  running: Tensor2D,
  rate: number,
): Tensor2D {
  const { tolerances, sides } = constants;
  return fusedMap(tf, {
    name: 'moved_multipliers',
    shape: multipliers.shape,
    inputs: { multipliers, running, tolerances },
    numbers: { groups, rate },
    wgsl: MOVED_MULTIPLIERS,
    plain: () => {
      const perEvent = (row: number): Tensor2D => rowOf(running, row).reshape([events.length, groups]);
      const weights = perEvent(1);
      const present = weights.greater(MIN_SHARE).cast<Tensor2D>('float32');
      const rates = perEvent(0).div<Tensor2D>(weights.maximum(MIN_SHARE));
      const { highest, lowest } = extremes(tf, { rates, present });
      const middle = highest.add(lowest).div(2);
      const offset = rates.sub(middle).mul(2).mul(present).reshape([1, size]);
      return tf.relu(multipliers.add(offset.mul(sides).sub(tolerances).mul<Tensor2D>(rate)));
    },
  });
}

/** Computes the update of one multiplier in WGSL. The code avoids `max` with 0, because `max` might turn NaN into 0. */
const MOVED_MULTIPLIERS = `
  let columns = uniforms.outShape[1];
  let own = index % columns;
  let first = own - own % i32(groups);
  var highest = -1e30;
  var lowest = 1e30;
  var offset = 0.0;
  var is_present = false;
  for (var column = first; column < first + i32(groups); column++) {
    let weight = all_running[columns + column];
    if (weight > ${String(MIN_SHARE)}) {
      let mean = all_running[column] / weight;
      highest = max(highest, mean);
      lowest = min(lowest, mean);
      if (column == own) {
        offset = mean;
        is_present = true;
      }
    }
  }
  offset = select(0.0, 2.0 * (offset - (highest + lowest) / 2.0), is_present);
  let side = select(-1.0, 1.0, index < columns);
  let after = multipliers + rate * (side * offset - tolerances);
  value = select(after, 0.0, after < 0.0);`;

/** Returns one row of a matrix, [1, c]. */
function rowOf(matrix: Tensor2D, row: number): Tensor2D {
  return matrix.slice([row, 0], [1, -1]);
}

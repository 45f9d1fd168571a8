import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { sum } from '../../metrics/statistics/group-stats.ts';
import type { Tf } from '../../tensor/index.ts';
import { EVENTS, type FairnessConstraint, type FairnessEvent, gapIn, sumsIn } from './fairness-events.ts';
import { createGapBounds, type GapBoundsSpec } from './gap-bounds.ts';
import { errorGradient, rowErrors, scoresOf } from './network-task.ts';
import type { Judgement, Objective } from './objective.ts';

/** The settings of a Lagrangian objective. */
export interface LagrangianSpec extends GapBoundsSpec {
  readonly fairness: FairnessConstraint;
  /** The largest gap allowed in each event of the constraint. */
  readonly tolerances: readonly number[];
  /** The minimum number of training rows of a group in an event. Smaller groups are not constrained. */
  readonly minGroupSize: number;
  readonly posWeight?: number | undefined;
}

/** One epoch of a Lagrangian trainer, evaluated on the training rows. */
export interface LagrangianEpoch {
  /** The number of the epoch, from 1. */
  readonly epoch: number;
  /** The mean error, without the terms of the constraint. */
  readonly loss: number;
  /** The largest difference between the mean soft decisions of two groups, over the constraint's events. */
  readonly violationSoft: number;
  /** The largest difference between the rates of decisions of two groups, over the constraint's events. */
  readonly violationHard: number;
  /** The multiplier of each gap: one value, or two values for the gaps in true and in false positive rates. */
  readonly lambdas: readonly number[];
}

/** A Lagrangian objective, with the history of its training. */
export interface LagrangianObjective extends Objective {
  readonly history: readonly LagrangianEpoch[];
}

/** The rows and group labels for which a Lagrangian objective is created. */
export interface ConstrainedRows {
  /** The number of training rows by group and label (`eventCell`). */
  readonly counts: ArrayLike<number>;
  readonly groups: { readonly labels: readonly string[] };
}

/**
 * This offset is added to the scores of models that exceed the tolerance. It is larger than every loss, so that every
 * model within the tolerance has a better (lower) score.
 */
const INFEASIBLE = 1e200;

/**
 * Creates the Lagrangian of one network's error under a bound on the gap of each event.
 *
 * Let c be the midpoint between the highest and the lowest rate. A gap is at most the tolerance tol if the rate r_g of
 * every group is within tol / 2 of c. Each group therefore has one multiplier per side:
 *
 *     error + sum over events and groups of
 *       up_g (r_g - c - tol / 2) + down_g (c - r_g - tol / 2).
 *
 * The network's gradient uses the soft rates of the batch: means of sigmoid(logit / temperature). After each step,
 * every multiplier changes by 2 lambdaLr times the bracket that it multiplies, but does not fall below 0. The brackets
 * are computed from running means over batches. A multiplier therefore falls while the constraint holds. A bracket can
 * be negative, so noise from small batches cancels out over time. If a gap were used instead of brackets, noise would
 * not cancel out, because a gap is never negative. With two groups, the multiplier equals the multiplier of the gap.
 */
export function createLagrangianObjective(
  tf: Tf,
  spec: LagrangianSpec,
  { counts, groups }: ConstrainedRows,
): LagrangianObjective {
  const { task, posWeight = 1 } = spec;
  const events = EVENTS[spec.fairness];
  const history: LagrangianEpoch[] = [];
  const constrained = events.map((event) => sumsIn(event, counts).map((rows) => Number(rows >= spec.minGroupSize)));
  assertTwoGroups(spec, constrained);
  const bounds = createGapBounds(
    tf,
    spec,
    events.map((event, index) => ({
      event,
      tolerance: spec.tolerances[index] as number,
      constrained: constrained[index] as Float64Array,
    })),
  );
  return {
    history,
    warnings: leftOut(spec, constrained, groups.labels),
    slope(outputs, rows) {
      const error = errorGradient(tf, task, scoresOf(tf, task, outputs), rows, posWeight);
      return bounds.addGradient(error, outputs, rows);
    },
    afterStep(outputs, rows) {
      bounds.update(outputs, rows);
    },
    judge: {
      kind: 'sums',
      watched: [bounds.multipliers],
      columns: COLUMNS.length,
      columnsOf(outputs, labels) {
        const isBinary = task === 'binary';
        const columns: Readonly<Record<(typeof COLUMNS)[number], Tensor1D>> = {
          weight: tf.onesLike(outputs),
          error: rowErrors(tf, task, outputs, labels, posWeight),
          hard: isBinary ? outputs.greaterEqual(0).cast('float32') : outputs,
          soft: isBinary ? tf.sigmoid(outputs.div<Tensor1D>(spec.temperature)) : outputs,
        };
        return COLUMNS.map((name) => columns[name]);
      },
      judge(epoch, { train, validation, watched }) {
        const [weights, errors, hards, softs] = train as [ArrayLike<number>, ...ArrayLike<number>[]];
        const gaps = (sums: ArrayLike<number> = []): number[] =>
          events.map((event, index) => gapIn(event, sums, weights, constrained[index] as Float64Array));
        const hard = gaps(hards);
        history.push(
          Object.freeze({
            epoch: epoch + 1,
            loss: sum(errors ?? []) / sum(weights),
            violationSoft: Math.max(...gaps(softs)),
            violationHard: Math.max(...hard),
            lambdas: Object.freeze(bounds.lambdasOf(watched[0] as Float32Array)),
          }),
        );
        const [weight = [], error = []] = validation;
        return judgeGaps(spec, hard, sum(error) / sum(weight));
      },
    },
    dispose() {
      bounds.dispose();
    },
  };
}

/** The columns that are summed over all rows to judge an epoch. */
const COLUMNS = ['weight', 'error', 'hard', 'soft'] as const;

/**
 * Scores an epoch. If all gaps are within the tolerance, the score is the error on the validation rows. Otherwise, the
 * score depends on how far the gaps exceed the tolerance, and training does not stop early.
 */
function judgeGaps({ tolerances }: LagrangianSpec, hard: readonly number[], validationLoss: number): Judgement {
  const excess = Math.max(...hard.map((gap, index) => gap - (tolerances[index] as number)));
  const score = excess <= 0 || Number.isNaN(validationLoss) ? validationLoss : INFEASIBLE * (1 + excess);
  return { scores: [score], mayRest: [excess <= 0] };
}

/** Returns a warning for each group that is not constrained. */
function leftOut(
  { fairness, minGroupSize }: LagrangianSpec,
  constrained: readonly Float64Array[],
  labels: readonly string[],
): string[] {
  return EVENTS[fairness].flatMap((event, index) =>
    labels.flatMap((label, group) =>
      constrained[index]?.[group] === 1
        ? []
        : [
            `group '${label}' has fewer than ${String(minGroupSize)} ${ROWS_OF[event]} to train on and is not constrained`,
          ],
    ),
  );
}

const ROWS_OF: Readonly<Record<FairnessEvent, string>> = {
  all: 'rows',
  positives: 'positives',
  negatives: 'negatives',
};

function assertTwoGroups({ fairness, minGroupSize }: LagrangianSpec, constrained: readonly Float64Array[]): void {
  for (const [index, event] of EVENTS[fairness].entries()) {
    if (sum(constrained[index] as Float64Array) >= 2) continue;
    throw new DataValidationError(
      `Fewer than two groups have ${String(minGroupSize)} ${ROWS_OF[event]} to train on, so there is no gap to constrain.`,
      {
        code: 'too-few-groups',
        context: { fairness, minGroupSize },
        suggestion: 'Lower minGroupSize, merge small groups, or provide more rows.',
      },
    );
  }
}

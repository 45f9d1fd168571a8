import { DataValidationError } from '../../exceptions/index.ts';
import { sum } from '../../metrics/statistics/group-stats.ts';
import type { NetworkRows, Tf } from '../../tensor/index.ts';
import { EVENTS, type FairnessConstraint, type FairnessEvent, gapIn, meanOver, rowsIn } from './fairness-events.ts';
import { createGapBounds } from './gap-bounds.ts';
import { errorSlope, type NetworkTask, scoresOf } from './network-task.ts';
import type { EpochOutputs, Judgement, Objective } from './objective.ts';
import { crossEntropy, sigmoid } from '../logistic.ts';

/** What a lagrangian objective is made of. */
export interface LagrangianSpec {
  readonly fairness: FairnessConstraint;
  /** The largest gap allowed in each event of the constraint. */
  readonly tolerances: readonly number[];
  /** By how much a multiplier moves for each unit of violation, each step. */
  readonly lambdaLr: number;
  readonly task: NetworkTask;
  /** Of the running means of rates, 0 to 1: what a batch leaves of those before it. */
  readonly smoothing: number;
  /** What logits are divided by before rates are taken: the lower, the nearer soft rates are to decisions. */
  readonly temperature: number;
  /** Groups with fewer training rows in an event are not constrained there. */
  readonly minGroupSize: number;
  readonly posWeight?: number | undefined;
}

/** One epoch of a lagrangian's training, seen on the rows trained on. */
export interface LagrangianEpoch {
  /** From 1. */
  readonly epoch: number;
  /** Mean error without the constraint's part. */
  readonly loss: number;
  /** The largest gap of groups' mean soft decisions, over the constraint's events. */
  readonly violationSoft: number;
  /** The largest gap of groups' rates of decisions, over the constraint's events. */
  readonly violationHard: number;
  /** The multiplier of each gap: one, or those of the true and the false positive rates. */
  readonly lambdas: readonly number[];
}

/** A lagrangian objective, and what its training looked like so far. */
export interface LagrangianObjective extends Objective {
  readonly history: readonly LagrangianEpoch[];
}

/** The rows that a lagrangian is made for. */
export interface ConstrainedRows {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly groups: { readonly labels: readonly string[] };
}

/** Above every loss, so that any model within the tolerance is better than any beyond it. */
const INFEASIBLE = 1e200;

/**
 * The lagrangian of one network's error under a bound on the gap of each event.
 *
 * A gap of at most tol means that every group's rate r_g lies within tol / 2 of
 * the middle c of the highest and the lowest, so each group has a multiplier for
 * either side:
 *
 *     error + sum over events and groups of
 *       up_g (r_g - c - tol / 2) + down_g (c - r_g - tol / 2).
 *
 * The network's slope is that of its batch's soft rates, means of
 * sigmoid(logit / temperature). After each step every multiplier moves by
 * lambdaLr times twice its own bracket in running means over batches, and not
 * below 0: it falls where the constraint holds. The bracket has a sign, so that
 * the noise of small batches cancels out; that of the gap itself would not, since
 * a gap is never below 0. For two groups it is the multiplier of the gap.
 */
export function createLagrangianObjective(
  tf: Tf,
  spec: LagrangianSpec,
  { train, validation, groups }: ConstrainedRows,
): LagrangianObjective {
  const { task } = spec;
  const events = EVENTS[spec.fairness];
  const history: LagrangianEpoch[] = [];
  const constrained = events.map((event) => rowsIn(event, train).map((rows) => Number(rows >= spec.minGroupSize)));
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
      const error = errorSlope(tf, task, scoresOf(tf, task, outputs), rows, spec.posWeight);
      return bounds.addSlope(error, outputs, rows);
    },
    afterStep(outputs, rows) {
      bounds.update(outputs, rows);
    },
    judge: {
      kind: 'outputs',
      watched: [bounds.multipliers],
      judge(epoch, outputs) {
        const seen = lookAt(spec, train, validation, constrained, outputs);
        history.push(
          Object.freeze({
            epoch: epoch + 1,
            loss: seen.loss,
            violationSoft: Math.max(...seen.soft),
            violationHard: Math.max(...seen.hard),
            lambdas: Object.freeze(bounds.lambdasOf(outputs.watched[0] as Float32Array)),
          }),
        );
        return judgeGaps(spec, seen);
      },
    },
    dispose() {
      bounds.dispose();
    },
  };
}

/** What an epoch's outputs come to, on the host. */
interface Seen {
  readonly loss: number;
  readonly validationLoss: number;
  readonly soft: readonly number[];
  readonly hard: readonly number[];
}

function lookAt(
  { fairness, task, temperature, posWeight = 1 }: LagrangianSpec,
  train: NetworkRows,
  validation: NetworkRows,
  constrained: readonly Float64Array[],
  outputs: EpochOutputs,
): Seen {
  const value = (row: number): number => outputs.train[row] as number;
  const gaps = (valueOf: (row: number) => number): number[] =>
    EVENTS[fairness].map((event, index) => gapIn(event, train, valueOf, constrained[index] as Float64Array));
  const isBinary = task === 'binary';
  return {
    loss: meanOver(train, errorOf(task, train.y, outputs.train, posWeight)),
    validationLoss: meanOver(validation, errorOf(task, validation.y, outputs.validation, posWeight)),
    soft: gaps(isBinary ? (row) => sigmoid(value(row) / temperature) : value),
    hard: gaps(isBinary ? (row) => Number(value(row) >= 0) : value),
  };
}

function errorOf(
  task: NetworkTask,
  y: Float32Array,
  outputs: Float32Array,
  posWeight: number,
): (row: number) => number {
  const output = (row: number): number => outputs[row] as number;
  const target = (row: number): number => y[row] as number;
  if (task === 'regression') return (row) => (output(row) - target(row)) ** 2;
  return (row) => (target(row) === 1 ? posWeight : 1) * crossEntropy(output(row), target(row));
}

/** Within the tolerance the error on validation rows decides; beyond it the distance does, and no model may rest. */
function judgeGaps({ tolerances }: LagrangianSpec, { hard, validationLoss }: Seen): Judgement {
  const excess = Math.max(...hard.map((gap, index) => gap - (tolerances[index] as number)));
  const score = excess <= 0 || Number.isNaN(validationLoss) ? validationLoss : INFEASIBLE * (1 + excess);
  return { scores: [score], mayRest: [excess <= 0] };
}

/** The groups that are not constrained, in words. */
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
      { context: { fairness, minGroupSize }, suggestion: 'Lower minGroupSize, join small groups, or give more rows.' },
    );
  }
}

import type { Tensor, Tensor1D, Tensor2D, Variable } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { sum } from '../../metrics/statistics/group-stats.ts';
import { largestGap, softRates, type Tf } from '../../tensor/index.ts';
import {
  EVENTS,
  type FairnessConstraint,
  type FairnessEvent,
  gapIn,
  meanOver,
  membershipIn,
  rowsIn,
} from './fairness-events.ts';
import type { NetworkBatch, NetworkRows } from './network-rows.ts';
import { batchError, type NetworkTask } from './network-task.ts';
import type { EpochOutputs, Judgement, Objective } from './objective.ts';
import { crossEntropy, sigmoid } from './host-losses.ts';

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
  /** The multiplier of each event: one, or those of the true and the false positive rate. */
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
const INFEASIBLE = 1e6;

/**
 * Error + sum over events of lambda (gap - tolerance), for one network.
 *
 * The gap of an event is that of the groups' mean soft decisions,
 * sigmoid(logit / temperature), as running means over batches tell which groups
 * are highest and lowest; the slope is that of the batch. After each step every
 * multiplier moves by lambdaLr (gap - tolerance), and not below 0: it falls
 * where the constraint holds.
 */
export function createLagrangianObjective(
  tf: Tf,
  spec: LagrangianSpec,
  { train, validation, groups }: ConstrainedRows,
): LagrangianObjective {
  const { lambdaLr, task } = spec;
  const events = EVENTS[spec.fairness];
  const history: LagrangianEpoch[] = [];
  const constrained = events.map((event) => rowsIn(event, train).map((rows) => Number(rows >= spec.minGroupSize)));
  assertTwoGroups(spec, constrained);
  const states = events.map((event, index) => createRunningRates(tf, spec, event, constrained[index] as Float64Array));
  const lambdas = events.map(() => tf.tidy(() => tf.variable(tf.zeros([1]), false)));

  return {
    history,
    warnings: leftOut(spec, constrained, groups.labels),
    losses(outputs, batch) {
      const error = batchError(tf, task, outputs, batch, spec.posWeight);
      const terms = states.map((state, index) =>
        state
          .gap(outputs, batch)
          .sub(spec.tolerances[index] as number)
          .mul<Tensor1D>(lambdas[index] as Variable),
      );
      return terms.reduce((total, term) => total.add<Tensor1D>(term), error);
    },
    afterStep(outputs, batch) {
      for (const [index, state] of states.entries()) {
        const lambda = lambdas[index] as Variable;
        const excess = state.update(outputs, batch).sub(spec.tolerances[index] as number);
        lambda.assign(tf.relu(lambda.add(excess.mul(lambdaLr))));
      }
    },
    async judge(epoch, outputs) {
      const values = await Promise.all(lambdas.map((lambda) => lambda.data()));
      const seen = lookAt(spec, train, validation, constrained, outputs);
      history.push(
        Object.freeze({
          epoch: epoch + 1,
          loss: seen.loss,
          violationSoft: Math.max(...seen.soft),
          violationHard: Math.max(...seen.hard),
          lambdas: Object.freeze(values.map(([value = NaN]) => value)),
        }),
      );
      return judgeGaps(spec, seen);
    },
    dispose() {
      for (const state of states) state.dispose();
      tf.dispose(lambdas);
    },
  };
}

/** The soft rates of groups in one event. */
interface RunningRates {
  /** The gap of the running means with a batch, [1]; its slope is that of the batch alone. */
  gap(outputs: Tensor2D, batch: NetworkBatch): Tensor1D;
  /** Takes a batch into the running means, and gives their gap, [1]. */
  update(outputs: Tensor2D, batch: NetworkBatch): Tensor1D;
  dispose(): void;
}

function createRunningRates(
  tf: Tf,
  { smoothing, temperature, task }: LagrangianSpec,
  event: FairnessEvent,
  constrained: Float64Array,
): RunningRates {
  const g = constrained.length;
  const chosen = tf.tensor2d([...constrained], [1, g]);
  // Sums and weights apart, so that a group that a batch lacks keeps its rate.
  const sums = tf.tidy(() => tf.variable(tf.zeros([1, g]), false));
  const weights = tf.tidy(() => tf.variable(tf.zeros([1, g]), false));
  const soften = (outputs: Tensor2D): Tensor2D =>
    task === 'binary' ? tf.sigmoid(outputs.div<Tensor2D>(temperature)) : outputs;
  const membership = (batch: NetworkBatch): Tensor2D => membershipIn(tf, event, batch).mul(chosen);
  const withBatch = (scores: Tensor2D, members: Tensor2D): { sums: Tensor2D; weights: Tensor2D } => ({
    sums: sums.mul(smoothing).add<Tensor2D>(tf.matMul(scores, members)),
    weights: weights.mul(smoothing).add<Tensor2D>(members.sum(0, true)),
  });
  const ratesOf = (running: { sums: Tensor2D; weights: Tensor2D }): { rates: Tensor2D; present: Tensor2D } => ({
    rates: running.sums.div(running.weights.maximum(1e-12)),
    present: running.weights.greater(0).cast('float32'),
  });
  return {
    gap(outputs, batch) {
      const members = membership(batch);
      const gap = tf.customGrad((...given: (Tensor | ((saved: Tensor[]) => void))[]) => {
        const [logits, save] = given as [Tensor2D, (kept: Tensor[]) => void];
        const scores = soften(logits);
        const running = ratesOf(withBatch(scores, members));
        const slopes = slopesOfGap(tf, running, softRates(tf, scores, members), members);
        const ofScores = task === 'binary' ? scores.mul(tf.sub(1, scores)).div(temperature) : tf.onesLike(scores);
        save([ofScores.mul(slopes)]);
        return {
          value: largestGap(tf, running),
          gradFunc: (upstream: Tensor, [slope]: Tensor[]) => (slope as Tensor).mul(upstream.reshape([-1, 1])),
        };
      });
      return gap(outputs) as Tensor1D;
    },
    update(outputs, batch) {
      const running = withBatch(soften(outputs), membership(batch));
      sums.assign(running.sums);
      weights.assign(running.weights);
      return largestGap(tf, ratesOf(running));
    },
    dispose() {
      tf.dispose([chosen, sums, weights]);
    },
  };
}

/** d gap / d score of each row, [1, n]: its share of the highest group's rate, or minus that of the lowest's. */
function slopesOfGap(
  tf: Tf,
  running: { rates: Tensor2D; present: Tensor2D },
  inBatch: { present: Tensor2D },
  members: Tensor2D,
): Tensor2D {
  const g = running.rates.shape[1];
  const away = tf.sub(1, running.present).mul(1e30);
  const highest = tf.oneHot(running.rates.sub(away).argMax(1), g);
  const lowest = tf.oneHot(running.rates.add(away).argMin(1), g);
  const signs = highest.sub(lowest).cast('float32').mul(inBatch.present);
  const shares = members.div<Tensor2D>(members.sum(0, true).maximum(1e-12));
  return tf.matMul(signs as Tensor2D, shares.transpose());
}

/** What an epoch's outputs come to, on the host. */
interface Seen {
  readonly loss: number;
  readonly validationLoss: number;
  readonly soft: readonly number[];
  readonly hard: readonly number[];
}

function lookAt(
  { fairness, task, temperature }: LagrangianSpec,
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
    loss: meanOver(train, errorOf(task, train.y, outputs.train)),
    validationLoss: meanOver(validation, errorOf(task, validation.y, outputs.validation)),
    soft: gaps(isBinary ? (row) => sigmoid(value(row) / temperature) : value),
    hard: gaps(isBinary ? (row) => Number(value(row) >= 0) : value),
  };
}

function errorOf(task: NetworkTask, y: Float32Array, outputs: Float32Array): (row: number) => number {
  if (task === 'binary') return (row) => crossEntropy(outputs[row] as number, y[row] as number);
  return (row) => ((outputs[row] as number) - (y[row] as number)) ** 2;
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

import { createRandom } from '../../../src/internal/random.ts';
import type { FairnessEvent } from '../../../src/training/networks/fairness-events.ts';
import type { NetworkTask } from '../../../src/training/networks/network-task.ts';
import type { FairnessPenaltyName } from '../../../src/training/networks/penalties.ts';
import type { LayerWeights } from '../../../src/training/networks/network-weights.ts';

/** A batch of rows in float64, written row by row as in the definitions. */
export interface PlainBatch {
  readonly x: readonly (readonly number[])[];
  readonly y: readonly number[];
  /** -1 for none. */
  readonly groups: readonly number[];
  readonly weights: readonly number[];
  readonly groupCount: number;
}

/** The output of a model for each row of a batch, as a loss uses it. */
export type PlainLoss = (outputs: readonly number[], batch: PlainBatch) => number;

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

/** Returns each row's share of the weight of its batch. */
function sharesOf({ weights }: PlainBatch): number[] {
  return weights.map((weight) => weight / total(weights));
}

/** Returns the weighted mean of a value over some rows; NaN if they have no weight. */
function meanOf(batch: PlainBatch, values: readonly number[], isIn: (row: number) => boolean = () => true): number {
  const rows = range(values.length).filter(isIn);
  const weight = total(rows.map((row) => batch.weights[row] ?? NaN));
  return total(rows.map((row) => (values[row] ?? NaN) * (batch.weights[row] ?? NaN))) / weight;
}

/** Returns the groups that have weight in a batch. */
function presentGroups(batch: PlainBatch): number[] {
  return range(batch.groupCount).filter((group) =>
    batch.groups.some((code, row) => code === group && (batch.weights[row] ?? 0) > 0),
  );
}

/** Returns the mean scores of the groups present among some rows. */
function groupMeans(
  batch: PlainBatch,
  values: readonly number[],
  isIn: (row: number) => boolean = () => true,
): number[] {
  return range(batch.groupCount)
    .map((group) => meanOf(batch, values, (row) => batch.groups[row] === group && isIn(row)))
    .filter((mean) => !Number.isNaN(mean));
}

function squaredGap(means: readonly number[]): number {
  return means.length < 2 ? 0 : (Math.max(...means) - Math.min(...means)) ** 2;
}

/** Returns the mean binary cross-entropy, with rows of label 1 counted `posWeight` times, or the mean squared error. */
export function plainError(task: NetworkTask, posWeight: number): PlainLoss {
  return (outputs, batch) =>
    meanOf(
      batch,
      outputs.map((output, row) => {
        const y = batch.y[row] ?? NaN;
        if (task === 'regression') return (output - y) ** 2;
        return y === 1 ? posWeight * Math.log1p(Math.exp(-output)) : Math.log1p(Math.exp(output));
      }),
    );
}

const UNITS = 16;

/** The initial parameters of an adversary: weights and biases of a hidden layer of 16 units, then of the outputs. */
export function plainAdversary(groupCount: number, seed: number): number[] {
  const random = createRandom(seed, 3);
  const draw = (units: number, inputs: number): number[] =>
    range(units * inputs).map(() => Math.fround(random.normal() / Math.sqrt(inputs)));
  return [draw(UNITS, 1), draw(UNITS, 1), draw(groupCount, UNITS), draw(groupCount, 1)].flat();
}

/** Returns the outputs of an adversary, one per group: a network with rectifiers, on 4 (score - 1/2). */
function adversaryLogits(score: number, parameters: readonly number[], groupCount: number): number[] {
  const at = (index: number): number => parameters[index] ?? NaN;
  const hidden = range(UNITS).map((unit) => Math.max(0, at(unit) * 4 * (score - 0.5) + at(UNITS + unit)));
  const second = 2 * UNITS;
  return range(groupCount).map(
    (group) =>
      at(second + groupCount * UNITS + group) +
      total(hidden.map((value, unit) => value * at(second + group * UNITS + unit))),
  );
}

/** Returns the cross-entropy of an adversary's predictions, over the rows that have a group. */
export function plainCrossEntropy(scores: readonly number[], batch: PlainBatch, parameters: readonly number[]): number {
  const shares = sharesOf(batch);
  return total(
    scores.map((score, row) => {
      const group = batch.groups[row] ?? -1;
      if (group < 0) return 0;
      const logits = adversaryLogits(score, parameters, batch.groupCount);
      return (shares[row] ?? NaN) * (Math.log(total(logits.map(Math.exp))) - (logits[group] ?? NaN));
    }),
  );
}

/** Every penalty by its definition. */
const PENALTIES: Readonly<
  Record<FairnessPenaltyName, (scores: readonly number[], batch: PlainBatch, seed: number) => number>
> = {
  covariance: (scores, batch) =>
    total(
      range(batch.groupCount).map((group) => {
        const isIn = batch.groups.map((code) => Number(code === group));
        const together = meanOf(
          batch,
          scores.map((score, row) => score * (isIn[row] ?? NaN)),
        );
        return Math.abs(together - meanOf(batch, scores) * meanOf(batch, isIn));
      }),
    ),
  mean_gap: (scores, batch) => squaredGap(groupMeans(batch, scores)),
  equalized_odds: (scores, batch) =>
    total([0, 1].map((label) => squaredGap(groupMeans(batch, scores, (row) => batch.y[row] === label)))),
  mmd: (scores, batch) => {
    const alike = (isLeft: (row: number) => boolean, isRight: (row: number) => boolean): number =>
      meanOf(
        batch,
        scores.map((score) =>
          meanOf(
            batch,
            scores.map((other) => Math.exp(-(((score - other) / 0.1) ** 2))),
            isRight,
          ),
        ),
        isLeft,
      );
    // A group without other rows has no discrepancy.
    const groups = presentGroups(batch).filter((group) =>
      batch.groups.some((code, row) => code !== group && (batch.weights[row] ?? 0) > 0),
    );
    const of = groups.map((group) => {
      const inside = (row: number): boolean => batch.groups[row] === group;
      const outside = (row: number): boolean => batch.groups[row] !== group;
      return alike(inside, inside) - 2 * alike(inside, outside) + alike(outside, outside);
    });
    return total(of) / Math.max(1, groups.length);
  },
  correlation: (scores, batch) => {
    const groups = presentGroups(batch);
    const spread = (values: readonly number[]): number => {
      const mean = meanOf(batch, values);
      return Math.sqrt(
        meanOf(
          batch,
          values.map((value) => (value - mean) ** 2),
        ) + 1e-7,
      );
    };
    const of = groups.map((group) => {
      const isIn = batch.groups.map((code) => Number(code === group));
      const together = meanOf(
        batch,
        scores.map((score, row) => score * (isIn[row] ?? NaN)),
      );
      const covariance = together - meanOf(batch, scores) * meanOf(batch, isIn);
      return Math.abs(covariance) / (spread(scores) * spread(isIn));
    });
    return total(of) / Math.max(1, groups.length);
  },
  adversarial: (scores, batch, seed) => {
    const shares = sharesOf(batch);
    const known = range(scores.length).filter((row) => (batch.groups[row] ?? -1) >= 0);
    const complete = total(known.map((row) => shares[row] ?? NaN));
    const entropy = total(
      presentGroups(batch).map((group) => {
        const share =
          total(known.filter((row) => batch.groups[row] === group).map((row) => shares[row] ?? NaN)) / complete;
        return -share * Math.log(share);
      }),
    );
    return complete * entropy - plainCrossEntropy(scores, batch, plainAdversary(batch.groupCount, seed));
  },
};

/** Computes the central differences of a function in float64. */
export function differences(
  of: (values: readonly number[]) => number,
  values: readonly number[],
  step = 1e-6,
): number[] {
  const at = (index: number, value: number): number => of(values.map((other, own) => (own === index ? value : other)));
  return values.map((value, index) => (at(index, value + step) - at(index, value - step)) / (2 * step));
}

/** A penalty on the scores of a model: probabilities, or a regression's values. */
export function plainPenalty(name: FairnessPenaltyName, task: NetworkTask, seed: number): PlainLoss {
  return (outputs, batch) => PENALTIES[name](task === 'binary' ? outputs.map(sigmoid) : outputs, batch, seed);
}

/** The inputs of a multiplier's step and of its effect on the loss. */
export interface PlainBound {
  readonly events: readonly FairnessEvent[];
  readonly tolerance: number;
  readonly lambdaLr: number;
  readonly temperature: number;
  readonly task: NetworkTask;
}

const IS_IN: Readonly<Record<FairnessEvent, (label: number) => boolean>> = {
  all: () => true,
  positives: (label) => label === 1,
  negatives: (label) => label === 0,
};

/**
 * Returns what the multipliers add to the loss after one step from 0 on the outputs `at`: sum over events and groups
 * of (up_g - down_g) r_g, up_g = lambdaLr max(0, 2 (r_g - c) - tol) at those, c the middle of the highest and the
 * lowest rate.
 */
export function plainPressure(
  { events, tolerance, lambdaLr, temperature, task }: PlainBound,
  at: readonly number[],
): PlainLoss {
  // prettier-ignore
  const soft = (output: number): number => (task === 'binary' ? sigmoid(output / temperature) : output);
  return (outputs, batch) =>
    total(
      events.map((event) => {
        const rates = (given: readonly number[]): number[] =>
          groupMeans(batch, given.map(soft), (row) => IS_IN[event](batch.y[row] ?? NaN));
        const before = rates(at);
        const middle = (Math.max(...before) + Math.min(...before)) / 2;
        const forces = before.map((rate) => {
          const offset = 2 * (rate - middle);
          return lambdaLr * (Math.max(0, offset - tolerance) - Math.max(0, -offset - tolerance));
        });
        return total(rates(outputs).map((rate, index) => rate * (forces[index] ?? NaN)));
      }),
    );
}

/** Returns a network's output on each row: dense layers with rectifiers between them. */
export function plainOutputs(layers: readonly PlainLayer[], { x }: PlainBatch): number[] {
  return x.map((row) => {
    let z = [...row];
    layers.forEach(({ kernel, bias, inputs, outputs }, index) => {
      const out = range(outputs).map((unit) =>
        range(inputs).reduce((sum, input) => sum + (z[input] ?? NaN) * (kernel[input * outputs + unit] ?? NaN), bias[unit] ?? NaN)); // prettier-ignore
      z = index === layers.length - 1 ? out : out.map((value) => Math.max(0, value));
    });
    return z[0] ?? NaN;
  });
}

/** A layer's weights in float64: kernel [inputs, outputs], bias [outputs]. */
export interface PlainLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: number[];
  readonly bias: number[];
}

export function plainLayers(layers: readonly LayerWeights[]): PlainLayer[] {
  return layers.map(({ inputs, outputs, kernel, bias }) => ({ inputs, outputs, kernel: [...kernel], bias: [...bias] }));
}

/** Computes central differences in float64 for each layer's kernel and bias, in their order. */
export function plainGradients(layers: readonly PlainLayer[], batch: PlainBatch, loss: PlainLoss): number[][] {
  const step = 1e-6;
  const gradient = (values: number[], index: number): number => {
    const kept = values[index] ?? NaN;
    values[index] = kept + step;
    const above = loss(plainOutputs(layers, batch), batch);
    values[index] = kept - step;
    const below = loss(plainOutputs(layers, batch), batch);
    values[index] = kept;
    return (above - below) / (2 * step);
  };
  return layers.flatMap(({ kernel, bias }) => [kernel, bias].map((values) => values.map((_, index) => gradient(values, index)))); // prettier-ignore
}

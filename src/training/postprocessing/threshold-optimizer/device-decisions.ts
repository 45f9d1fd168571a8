import type { Tensor1D } from '@tensorflow/tfjs';

import { invalidParameter } from '../../../internal/arguments.ts';
import { withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import { ceilFloat32, currentTensorflow, floorFloat32, type Tf } from '../../../tensor/index.ts';
import { readDeviceRows } from '../../data/device-rows.ts';
import { drawInSequence, type DrawName } from './draw-uniforms.ts';
import type { UnseenGroupsName } from './optimizer-options.ts';
import { type ThresholdDecisions, unseenGroup } from './threshold-decisions.ts';
import { mixDecisions, type ThresholdInterpolation, type ThresholdOperation, type ThresholdRules } from './threshold-rules.ts'; // prettier-ignore

/** {@link ThresholdDecisions} for a tensor of scores. The caller disposes of the tensors. */
export interface TensorThresholdDecisions extends Pick<ThresholdDecisions, 'unseenGroups' | 'seed' | 'draw'> {
  /** The decisions, [rows] int32, 0 or 1. */
  readonly decisions: Tensor1D;
  /** The probability that the rules decide 1 for each row, [rows] float32. */
  readonly probabilities: Tensor1D;
  /** 1 for each row whose group was not in the rows of `fit`, if `unseenGroups` is `reject`; [rows] int32. */
  readonly rejected: Tensor1D;
}

/** {@link TensorThresholdDecisions} before the draw. */
export type TensorChances = Pick<TensorThresholdDecisions, 'probabilities' | 'rejected' | 'unseenGroups'>;

/** The rule of rows that are not decided: the threshold is above all scores. */
const NEVER: ThresholdOperation = { operator: '>', threshold: Infinity };
const REJECTED: ThresholdInterpolation = { p0: 1, operation0: NEVER, p1: 0, operation1: NEVER, pIgnore: 0, predictionConstant: 0 }; // prettier-ignore

/**
 * Computes the probability of a decision 1 for each row, on the device of the scores. Scores are compared with
 * thresholds as on the host: thresholds are rounded so that no float32 score changes sides.
 * @param source a tensor, [rows], finite
 * @throws {DataValidationError} under the conditions of `readDeviceRows`, or if a group has no rule and `unseenGroups`
 *   is `raise`
 */
export async function deviceChances(
  source: ColumnSource,
  sensitive: SensitiveSource,
  rules: ThresholdRules,
  policy: UnseenGroupsName,
): Promise<TensorChances> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const { columns, groups } = await readDeviceRows(tf, keep, {
      columns: { scores: { source, must: 'finite' } },
      groups: { sensitive },
    });
    const ruleOf = new Map(rules.groups.map(({ group, interpolation }) => [group, interpolation]));
    const unseenGroups = groups.labels.filter((label) => !ruleOf.has(label));
    if (policy === 'raise' && unseenGroups.length > 0) throw unseenGroup(unseenGroups);
    const rest = policy === 'reject' ? REJECTED : rules.pooled.interpolation;
    const table = groups.labels.map((label) => ruleOf.get(label) ?? rest);
    const isRejected = groups.labels.map((label) => Number(policy === 'reject' && !ruleOf.has(label)));
    const scores = columns.scores?.tensor as Tensor1D;
    const { probabilities, rejected } = tf.tidy(() => ({
      probabilities: chancesOf(tf, scores, groups.codes, table),
      rejected: lookUp(tf, groups.codes, isRejected).cast<Tensor1D>('int32'),
    }));
    return { probabilities, rejected, unseenGroups: Object.freeze(unseenGroups) };
  });
}

function lookUp(tf: Tf, codes: Tensor1D, table: readonly number[]): Tensor1D {
  return tf.gather(tf.tensor1d([...table, 0], 'float32'), codes.cast<Tensor1D>('int32'));
}

function chancesOf(tf: Tf, scores: Tensor1D, codes: Tensor1D, rules: readonly ThresholdInterpolation[]): Tensor1D {
  const decides = (operationOf: (rule: ThresholdInterpolation) => ThresholdOperation): Tensor1D => {
    const operations = rules.map(operationOf);
    // With the sign, every operation decides 1 for values above its bound.
    const sign = lookUp(
      tf,
      codes,
      operations.map(({ operator }) => (operator === '>' ? 1 : -1)),
    );
    const bound = lookUp(tf, codes, operations.map(boundOf));
    return scores.mul<Tensor1D>(sign).greater<Tensor1D>(bound).cast<Tensor1D>('float32');
  };
  const decision0 = decides(({ operation0 }) => operation0);
  const decision1 = decides(({ operation1 }) => operation1);
  // Each pair of decisions has one probability, which is computed in float64.
  const mixed = rules.flatMap((rule) =>
    [0, 1].flatMap((own0) => [0, 1].map((own1) => Math.min(1, mixDecisions(rule, own0, own1)))),
  );
  return lookUp(tf, codes.mul<Tensor1D>(4).add<Tensor1D>(decision0.mul<Tensor1D>(2)).add<Tensor1D>(decision1), mixed);
}

/** The largest float32 number, because some GPUs do not compare with infinities. */
const LARGEST = 3.4028234663852886e38;

function boundOf({ operator, threshold }: ThresholdOperation): number {
  const bound = operator === '>' ? floorFloat32(threshold) : -ceilFloat32(threshold);
  return Math.min(LARGEST, Math.max(-LARGEST, bound));
}

/** @throws {ValueError} if a draw hashes rows on the host */
export function assertDrawnOnDevice(draw: DrawName): void {
  if (draw === 'stable') throw invalidParameter('draw', "be 'sequence' if the scores are a tensor", draw);
}

/**
 * Draws a decision for each row: 1 if a random number in [0, 1) is below the row's probability. The numbers are those of
 * the host, rounded down to multiples of 2^-24.
 */
export function drawOnDevice(chances: TensorChances, seed: number): TensorThresholdDecisions {
  const tf = currentTensorflow();
  const decisions = tf.tidy(() => {
    const drawn = drawInSequence(chances.probabilities.size, seed);
    const numbers = tf.tensor1d(Float32Array.from(drawn, (number) => Math.floor(number * 2 ** 24) / 2 ** 24));
    return numbers.less<Tensor1D>(chances.probabilities).cast<Tensor1D>('int32');
  });
  return Object.freeze({ decisions, ...chances, seed, draw: 'sequence' });
}

import type { Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import { assertNotDisposed, type ColumnSource, isDeviceTensor, type TensorLike } from '../../../table/index.ts';
import type { Tf } from '../../../tensor/index.ts';
import { readTruth, type ScoreRows } from '../reduce-scores.ts';
import { toFiniteNumbers, toWeights } from '../row-arguments.ts';
import type { Keep } from './row-states.ts';

/**
 * Returns numbers as a tensor: the caller's own tensor, or a new tensor with the numbers of another source.
 * @throws {DataValidationError} if a tensor is not 1-D, or a value is text
 */
export function numbersTensor(tf: Tf, keep: Keep, source: ColumnSource, name: string): Tensor1D {
  return isDeviceTensor(source)
    ? oneDimensional(source, name)
    : keep(tf.tensor1d(Float32Array.from(toFiniteNumbers(source, name))));
}

/**
 * Returns weights as a tensor, like {@link numbersTensor}. Weights that are not tensors are checked by this function.
 */
export function weightsTensor(tf: Tf, keep: Keep, source: ColumnSource): Tensor1D {
  return isDeviceTensor(source)
    ? oneDimensional(source, 'sampleWeight')
    : keep(tf.tensor1d(Float32Array.from(toWeights(source))));
}

/**
 * Returns true labels as 0, 1 and NaN, from a tensor or any source of binary labels.
 * @throws {DataValidationError} if a positive label is given for a tensor, or if the positive label does not occur
 */
export function truthTensor(
  tf: Tf,
  keep: Keep,
  yTrue: ColumnSource,
  labels: Pick<ScoreRows, 'positiveLabel' | 'yTruePositiveLabel'>,
): Tensor1D {
  if (isDeviceTensor(yTrue)) {
    refusePositiveLabel('yTrue', labels.yTruePositiveLabel ?? labels.positiveLabel);
    return oneDimensional(yTrue, 'yTrue');
  }
  return keep(tf.tensor1d(Float32Array.from(readTruth(yTrue, labels), (value) => (value < 0 ? NaN : value))));
}

function oneDimensional(tensor: TensorLike, name: string): Tensor1D {
  assertNotDisposed(tensor, name);
  if (tensor.shape.length === 1) return tensor as unknown as Tensor1D;
  throw new DataValidationError(`${name} must be a 1-D tensor; got shape [${tensor.shape.join(', ')}].`, {
    code: 'invalid-value',
    context: { argument: name, shape: tensor.shape },
    suggestion: 'Reshape the tensor, as in tensor.reshape([-1]).',
  });
}

/** @throws {DataValidationError} if a positive label is given: a tensor of labels has no label names */
export function refusePositiveLabel(name: string, positiveLabel: string | undefined): void {
  if (positiveLabel === undefined) return;
  throw new DataValidationError(
    `${name} is a tensor, so its values must be 0 or 1, and positiveLabel cannot be used.`,
    {
      code: 'invalid-value',
      context: { argument: 'positiveLabel' },
      suggestion: 'Remove positiveLabel, or give arrays.',
    },
  );
}

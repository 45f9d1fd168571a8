import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../exceptions/index.ts';
import { cellCounts, currentTensorflow, groupSums, type Tf } from '../tensor/index.ts';
import {
  type ColumnSource,
  encodeGroups,
  isTensorLike,
  type NanPolicy,
  notBinary,
  type SensitiveSource,
  toBinary,
  toColumn,
} from '../table/index.ts';
import type { ClassificationStats, RegressionStats } from './group-stats.ts';
import {
  assertSameLength,
  type ClassificationRows,
  countDropped,
  finishClassification,
  RAW_CELLS,
  type RegressionRows,
} from './reduce-rows.ts';

/** The state of a value that is neither 0, 1 nor missing. */
const BAD_STATE = 3;

/**
 * Reduces decisions that are tensors where they are: only the counts are read
 * back. Counts are exact; weighted sums have float32's precision.
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or no row is left
 */
export async function reduceClassificationTensors(rows: ClassificationRows): Promise<ClassificationStats> {
  const tf = currentTensorflow();
  if (rows.positiveLabel !== undefined) {
    throw new DataValidationError('Decisions that are tensors are 0 or 1; positiveLabel is for labels that are not.', {
      context: { argument: 'positiveLabel' },
      suggestion: 'Leave positiveLabel out, or give arrays.',
    });
  }
  const groups = await groupCodes(tf, rows.sensitive, rows.nanPolicy);
  const yPred = toTensor(tf, rows.yPred, 'yPred');
  const yTrue = rows.yTrue === undefined ? undefined : toLabelTensor(tf, rows.yTrue, 'yTrue');
  const weights = rows.sampleWeight === undefined ? undefined : toTensor(tf, rows.sampleWeight, 'sampleWeight');
  const own = [groups.codes, ...[yPred, yTrue, weights].flatMap((part) => (part?.isOwn === true ? [part.tensor] : []))];
  try {
    assertSameLength({
      yPred: yPred.tensor.size,
      sensitive: groups.codes.size,
      ...(yTrue === undefined ? {} : { yTrue: yTrue.tensor.size }),
      ...(weights === undefined ? {} : { sampleWeight: weights.tensor.size }),
    });
    await assertNotNegative(tf, weights?.tensor);
    const cells = tf.tidy(() => {
      const truth = yTrue === undefined ? tf.scalar(0, 'int32') : stateOf(tf, yTrue.tensor);
      // Plain numbers would turn the codes into float32.
      const [one, four] = [tf.scalar(1, 'int32'), tf.scalar(4, 'int32')];
      const state = groups.codes.add(one).mul(four).add(truth);
      const decision = stateOf(tf, yPred.tensor);
      // A row without a weight is a row without a decision.
      const known = weights === undefined ? one : tf.logicalNot(tf.isNaN(weights.tensor.cast('float32'))).cast('int32');
      return state.mul(four).add<Tensor1D>(decision.mul(known));
    });
    own.push(cells);
    const size = (groups.labels.length + 1) * RAW_CELLS;
    const counts = await cellCounts(tf, cells, size);
    await assertStates(counts, { yPred: yPred.tensor, yTrue: yTrue?.tensor });
    const weighted = weights === undefined ? undefined : tf.tidy(() => withoutNaN(tf, weights.tensor));
    const squared = weighted?.square<Tensor1D>();
    if (weighted !== undefined && squared !== undefined) own.push(weighted, squared);
    return finishClassification(
      groups.labels,
      {
        counts,
        weights: weighted === undefined ? counts : await cellCounts(tf, cells, size, weighted),
        squaredWeights: squared === undefined ? counts : await cellCounts(tf, cells, size, squared),
      },
      yTrue !== undefined,
      yPred.tensor.size,
    );
  } finally {
    tf.dispose(own);
  }
}

/**
 * Reduces errors of predictions that are tensors where they are, in float32.
 * @throws {DataValidationError} where lengths differ or no row is left
 */
export async function reduceRegressionTensors(rows: RegressionRows): Promise<RegressionStats> {
  const tf = currentTensorflow();
  const groups = await groupCodes(tf, rows.sensitive, rows.nanPolicy);
  const parts = [toTensor(tf, rows.yPred, 'yPred'), toTensor(tf, rows.yTrue, 'yTrue')];
  if (rows.sampleWeight !== undefined) parts.push(toTensor(tf, rows.sampleWeight, 'sampleWeight'));
  const [yPred, yTrue, weights] = parts.map(({ tensor }) => tensor) as [Tensor1D, Tensor1D, Tensor1D | undefined];
  const own: Tensor[] = [groups.codes, ...parts.flatMap(({ tensor, isOwn }) => (isOwn ? [tensor] : []))];
  try {
    assertSameLength({
      yPred: yPred.size,
      yTrue: yTrue.size,
      sensitive: groups.codes.size,
      ...(weights === undefined ? {} : { sampleWeight: weights.size }),
    });
    await assertNotNegative(tf, weights);
    const prepared = tf.tidy(() => {
      const error: Tensor1D = yPred.cast('float32').sub(yTrue.cast('float32'));
      const weight: Tensor = weights?.cast('float32') ?? tf.onesLike(error);
      const isKnown = tf.logicalNot(tf.logicalOr(tf.isNaN(error), tf.isNaN(weight)));
      // A row that lacks something goes to the place before the first group.
      const codes = groups.codes.add(tf.scalar(1, 'int32')).mul<Tensor1D>(isKnown.cast('int32'));
      const clean = (values: Tensor): Tensor1D => tf.where(isKnown, values, tf.zerosLike(values)).as1D();
      return {
        codes,
        ones: clean(tf.onesLike(error)),
        weight: clean(weight),
        squaredWeight: clean(weight.square()),
        absolute: clean(error.abs().mul(weight)),
        squared: clean(error.square().mul(weight)),
      };
    });
    own.push(...Object.values(prepared));
    const sum = async (values: Tensor1D): Promise<Float64Array> =>
      (await groupSums(tf, values, prepared.codes, groups.labels.length + 1)).slice(1);
    const counts = await sum(prepared.ones);
    const squaredErrors = await sum(prepared.squared);
    if (!squaredErrors.every(Number.isFinite)) throw await firstInfinite({ yPred, yTrue });
    return {
      kind: 'regression',
      labels: groups.labels,
      counts,
      weights: await sum(prepared.weight),
      squaredWeights: await sum(prepared.squaredWeight),
      absoluteErrors: await sum(prepared.absolute),
      squaredErrors,
      nDropped: countDropped(counts, yPred.size),
    };
  } finally {
    tf.dispose(own);
  }
}

/** A tensor, and whether it was made here and must be disposed of. */
interface Lent {
  readonly tensor: Tensor1D;
  readonly isOwn: boolean;
}

function toTensor(tf: Tf, source: ColumnSource, name: string): Lent {
  if (isTensorLike(source)) {
    if (source.shape.length === 1) return { tensor: source as unknown as Tensor1D, isOwn: false };
    throw new DataValidationError(`${name} must be a 1-D tensor; got shape [${source.shape.join(', ')}].`, {
      context: { argument: name, shape: source.shape },
    });
  }
  const column = toColumn(source, name);
  if (column.kind === 'numeric') return { tensor: tf.tensor1d(Float32Array.from(column.values)), isOwn: true };
  throw new DataValidationError(`${name} holds text, and the predictions are a tensor.`, {
    context: { argument: name },
    suggestion: 'Give numbers, or give all arguments as arrays.',
  });
}

/** Labels as 0, 1 and NaN, from a tensor or from whatever the host knows as binary. */
function toLabelTensor(tf: Tf, source: ColumnSource, name: string): Lent {
  if (isTensorLike(source)) return toTensor(tf, source, name);
  const values = Float32Array.from(toBinary(source, name), (value) => (value < 0 ? NaN : value));
  return { tensor: tf.tensor1d(values), isOwn: true };
}

function withoutNaN(tf: Tf, values: Tensor1D): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  return tf.where(tf.isNaN(numbers), tf.zerosLike(numbers), numbers).as1D();
}

/** Group codes where the tensors are, and their labels on the host. */
async function groupCodes(
  tf: Tf,
  sensitive: SensitiveSource,
  nanPolicy: NanPolicy | undefined,
): Promise<{ codes: Tensor1D; labels: readonly string[] }> {
  if (!isTensorLike(sensitive) || sensitive.dtype === 'string') {
    const { codes, labels } = encodeGroups(sensitive, nanPolicy);
    return { codes: tf.tensor1d(codes, 'int32'), labels };
  }
  // Read back and encoded on the host: codes may be fractions, missing, or far apart.
  const values = await (sensitive as unknown as Tensor1D).data();
  const { codes, labels } = encodeGroups(values, nanPolicy);
  return { codes: tf.tensor1d(codes, 'int32'), labels };
}

/** 0 where missing, 1 for 0, 2 for 1, 3 for anything else. */
function stateOf(tf: Tf, values: Tensor1D): Tensor1D {
  const numbers = values.cast<Tensor1D>('float32');
  const isZero = numbers.equal(0).cast('int32');
  const isOne = numbers.equal(1).cast('int32');
  const isMissing = tf.isNaN(numbers).cast('int32');
  const isBad = tf.sub(1, isZero.add(isOne).add(isMissing)).mul(BAD_STATE);
  return isZero.add(isOne.mul(2)).add<Tensor1D>(isBad).cast('int32');
}

async function assertStates(
  counts: Float64Array,
  sources: { readonly yPred: Tensor1D; readonly yTrue: Tensor1D | undefined },
): Promise<void> {
  const isSeen = (stateOfCell: (cell: number) => number): boolean =>
    counts.some((count, cell) => count > 0 && stateOfCell(cell % RAW_CELLS) === BAD_STATE);
  if (isSeen((cell) => cell % 4)) throw await firstBad(sources.yPred, 'yPred');
  if (sources.yTrue !== undefined && isSeen((cell) => Math.floor(cell / 4)))
    throw await firstBad(sources.yTrue, 'yTrue');
}

async function firstInfinite(tensors: Readonly<Record<string, Tensor1D>>): Promise<DataValidationError> {
  for (const [name, tensor] of Object.entries(tensors)) {
    const data = await tensor.data();
    const index = data.findIndex((value) => value === Infinity || value === -Infinity);
    if (index < 0) continue;
    return new DataValidationError(
      `${name} must be finite, but holds ${String(data[index])} at index ${String(index)}.`,
      {
        context: { argument: name, index, value: data[index] },
      },
    );
  }
  return new DataValidationError('The errors are too large for float32.', {
    suggestion: 'Scale the target, or give arrays.',
  });
}

async function assertNotNegative(tf: Tf, weights: Tensor1D | undefined): Promise<void> {
  if (weights === undefined || weights.size === 0) return;
  const isBad = tf.tidy(() => tf.logicalOr(weights.less(0), tf.isInf(weights)).any());
  const [bad = 0] = await isBad.data();
  isBad.dispose();
  if (bad === 0) return;
  throw new DataValidationError('sampleWeight must hold finite weights of 0 or more.', {
    context: { argument: 'sampleWeight' },
  });
}

async function firstBad(values: Tensor1D, name: string): Promise<DataValidationError> {
  const data = await values.data();
  const index = data.findIndex((value) => value !== 0 && value !== 1 && !Number.isNaN(value));
  return notBinary(name, `at index ${String(index)}`, data[index]);
}

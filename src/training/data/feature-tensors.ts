import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../exceptions/index.ts';
import { createRowChunks, type Tf, unitOf } from '../../tensor/index.ts';
import { assertFeatures, assertNear, type FeatureSpec, type FittedFeatures, numericSpec } from './feature-encoder.ts';

/** The smallest and the largest known value of a column; Infinity and -Infinity if no value is known. */
export interface ColumnRange {
  readonly min: number;
  readonly max: number;
}

/** The columns of a tensor of features. */
export interface FeatureColumns {
  readonly names: readonly string[];
  readonly ranges: readonly ColumnRange[];
}

/** Statistics of the known values of a column. */
export interface ColumnMoments {
  /** The number of values that are not missing. */
  readonly known: number;
  readonly mean: number;
  /** The population standard deviation; 0 if all values are equal. */
  readonly scale: number;
}

/** The maximum number of feature values in one step of a reduction. */
const VALUES_AT_ONCE = 2 ** 22;

/** The number of rows that are summed first, so that only sums of similar size are added. */
const ROWS_PER_SUM = 64;

/** Applies a function to chunks of the features, [m, d], and returns the results as columns, [k, chunks]. */
function mapChunks(tf: Tf, x: Tensor2D, work: (x: Tensor2D) => Tensor): Tensor2D {
  const chunks = createRowChunks(tf, { x }, Math.max(1, Math.floor(VALUES_AT_ONCE / Math.max(1, x.shape[1]))));
  return chunks.map((chunk) => work(chunk).reshape([-1, 1]));
}

/**
 * Reads the range of each column, in one read. Missing values (NaN) are ignored.
 * @throws {DataValidationError} if a value is infinite; the error names the first such row
 */
export async function readRanges(tf: Tf, x: Tensor2D, names: readonly string[]): Promise<ColumnRange[]> {
  const extremes = await readAndDispose(tf.tidy(() => extremesOf(tf, x)));
  const ranges = names.map((_, column) => ({
    max: extremes[column] as number,
    min: -(extremes[names.length + column] as number),
  }));
  for (const [column, range] of ranges.entries()) {
    if (range.max === Infinity || range.min === -Infinity) throw await notFinite(tf, x, column, names);
  }
  return ranges;
}

/** Returns the largest value and the largest negated value of each column, [2, d], without missing values. */
function extremesOf(tf: Tf, x: Tensor2D): Tensor {
  return mapChunks(tf, x, (chunk) => {
    const isMissing = tf.isNaN(chunk);
    const lowest = tf.fill(chunk.shape, -Infinity);
    return tf.stack([tf.where(isMissing, lowest, chunk).max(0), tf.where(isMissing, lowest, chunk.neg()).max(0)]);
  })
    .max(1)
    .reshape([2, -1]);
}

/** Reads a tensor and disposes of it. */
async function readAndDispose(tensor: Tensor): Promise<Float32Array> {
  try {
    return await tensor.data<'float32'>();
  } finally {
    tensor.dispose();
  }
}

async function notFinite(tf: Tf, x: Tensor2D, column: number, names: readonly string[]): Promise<DataValidationError> {
  const name = names[column] ?? '';
  const found = tf.tidy(() => {
    const values = tf.gather(x, [column], 1).flatten();
    const row = values.abs().equal(Infinity).cast<Tensor1D>('float32').argMax();
    return tf.stack([row.cast('float32').reshape([]), tf.gather(values, row).reshape([])]);
  });
  const [row = 0, value = NaN] = await readAndDispose(found);
  return new DataValidationError(
    `Column '${name}' must be finite, but row ${String(row + 1)} holds ${String(value)}.`,
    { code: 'invalid-value', context: { column: name, row, value }, suggestion: 'Correct or clear that value.' },
  );
}

/**
 * Computes the moments of each column, in one read. Sums are taken in float32 around the mean, so the error is a few
 * millionths of a standard deviation.
 * @param ranges the range of each column in these rows, or in more rows
 */
export async function readMoments(tf: Tf, x: Tensor2D, ranges: readonly ColumnRange[]): Promise<ColumnMoments[]> {
  // Values are divided by a power of two, so that squares neither overflow nor underflow.
  const units = ranges.map(({ min, max }) => (max < min ? 1 : unitOf(Math.max(Math.abs(min), Math.abs(max)))));
  const table = tf.tidy(() => {
    const divisor = tf.tensor1d(units);
    const sum = (valuesOf: (known: Tensor2D, z: Tensor2D) => Tensor2D[]): Tensor[] => {
      const sums = mapChunks(tf, x, (chunk) => {
        const isMissing = tf.isNaN(chunk);
        const z = tf.where<Tensor2D>(isMissing, tf.zerosLike(chunk), chunk.div(divisor));
        return tf.stack(valuesOf(tf.logicalNot(isMissing).cast('float32'), z).map((one) => columnSums(one)));
      }).sum(1);
      return tf.unstack(sums.reshape([-1, units.length]));
    };
    const [known, first] = sum((isKnown, z) => [isKnown, z]) as [Tensor, Tensor];
    const centre = first.div(known.maximum(1));
    const [rest, squares] = sum((isKnown, z) => {
      const distance = z.sub(centre).mul<Tensor2D>(isKnown);
      return [distance, distance.square<Tensor2D>()];
    }) as [Tensor, Tensor];
    return tf.stack([known, centre, rest, squares, ...tf.unstack(extremesOf(tf, x))]);
  });
  const values = await readAndDispose(table);
  return units.map((unit, column) => {
    const at = (row: number): number => values[row * units.length + column] as number;
    const [known, max, min] = [at(0), at(4), -at(5)];
    if (known === 0) return { known, mean: NaN, scale: NaN };
    if (max === min) return { known, mean: max, scale: 0 };
    const shift = at(2) / known;
    const variance = Math.max(0, at(3) / known - shift ** 2);
    return { known, mean: (at(1) + shift) * unit, scale: Math.sqrt(variance) * unit };
  });
}

/** Sums the columns of [m, d] to [d]. */
function columnSums(values: Tensor2D): Tensor {
  const [rows, columns] = values.shape;
  const blocks = Math.ceil(rows / ROWS_PER_SUM);
  return values
    .pad([
      [0, blocks * ROWS_PER_SUM - rows],
      [0, 0],
    ])
    .reshape([blocks, ROWS_PER_SUM, columns])
    .sum(1)
    .sum(0);
}

/**
 * Learns the encoding of features from training rows on the tensor backend, like `fitFeatures`. Missing values (NaN) are
 * marked, and columns with only one value are excluded.
 * @throws {DataValidationError} if every feature is excluded
 */
export async function fitFeatureTensors(
  tf: Tf,
  x: Tensor2D,
  { names, ranges }: FeatureColumns,
): Promise<FittedFeatures> {
  const moments = await readMoments(tf, x, ranges);
  const warnings: string[] = [];
  const [n] = x.shape;
  const specs = names.flatMap((name, column) =>
    numericSpec(name, { ...(moments[column] as ColumnMoments), rows: n }, warnings),
  );
  assertFeatures(specs, names, warnings);
  return { specs, warnings };
}

/**
 * Encodes features on the tensor backend, like `encodeFeatures`: [n, d] to [n, encodedWidth]. Call it inside `tf.tidy`.
 * @throws {DataValidationError} if a column of the encoding is missing or text, or if a value is far outside the range
 *   of the training rows
 */
export function encodeFeatureTensor(
  tf: Tf,
  x: Tensor2D,
  specs: readonly FeatureSpec[],
  { names, ranges }: FeatureColumns,
): Tensor2D {
  const columns = specs.map(({ name }) => columnOf(name, names));
  const numeric = specs.map((spec, index) => {
    if (spec.kind !== 'numeric') throw needsText(spec.name);
    const { min, max } = ranges[columns[index] as number] as ColumnRange;
    // The range of a column without known values is infinite.
    for (const value of min <= max ? [min, max] : []) assertNear(spec, value);
    return spec;
  });
  const isSame = columns.length === x.shape[1] && columns.every((column, index) => column === index);
  const given: Tensor2D = isSame ? x : tf.gather(x, tf.tensor1d(columns, 'int32'), 1);
  const isMissing = tf.isNaN(given);
  // The mean is subtracted in two parts, because float32 would round it by more than the rounding of the values.
  const means = numeric.map(({ mean }) => Math.fround(mean));
  const rests = numeric.map(({ mean }, index) => mean - (means[index] as number));
  const scores = given
    .sub(tf.tensor1d(means))
    .sub(tf.tensor1d(rests))
    .div<Tensor2D>(tf.tensor1d(numeric.map(({ scale }) => scale)));
  const known = tf.where<Tensor2D>(isMissing, tf.zerosLike(scores), scores);
  if (!numeric.some(({ marksMissing }) => marksMissing)) return known;
  const order = numeric.flatMap(({ marksMissing }, index) =>
    marksMissing ? [index, numeric.length + index] : [index],
  );
  return tf.gather(tf.concat([known, isMissing.cast<Tensor2D>('float32')], 1), tf.tensor1d(order, 'int32'), 1);
}

function columnOf(name: string, names: readonly string[]): number {
  const column = names.indexOf(name);
  if (column >= 0) return column;
  throw new DataValidationError(
    `The tensor has no column '${name}'; its columns are named ${String(names[0])} to ${String(names.at(-1))}.`,
    {
      code: 'unknown-column',
      context: { column: name },
      suggestion: 'Give a tensor with the columns of the training rows, or a table with columns of these names.',
    },
  );
}

function needsText(name: string): DataValidationError {
  return new DataValidationError(`The model was trained on texts in column '${name}', which a tensor does not hold.`, {
    code: 'invalid-value',
    context: { column: name },
    suggestion: 'Give a table with a column of texts.',
  });
}

import type { Rank, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { MISSING_LABEL, type Table } from '../../table/index.ts';
import { groupColumnSums, type Slice, type Tf } from '../../tensor/index.ts';
import { quote } from '../../internal/arguments.ts';
import { counted, formatNumber } from '../../internal/format.ts';
import { type FeatureSpec, type NumericFeature, standardScore } from '../data/feature-encoder.ts';
import { isPlainFeature } from './model-card.ts';

/** Describes values of a table that did not occur in training, with one sentence per problem. */
export function describeGaps(table: Table, specs: readonly FeatureSpec[]): string[] {
  return specs.flatMap((spec) => {
    if (spec.kind === 'categorical') return categoricalGaps(table, spec).map((gap) => describeGap(spec, gap));
    const { values } = table.numeric(spec.name);
    const missing = values.reduce((sum, value) => sum + Number(Number.isNaN(value)), 0);
    return numericGaps(spec, missing);
  });
}

/**
 * The distance of means, in standard deviations of the training rows, and the ratio of spreads that suggest another
 * unit.
 */
const [FAR, OTHER_SPREAD] = [4, 20];

/** The minimum number of values that show a scale. */
const MIN_VALUES = 20;

/**
 * Describes columns that seem to be in another unit than in training, such as minutes instead of hours, or to hold a code
 * for missing values.
 */
export function describeUnlikelyNumbers(table: Table, specs: readonly FeatureSpec[]): string[] {
  return specs.flatMap((spec) =>
    spec.kind === 'numeric' && table.has(spec.name)
      ? [...otherUnit(spec, table.numeric(spec.name).values), ...codedGap(spec, table.numeric(spec.name).values)]
      : [],
  );
}

function otherUnit(spec: NumericFeature, values: Float64Array): string[] {
  const known = values.filter((value) => !Number.isNaN(value));
  if (isPlainFeature(spec) || known.length < MIN_VALUES) return [];
  const { mean, scale } = standardScore(known);
  const distance = Math.abs(mean - spec.mean) / spec.scale;
  const ratio = scale / spec.scale;
  if (distance <= FAR && ratio <= OTHER_SPREAD && (ratio === 0 || ratio >= 1 / OTHER_SPREAD)) return [];
  const text = (centre: number, spread: number): string => `${formatNumber(centre, 2)} (standard deviation ${formatNumber(spread, 2)})`; // prettier-ignore
  return [
    describeGap(spec, `the mean is ${text(mean, scale)}, and in training it was ${text(spec.mean, spec.scale)}; check that the unit is the same`), // prettier-ignore
  ];
}

/** From how many standard deviations of the training rows one value may be a code. */
const CODE_DISTANCE = 3;

/**
 * At most 1/z^2 of the rows of training can have a value that is z standard deviations from their mean (Chebyshev). With
 * so many times this share, the value has another meaning than in training.
 */
const CODE_EXCESS = 2;

/** Describes a value that many rows have, and that is far from those in training: usually, a code for a missing value. */
function codedGap(spec: NumericFeature, values: Float64Array): string[] {
  if (isPlainFeature(spec)) return [];
  const counts = new Map<number, number>();
  for (const value of values) {
    if (Math.abs(value - spec.mean) >= CODE_DISTANCE * spec.scale) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .filter(([value, count]) => {
      const largestShare = ((value - spec.mean) / spec.scale) ** -2;
      return count >= Math.max(MIN_VALUES, CODE_EXCESS * largestShare * values.length) && count < values.length;
    })
    .map(
      ([value, count]) =>
      describeGap(spec, `${counted(count, 'row has', 'rows have')} the value ${String(value)}, far from those in training (mean ${formatNumber(spec.mean, 2)}, standard deviation ${formatNumber(spec.scale, 2)}); if it stands for a missing value, leave it empty`), // prettier-ignore
    );
}

/** Describes missing values of columns on the device, [rows, specs.length], like {@link describeGaps}. */
export async function describeTensorGaps(tf: Tf, x: Tensor2D, specs: readonly FeatureSpec[]): Promise<string[]> {
  const counts = await countMissing(tf, x);
  return specs.flatMap((spec, column) => numericGaps(spec, counts[column] ?? 0));
}

function numericGaps(spec: FeatureSpec, missing: number): string[] {
  if (missing === 0 || (spec.kind === 'numeric' && spec.marksMissing)) return [];
  return [describeGap(spec, `${rows(missing)} no value, though all training rows had one; the mean is used`)];
}

function describeGap({ name }: FeatureSpec, gap: string): string {
  return `feature '${name}': ${gap}`;
}

/** Counts the missing values of each column, [columns], on the device; empty without rows. */
async function countMissing(tf: Tf, x: Tensor2D): Promise<number[]> {
  if (x.shape[0] === 0) return [];
  return withTensors(tf, async (keep) => {
    const columns = (tf.unstack(x, 1) as Tensor1D[]).map(keep);
    const [first] = columns as [Tensor1D];
    const cells = { rows: x.shape[0], cells: 1, codesOf: (slice: Slice) => tf.zeros<Rank.R1>([slice(first).size], 'int32') }; // prettier-ignore
    const sums = await groupColumnSums(tf, cells, columns.length, (slice) =>
      columns.map((column) => tf.isNaN(slice(column)).cast<Tensor1D>('float32')),
    );
    return sums.map(([count = 0]) => count);
  });
}

function categoricalGaps(table: Table, spec: FeatureSpec & { kind: 'categorical' }): string[] {
  const { codes, labels } = table.categorical(spec.name);
  const known = new Set(spec.levels);
  const isKnown = labels.map((label) => known.has(label));
  const marksMissing = known.has(MISSING_LABEL);
  const counts = new Float64Array(labels.length);
  let missing = 0;
  for (const code of codes) {
    if (code < 0) missing++;
    else counts[code] = (counts[code] as number) + 1;
  }
  const unknown = [...counts.keys()].filter((code) => isKnown[code] === false && (counts[code] as number) > 0);
  const inRows = unknown.reduce((sum, code) => sum + (counts[code] as number), 0);
  // The sort is stable, so labels with equal counts remain in their order.
  const frequent = unknown.sort((a, b) => (counts[b] as number) - (counts[a] as number)).map((code) => labels[code] as string); // prettier-ignore
  return [
    ...(inRows > 0 ? [`${rows(inRows)} a text without a column in the encoding: ${named(frequent)}`] : []),
    ...(missing > 0 && !marksMissing ? [`${rows(missing)} no value, though all training rows had one`] : []),
  ];
}

/** The maximum number of texts that are named, and of characters of each. */
const [NAMED, NAME_LENGTH] = [3, 40];

function named(labels: readonly string[]): string {
  const others = labels.length - NAMED;
  const shown = labels.slice(0, NAMED).map((label) => {
    const letters = Array.from(label);
    return quote(letters.length > NAME_LENGTH ? `${letters.slice(0, NAME_LENGTH - 1).join('')}…` : label);
  });
  return `${shown.join(', ')}${others > 0 ? ` and ${counted(others, 'other')}` : ''}`;
}

function rows(count: number): string {
  return count === 1 ? '1 row has' : `${count.toLocaleString('en-US')} rows have`;
}

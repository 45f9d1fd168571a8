import type { Tensor2D } from '@tensorflow/tfjs';

import { takeValues } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { type ColumnSource, isDeviceTensor, type SensitiveSource, Table, type TensorLike } from '../../table/index.ts';
import { disposeRows, type NetworkData, type NetworkRows, type NetworkTensors, type Tf } from '../../tensor/index.ts';
import {
  encodedWidth,
  encodeFeatures,
  type FeatureSpec,
  fitFeatures,
  standardScore,
  type StandardScore,
} from '../data/feature-encoder.ts';
import { assertBinary, readGroups, readTargets } from '../data/fit-rows.ts';
import { isTableSource, type MatrixSource, readMatrix } from '../data/read-matrix.ts';
import { fitFeatureTensors, readMoments, readRanges } from '../data/feature-tensors.ts';
import { holdOut } from '../data/row-splits.ts';
import { columnNames, encodeTensorRows, readTensorRows } from '../data/tensor-rows.ts';
import { eventCell, eventCells } from './fairness-events.ts';
import type { NetworkTask } from './network-task.ts';

/** Options of a network's `fit`, in addition to features and targets. */
export interface NetworkFitOptions {
  /** The group of each row, which is never used as a feature. Several columns are crossed. */
  readonly sensitive: SensitiveSource;
  /**
   * A fitted encoding of a table's columns.
   * @defaultValue an encoding fitted on the training rows
   */
  readonly features?: readonly FeatureSpec[] | undefined;
  /** One weight per row, 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops training. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link NetworkFitOptions}. */
export const NETWORK_FIT_OPTION_NAMES: OptionNames<NetworkFitOptions> = {
  sensitive: true,
  features: true,
  sampleWeight: true,
  onProgress: true,
  signal: true,
};

/** The rows of a fit, encoded for a network. */
export interface NetworkFitRows {
  readonly train: NetworkData;
  /** A tenth of the rows, used for early stopping. */
  readonly validation: NetworkData;
  /** The number of training rows by group and label (`eventCell`). Rows of a regression have label 0. */
  readonly counts: Float64Array;
  readonly specs: readonly FeatureSpec[];
  /** The number of columns of a matrix; undefined for a table, whose columns have names. */
  readonly columns: number | undefined;
  readonly groups: { readonly labels: readonly string[] };
  readonly target: StandardScore;
  readonly warnings: readonly string[];
  /** Disposes of the rows that are tensors. */
  dispose(): void;
}

/** Reads features of any accepted kind into a table. The columns of a matrix are named x0, x1 and so on. */
export async function featureTable(x: MatrixSource): Promise<Table> {
  if (isTableSource(x)) return Table.from(x);
  const { rows, columns, values } = await readMatrix(x);
  const valuesOf = (column: number): Float64Array =>
    Float64Array.from({ length: rows }, (_, row) => values[row * columns + column] as number);
  return Table.ofColumns(
    columnNames(columns).map((name, column) => [name, { kind: 'numeric', values: valuesOf(column) }]),
  );
}

/**
 * Reads the rows of a fit and holds out a tenth of the rows for early stopping. Fits the encoding of the features on
 * the remaining rows.
 * @throws {DataValidationError} if lengths differ, if targets, weights or groups are missing, or if there is only one
 *   group, only one class, or too few rows
 */
export async function readNetworkFit(
  x: MatrixSource,
  y: ColumnSource,
  options: NetworkFitOptions,
  task: NetworkTask,
  seed: number,
): Promise<NetworkFitRows> {
  const complete = await featureTable(x);
  const given = await readTargets(complete.rowCount, y, options.sampleWeight);
  const allGroups = await readGroups(options.sensitive, complete.rowCount);
  // A row with weight 0 does not affect the fit and would be useless as a validation row.
  const kept = Int32Array.from(given.weights.keys()).filter((row) => (given.weights[row] as number) > 0);
  const table = kept.length === complete.rowCount ? complete : complete.take(kept);
  const targets = takeValues(given.targets, kept);
  const weights = relative(takeValues(given.weights, kept));
  const groups = { ...allGroups, codes: Int32Array.from(kept, (row) => allGroups.codes[row] as number) };
  const isBinary = task === 'binary';
  if (isBinary) assertBinary(targets);
  const strata = groups.codes.map((code, row) => (isBinary ? 2 * code + (targets[row] as number) : code));
  assertStrata(strata, groups.labels, isBinary);
  const [fitting, held] = holdOut(strata, seed);
  const { specs, warnings } = options.features
    ? { specs: options.features, warnings: [] }
    : fitFeatures(table.take(fitting), table.columnNames);
  const target = task === 'binary' ? { mean: 0, scale: 1 } : targetScore(targets, fitting);
  const encode = (rows: Int32Array): NetworkRows => ({
    x: encodeFeatures(table.take(rows), specs),
    y: Float32Array.from(rows, (row) => ((targets[row] as number) - target.mean) / target.scale),
    groups: Int32Array.from(rows, (row) => groups.codes[row] as number),
    weights: Float32Array.from(rows, (row) => weights[row] as number),
    inputs: encodedWidth(specs),
    groupCount: groups.labels.length,
  });
  const counts = countEvents(strata, fitting, groups.labels.length, isBinary);
  const rows = { train: encode(fitting), validation: encode(held) };
  const columns = isTableSource(x) ? undefined : complete.columnNames.length;
  return { ...rows, counts, specs, columns, groups, target, warnings, dispose: () => undefined };
}

/**
 * Reads the rows of a fit like {@link readNetworkFit}, from features that are a tensor. The rows stay on the tensor
 * backend. Missing features (NaN) are marked.
 * @throws {DataValidationError} under the conditions of {@link readNetworkFit}, or if a tensor has another shape
 */
export async function readTensorFit(
  tf: Tf,
  x: TensorLike,
  y: ColumnSource,
  options: NetworkFitOptions,
  task: NetworkTask,
  seed: number,
): Promise<NetworkFitRows> {
  const isBinary = task === 'binary';
  const { sensitive, sampleWeight } = options;
  const n = x.shape[0] ?? 0;
  const onHost = async (): Promise<Float64Array> => {
    const { targets } = await readTargets(n, y, sampleWeight);
    if (isBinary) assertBinary(targets);
    await readGroups(sensitive, n);
    return targets;
  };
  const names = columnNames(x.shape[1]);
  const given = { x, y: isDeviceTensor(y) ? y : await onHost(), sensitive, sampleWeight };
  const rows = await readTensorRows(tf, given, { isBinary, names, dropsMissing: false, reject: onHost });
  const taken: NetworkTensors[] = [];
  try {
    const { labels, strata } = rows;
    assertStrata(strata, labels, isBinary);
    const [fitting, held] = holdOut(strata, seed);
    taken.push(rows.take(fitting), rows.take(held));
    const [own] = taken as [NetworkTensors];
    const { specs, warnings } = options.features
      ? { specs: options.features, warnings: [] }
      : await fitFeatureTensors(tf, own.x, rows);
    const target = isBinary ? { mean: 0, scale: 1 } : await targetMoments(tf, own.y);
    const [train, validation] = tf.tidy(() =>
      taken.map((one) => ({ ...encodeTensorRows(tf, one, { specs, target, columns: rows }) })),
    ) as [NetworkTensors, NetworkTensors];
    return {
      train,
      validation,
      counts: countEvents(strata, fitting, labels.length, isBinary),
      specs,
      columns: names.length,
      groups: { labels },
      target,
      warnings,
      dispose() {
        disposeRows(tf, train);
        disposeRows(tf, validation);
      },
    };
  } finally {
    for (const one of taken) disposeRows(tf, one);
    rows.dispose();
  }
}

/** Counts rows by group and label. */
function countEvents(strata: Int32Array, rows: Int32Array, groupCount: number, isBinary: boolean): Float64Array {
  const counts = new Float64Array(eventCells(groupCount));
  for (const row of rows) {
    const stratum = strata[row] as number;
    const cell = isBinary ? eventCell(stratum >> 1, (stratum & 1) as 0 | 1) : eventCell(stratum, 0);
    counts[cell] = (counts[cell] as number) + 1;
  }
  return counts;
}

/**
 * Checks that there are two groups, and two classes if targets are binary.
 * @param strata of each row: 2 group + target if targets are binary, else the group
 */
function assertStrata(strata: Int32Array, labels: readonly string[], isBinary: boolean): void {
  const groupOf = (stratum = 0): number => (isBinary ? stratum >> 1 : stratum);
  const group = groupOf(strata[0]);
  if (strata.every((stratum) => groupOf(stratum) === group)) throw oneGroup(labels[group] ?? '');
  const label = (strata[0] ?? 0) & 1;
  if (isBinary && strata.every((stratum) => (stratum & 1) === label)) throw oneClass(label);
}

function oneGroup(label: string): DataValidationError {
  return new DataValidationError(
    `sensitive has one group only ('${label}'); a fairness constraint needs at least two.`,
    {
      code: 'too-few-groups',
      context: { argument: 'sensitive', groups: [label] },
      suggestion: 'Choose another sensitive attribute.',
    },
  );
}

function oneClass(label: number): DataValidationError {
  return new DataValidationError(`y is ${String(label)} in every row, so there is nothing to learn.`, {
    code: 'empty-data',
    context: { argument: 'y' },
    suggestion: 'Provide rows of both classes.',
  });
}

/** Returns the standardisation of a regression's targets. */
function targetScore(targets: Float64Array, rows: Int32Array): StandardScore {
  return scaled(standardScore(Float64Array.from(rows, (row) => targets[row] as number)));
}

/** Returns the same as {@link targetScore} for targets that are tensors. */
async function targetMoments(tf: Tf, targets: Tensor2D): Promise<StandardScore> {
  const [moments = { mean: 0, scale: 0 }] = await readMoments(tf, targets, await readRanges(tf, targets, ['y']));
  return scaled(moments);
}

/** Constant targets are centred but not scaled. */
function scaled({ mean, scale }: StandardScore): StandardScore {
  return { mean, scale: scale > 0 ? scale : 1 };
}

/** Divides weights by the largest weight, so that float32 can represent them. */
function relative(weights: Float64Array): Float64Array {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  return weights.map((weight) => weight / largest);
}

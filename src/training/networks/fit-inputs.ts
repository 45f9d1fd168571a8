import { takeValues } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { type CategoricalColumn, type ColumnSource, type SensitiveSource, Table } from '../../table/index.ts';
import type { NetworkRows } from '../../tensor/index.ts';
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
import { holdOut } from '../data/row-splits.ts';
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
  readonly train: NetworkRows;
  /** A tenth of the rows, used for early stopping. */
  readonly validation: NetworkRows;
  readonly specs: readonly FeatureSpec[];
  readonly groups: CategoricalColumn;
  readonly target: StandardScore;
  readonly warnings: readonly string[];
}

/** Reads features of any accepted kind into a table. The columns of a matrix are named x0, x1 and so on. */
export async function featureTable(x: MatrixSource): Promise<Table> {
  if (isTableSource(x)) return Table.from(x);
  const { rows, columns, values } = await readMatrix(x);
  const valuesOf = (column: number): Float64Array =>
    Float64Array.from({ length: rows }, (_, row) => values[row * columns + column] as number);
  return Table.ofColumns(
    Array.from({ length: columns }, (_, column) => [
      `x${String(column)}`,
      { kind: 'numeric', values: valuesOf(column) },
    ]),
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
  assertGroups(groups);
  if (task === 'binary') assertTwoClasses(targets);
  const strata = groups.codes.map((code, row) => (task === 'binary' ? 2 * code + (targets[row] as number) : code));
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
  return { train: encode(fitting), validation: encode(held), specs, groups, target, warnings };
}

function assertGroups({ codes, labels }: CategoricalColumn): void {
  const [first] = codes;
  if (codes.some((code) => code !== first)) return;
  throw new DataValidationError(
    `sensitive has one group only ('${labels[first ?? 0] ?? ''}'); a fairness constraint needs at least two.`,
    {
      code: 'too-few-groups',
      context: { argument: 'sensitive', groups: labels },
      suggestion: 'Choose another sensitive attribute.',
    },
  );
}

function assertTwoClasses(y: Float64Array): void {
  assertBinary(y);
  if (y.includes(0) && y.includes(1)) return;
  throw new DataValidationError(`y is ${String(y[0])} in every row, so there is nothing to learn.`, {
    code: 'empty-data',
    context: { argument: 'y' },
    suggestion: 'Provide rows of both classes.',
  });
}

/** Returns the standardisation of a regression's targets. Constant targets are centred but not scaled. */
function targetScore(targets: Float64Array, rows: Int32Array): StandardScore {
  const { mean, scale } = standardScore(Float64Array.from(rows, (row) => targets[row] as number));
  return { mean, scale: scale > 0 ? scale : 1 };
}

/** Divides weights by the largest weight, so that float32 can represent them. */
function relative(weights: Float64Array): Float64Array {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  return weights.map((weight) => weight / largest);
}

import type { Tensor1D } from '@tensorflow/tfjs';

import type { Keep } from '../../metrics/reduce/tensors/row-states.ts';
import type { ColumnSource, SensitiveSource } from '../../table/index.ts';
import { cellTables, type Tf } from '../../tensor/index.ts';
import {
  assertSimilarWeights,
  type DeviceCodes,
  type DeviceColumn,
  type DeviceRows,
  readDeviceRows,
} from '../data/device-rows.ts';
import { assertRows, withoutWeight } from '../data/fit-rows.ts';
import type { ScoreColumns } from './score-blocks.ts';

/** The counts of the rows of one group with a weight above 0. */
interface GroupCounts {
  readonly label: string;
  readonly n: number;
  /** The number of rows with label 1. */
  readonly positives: number;
  /** The total weight. */
  readonly weight: number;
  /** The weight of the rows with label 1. */
  readonly yes: number;
}

/** Scores, labels and groups on the device. Rows with weight 0 have no group. */
export interface DeviceScores extends ScoreColumns {
  readonly rows: number;
  /** One entry per group code. Groups that have only rows with weight 0 have no rows. */
  readonly counts: readonly GroupCounts[];
  /** The group of each row, also of rows with weight 0. */
  readonly given: DeviceCodes;
}

/** The arguments of a fit, of which the scores are a tensor. */
export interface DeviceScoreSources {
  readonly scores: Omit<DeviceColumn, 'rank'>;
  readonly y: ColumnSource;
  readonly positiveLabel?: string | undefined;
  readonly sampleWeight: ColumnSource | undefined;
  /** The groups, under their name in errors. */
  readonly groups: Readonly<Record<string, SensitiveSource>>;
}

/**
 * Reads scores, labels, weights and groups on the device of the scores, and counts the rows of each group.
 * @throws {DataValidationError} under the conditions of {@link readDeviceRows}, if there are no rows, or if weights are
 *   all 0 or differ too much for float32
 */
export async function readDeviceScores(
  tf: Tf,
  keep: Keep,
  { scores, y, positiveLabel, sampleWeight, groups: sensitive }: DeviceScoreSources,
): Promise<DeviceScores> {
  const { rows, columns, groups } = await readDeviceRows(tf, keep, {
    columns: {
      scores,
      y: { source: y, must: 'binary', positiveLabel },
      sampleWeight: sampleWeight === undefined ? undefined : { source: sampleWeight, must: 'weight' },
    },
    groups: sensitive,
  });
  assertRows(rows);
  const { labels } = groups;
  const weights = columns.sampleWeight?.tensor as Tensor1D | undefined;
  const largestWeight = columns.sampleWeight?.max ?? 1;
  if (largestWeight === 0) throw withoutWeight('Set a weight above 0 for the rows to learn from.');
  if (weights !== undefined) await assertSimilarWeights(tf, weights, largestWeight);
  const codes =
    weights === undefined || columns.sampleWeight?.min !== 0
      ? groups.codes
      : keep(tf.tidy(() => tf.where<Tensor1D>(weights.greater(0), groups.codes, tf.fill([rows], labels.length))));
  const scored = {
    scores: columnOf(columns, 'scores'),
    y: columnOf(columns, 'y'),
    weights,
    largestWeight,
    codes,
    groups: labels.length,
  };
  return { ...scored, rows, counts: await countGroups(tf, scored, labels), given: groups };
}

/**
 * Excludes some rows.
 * @param isKept [rows], bool
 */
export async function keepRows(tf: Tf, keep: Keep, all: DeviceScores, isKept: Tensor1D): Promise<DeviceScores> {
  const codes = keep(tf.tidy(() => tf.where<Tensor1D>(isKept, all.codes, tf.fill([all.rows], all.groups))));
  return { ...all, codes, counts: await countGroups(tf, { ...all, codes }, all.given.labels) };
}

function columnOf<Name extends string>(columns: DeviceRows<Name>['columns'], name: Name): Tensor1D {
  return (columns[name] as { tensor: Tensor1D }).tensor;
}

async function countGroups(
  tf: Tf,
  { y, weights, largestWeight, codes, groups }: ScoreColumns,
  labels: readonly string[],
): Promise<GroupCounts[]> {
  const { counts, sums } = await cellTables(
    tf,
    {
      rows: y.size,
      cells: 2 * groups,
      codesOf: (slice) => {
        const own = slice(codes).mul<Tensor1D>(2).add<Tensor1D>(slice(y));
        return own.minimum<Tensor1D>(2 * groups).cast<Tensor1D>('int32');
      },
    },
    weights === undefined ? [] : [{ valuesOf: (slice) => slice(weights), largest: largestWeight }],
  );
  const [sum = counts] = sums;
  const at = (table: Float64Array, cell: number): number => table[cell] as number;
  return labels.map((label, code) => ({
    label,
    n: at(counts, 2 * code) + at(counts, 2 * code + 1),
    positives: at(counts, 2 * code + 1),
    weight: at(sum, 2 * code) + at(sum, 2 * code + 1),
    yes: at(sum, 2 * code + 1),
  }));
}

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Table } from '../../src/table/index.ts';
import type { NetworkRows } from '../../src/tensor/index.ts';
import { encodedWidth, encodeFeatures, fitFeatures } from '../../src/training/data/feature-encoder.ts';
import { strata } from '../../src/training/data/row-splits.ts';
import { setAside } from '../../src/training/data/stratified-split.ts';
import { readTrainingData, takeTrainingRows, type TrainingRows } from '../../src/training/data/training-data.ts';
import type { TrainingSource } from '../../src/training/index.ts';
import { ADULT_FEATURES, ADULT_TASK } from '../adult-task.ts';
import { UsageError } from './options.ts';
import { unpackTables } from './table-file.ts';

/** The Adult data, as train and test. */
export interface Adult {
  readonly train: Table;
  readonly test: Table;
}

/** Adult as networks see it: 42 columns, or fewer where few rows are taken. */
export interface AdultRows {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly test: NetworkRows;
}

const { target: TARGET, sensitive: SENSITIVE } = ADULT_TASK;

/** The table that a pack brings along. */
export const TABLE_FILE = 'adult.tables';

/** Rows of train and test where the work is cut down. */
const QUICK_ROWS = [900, 400] as const;

/** Whether this is the bundle of a pack, which reads no CSV files. */
export const IS_PACK = import.meta.url.endsWith('/gpu-check.mjs');

/** The columns that the check needs of Adult, from its CSV files. */
export async function readAdultCsv(folder: string): Promise<Adult> {
  const [train, test] = ['adult.train.csv', 'adult.test.csv'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  const missing = [train, test].find((file) => !existsSync(file));
  if (missing !== undefined) {
    throw new UsageError(`${missing} is not there: --data names a folder with adult.train.csv and adult.test.csv`);
  }
  const { loadData } = await import('../../src/io/index.ts');
  const columns = [...ADULT_FEATURES, TARGET, SENSITIVE];
  return { train: (await loadData(train)).select(columns), test: (await loadData(test)).select(columns) };
}

/**
 * The data of the check: from `--data`, else what the pack brings along.
 * @throws {UsageError} where there is neither
 */
export async function readAdult(folder: string | undefined, isQuick: boolean): Promise<Adult> {
  const { train, test } = await findAdult(folder);
  if (!isQuick) return { train, test };
  return { train: train.take(firstRows(QUICK_ROWS[0])), test: test.take(firstRows(QUICK_ROWS[1])) };
}

async function findAdult(folder: string | undefined): Promise<Adult> {
  const packed = path.join(import.meta.dirname, TABLE_FILE);
  if (IS_PACK && folder === undefined && existsSync(packed)) {
    const { train, test } = unpackTables(readFileSync(packed));
    if (train !== undefined && test !== undefined) return { train, test };
  }
  if (IS_PACK) {
    throw new UsageError(
      folder === undefined
        ? 'this pack has no data: make it with gpu-pack.sh --data DIR, or give --only doctor,numerics'
        : 'a pack reads no CSV files: make it with gpu-pack.sh --data DIR instead',
    );
  }
  if (folder === undefined) throw new UsageError('there is no data: give --data DIR, or --only doctor,numerics');
  return readAdultCsv(folder);
}

function firstRows(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, row) => row);
}

/** Adult as a sweep takes it. */
export function sweepSource({ train, test }: Adult): TrainingSource {
  return {
    table: train,
    testTable: test,
    ...ADULT_TASK,
    features: ADULT_FEATURES,
  };
}

/** The very rows that a sweep of a seed trains on, stops by and is judged on. */
export function encodeAdult(adult: Adult, seed: number): AdultRows {
  const { rows, test } = readTrainingData(sweepSource(adult));
  const { specs } = fitFeatures(rows.table, ADULT_FEATURES);
  const encode = (part: TrainingRows): NetworkRows => ({
    x: encodeFeatures(part.table, specs),
    y: Float32Array.from(part.y),
    groups: part.groups.codes,
    inputs: encodedWidth(specs),
    groupCount: rows.groups.labels.length,
  });
  const [fitting, validation] = setAside(strata(rows), seed);
  return {
    train: encode(takeTrainingRows(rows, fitting)),
    validation: encode(takeTrainingRows(rows, validation)),
    test: encode(test ?? rows),
  };
}

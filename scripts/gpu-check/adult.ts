import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Table } from '../../src/table/index.ts';
import type { NetworkRows } from '../../src/tensor/index.ts';
import { encodedWidth, encodeFeatures, fitFeatures } from '../../src/training/data/feature-encoder.ts';
import { holdOut, strata } from '../../src/training/data/row-splits.ts';
import { readTrainingData, takeTrainingRows, type TrainingRows } from '../../src/training/data/training-data.ts';
import type { TrainingSource } from '../../src/training/index.ts';
import { ADULT_FEATURES, ADULT_TASK } from '../adult-task.ts';
import { UsageError } from './options.ts';
import { unpackTables } from './table-file.ts';

/** The Adult data as train and test. */
export interface Adult {
  readonly train: Table;
  readonly test: Table;
}

/** Adult encoded for networks: 42 columns, or fewer if only few rows are used. */
export interface AdultRows {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly test: NetworkRows;
}

const { target: TARGET, sensitive: SENSITIVE } = ADULT_TASK;

/** The file of the tables that a pack contains. */
export const TABLE_FILE = 'adult.tables';

/** The number of train and test rows with --quick. */
const QUICK_ROWS = [900, 400] as const;

/** Whether this is the bundle of a pack, which reads no CSV files. */
export const IS_PACK = import.meta.url.endsWith('/gpu-check.mjs');

/** Reads the columns of Adult that the check needs from the CSV files. */
export async function readAdultCsv(folder: string): Promise<Adult> {
  const [train, test] = ['adult.train.csv', 'adult.test.csv'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ];
  const missing = [train, test].find((file) => !existsSync(file));
  if (missing !== undefined) {
    throw new UsageError(
      `${missing} does not exist: --data must name a folder with adult.train.csv and adult.test.csv`,
    );
  }
  const { loadData } = await import('../../src/io/index.ts');
  const columns = [...ADULT_FEATURES, TARGET, SENSITIVE];
  return { train: (await loadData(train)).select(columns), test: (await loadData(test)).select(columns) };
}

/**
 * Reads the data of the check from `--data`, or from the pack.
 * @throws {UsageError} if there is neither
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
        ? 'this pack has no data: create it with gpu-pack.sh --data DIR, or use --only doctor,numerics'
        : 'a pack cannot read CSV files: create it with gpu-pack.sh --data DIR instead',
    );
  }
  if (folder === undefined) throw new UsageError('no data: use --data DIR, or --only doctor,numerics');
  return readAdultCsv(folder);
}

function firstRows(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, row) => row);
}

/** Returns Adult in the form for a sweep. */
export function sweepSource({ train, test }: Adult): TrainingSource {
  return {
    table: train,
    testTable: test,
    ...ADULT_TASK,
    features: ADULT_FEATURES,
  };
}

/** Returns the same rows that a sweep with this seed trains on, stops by and is evaluated on. */
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
  const [fitting, validation] = holdOut(strata(rows), seed);
  return {
    train: encode(takeTrainingRows(rows, fitting)),
    validation: encode(takeTrainingRows(rows, validation)),
    test: encode(test ?? rows),
  };
}

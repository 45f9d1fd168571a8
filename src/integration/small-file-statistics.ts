import { FairnessToolkitError } from '../exceptions/index.ts';
import { readSmallCsv } from '../io/read-small-csv.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import type { ValidateRequest } from '../schemas/validate-values.ts';
import type { AttributeStatistics, NeededStatistics } from './measure-attributes.ts';
import { countTable } from './table-statistics.ts';

/** Whether the statistics of a small file can be computed without DuckDB if a request has the option. */
const SMALL_FILE_OPTIONS: Readonly<Record<keyof ValidateRequest, boolean>> = {
  attributes: true,
  yPred: true,
  yTrue: true,
  positiveLabel: true,
  yTruePositiveLabel: true,
  nanPolicy: true,
  backend: true,
  decimal: true,
  counts: false,
  // A number that is a positive label and also means a missing value is read differently.
  naValues: false,
  minCell: true,
  // Sums of fractions would differ from those of SQL in the last digits.
  sampleWeight: false,
  // Sums over clusters are added in another order.
  cluster: false,
  strata: false,
  score: false,
  scoreThreshold: false,
  control: false,
  average: false,
  // These options apply to the statistics.
  minGroupSize: true,
  withCi: true,
  ciLevel: true,
  ciMethod: true,
  ciSamples: true,
  withEffects: true,
  withPValue: true,
  method: true,
  referenceGroup: true,
  agg: true,
  compat: true,
  seed: true,
  threshold: true,
  metric: true,
  comparator: true,
  gates: true,
  measures: true,
  strictMissing: true,
};

/**
 * Computes the statistics of a small CSV file of a plain form without DuckDB, with the same result.
 * @returns undefined if DuckDB must read the files: they are not one small and plain file, or there is a problem that
 *   DuckDB reports
 */
export async function smallFileStatistics(
  { files, decimal }: FoundFiles,
  needed: NeededStatistics,
  request: ValidateRequest,
): Promise<AttributeStatistics[] | undefined> {
  const [file, ...others] = files;
  const isOneFile = others.length === 0 && file?.partition.size === 0 && decimal !== ',';
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const isSupported = given.every(([name]) => SMALL_FILE_OPTIONS[name as keyof ValidateRequest]);
  // For intersections, the warnings about similar labels consider other rows than those of SQL.
  const isSimple = request.attributes.every(({ length }) => length === 1);
  const canRead =
    isOneFile && isSupported && isSimple && needed.kind === 'classification' && request.backend === 'duckdb';
  if (!canRead) return undefined;
  const outcomes = [request.yPred, request.yTrue].filter((name) => name !== undefined);
  const table = await readSmallCsv(file.path, { outcomes, groups: request.attributes.flat() });
  if (table === undefined) return undefined;
  try {
    return await countTable(table, needed, { ...request, backend: 'native' });
  } catch (error) {
    if (FairnessToolkitError.isInstance(error)) return undefined;
    throw error;
  }
}

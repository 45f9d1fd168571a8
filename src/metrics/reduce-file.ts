import type { DecisionRequest, FileRequest } from '../io/decision-sql.ts';
import {
  countDecisionsInFile,
  type DecisionCell,
  type ErrorSums,
  type FileReduction,
  sumErrorsInFile,
} from '../io/reduce-file.ts';
import { sortLabels } from '../table/index.ts';
import { cellIndex, CELLS_PER_GROUP, type ClassificationStats, type RegressionStats } from './group-stats.ts';
import { countDropped } from './reduce-rows.ts';

/**
 * Reduces a CSV or Parquet file to {@link ClassificationStats}, one for each
 * attribute asked for, in one scan that never holds the rows.
 */
export async function reduceClassificationFile(path: string, request: DecisionRequest): Promise<ClassificationStats[]> {
  const reductions = await countDecisionsInFile(path, request);
  return reductions.map(({ parts, nDropped }) => {
    const { labels, groupOf } = labelGroups(parts);
    const fill = (pick: (cell: DecisionCell) => number): Float64Array => {
      const table = new Float64Array(labels.length * CELLS_PER_GROUP);
      parts.forEach((cell, part) => {
        const place = (groupOf[part] as number) * CELLS_PER_GROUP + cellIndex(cell.truth, cell.decision);
        table[place] = (table[place] as number) + pick(cell);
      });
      return table;
    };
    const counts = fill((cell) => cell.count);
    countDropped(counts, totalRows(counts, nDropped));
    return {
      kind: 'classification',
      labels,
      counts,
      weights: fill((cell) => cell.weight),
      squaredWeights: fill((cell) => cell.squaredWeight),
      hasTruth: request.yTrue !== undefined,
      nDropped,
    };
  });
}

/** Reduces a CSV or Parquet file to {@link RegressionStats}, one for each attribute asked for. */
export async function reduceRegressionFile(
  path: string,
  request: FileRequest & { readonly yTrue: string },
): Promise<RegressionStats[]> {
  const reductions: FileReduction<ErrorSums>[] = await sumErrorsInFile(path, request);
  return reductions.map(({ parts, nDropped }) => {
    const { labels, groupOf } = labelGroups(parts);
    const fill = (pick: (sums: ErrorSums) => number): Float64Array => {
      const table = new Float64Array(labels.length);
      parts.forEach((sums, part) => {
        const group = groupOf[part] as number;
        table[group] = (table[group] as number) + pick(sums);
      });
      return table;
    };
    const counts = fill((sums) => sums.count);
    countDropped(counts, totalRows(counts, nDropped));
    return {
      kind: 'regression',
      labels,
      counts,
      weights: fill((sums) => sums.weight),
      squaredWeights: fill((sums) => sums.squaredWeight),
      absoluteErrors: fill((sums) => sums.absoluteError),
      squaredErrors: fill((sums) => sums.squaredError),
      nDropped,
    };
  });
}

function labelGroups(parts: readonly { readonly label: string }[]): { labels: readonly string[]; groupOf: Int32Array } {
  const distinct = [...new Set(parts.map(({ label }) => label))];
  const codeOf = new Map(distinct.map((label, code) => [label, code]));
  const { codes, labels } = sortLabels(
    Int32Array.from(parts, ({ label }) => codeOf.get(label) as number),
    distinct,
  );
  return { labels, groupOf: codes };
}

function totalRows(counts: Float64Array, nDropped: number): number {
  return counts.reduce((sum, count) => sum + count, nDropped);
}

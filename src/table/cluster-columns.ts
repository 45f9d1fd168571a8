import { DataValidationError } from '../exceptions/index.ts';

/** Returns whether rows have clusters or strata. */
export function hasClusters({ cluster, strata }: { readonly cluster?: unknown; readonly strata?: unknown }): boolean {
  return cluster !== undefined || strata !== undefined;
}

/**
 * Returns the error for rows without a cluster or a stratum.
 * @param problem what must hold a value in every row, and which rows hold none
 */
export function missingCluster(problem: string, context: Readonly<Record<string, unknown>>): DataValidationError {
  return new DataValidationError(problem, {
    code: 'invalid-value',
    context,
    suggestion: 'Fill in the value, or remove the rows without one: nobody can say on which rows they depend.',
  });
}

/** Returns the error for a row of a column without a cluster or a stratum. Rows are counted from 1. */
export function missingClusterInRow(column: string, row: number | string): DataValidationError {
  return missingCluster(`Column '${column}' must hold a value in every row, but has none in row ${String(row)}.`, {
    column,
    row,
  });
}

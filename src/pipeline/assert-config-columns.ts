import type { PipelineConfig } from '../schemas/pipeline/pipeline-config.ts';
import type { Table } from '../table/index.ts';

/**
 * Checks that data have the columns that a configuration names: sensitive
 * attributes and features.
 * @throws {DataValidationError} for the first that is missing, with the nearest names
 */
export function assertConfigColumns({ sensitive, features = [] }: PipelineConfig, table: Table): void {
  for (const name of [...sensitive, ...features]) table.column(name);
}

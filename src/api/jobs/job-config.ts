import { stat } from 'node:fs/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertFewGroups } from '../../io/assert-few-groups.ts';
import { tableSize } from '../../io/count-cells.ts';
import { loadData } from '../../io/load-data.ts';
import { parseConfigText } from '../../pipeline/index.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import type { Table } from '../../table/index.ts';
import { assertShortConfig, MAX_GROUPS } from './job-bounds.ts';

/** Cells of a table that a job may load: 8 bytes each, and the copies that steps make. */
const MAX_CELLS = 500_000_000;

/** A text has at least two bytes a cell, so that a smaller one need not be counted. */
const MIN_BYTES_A_CELL = 2;

/**
 * Checks before a table is loaded that it can be: a Parquet file of a few bytes may stand for billions of rows.
 * @throws {DataValidationError} where it has too many cells
 */
export async function assertLoadable(path: string, mostCells: number = MAX_CELLS): Promise<void> {
  const isText = !path.endsWith('.parquet');
  if (isText && (await stat(path)).size <= MIN_BYTES_A_CELL * mostCells) return;
  const { rows, columns } = await tableSize(path);
  if (rows * columns <= mostCells) return;
  throw new DataValidationError(
    `The uploaded file has ${rows.toLocaleString('en-US')} rows of ${String(columns)} columns; ${mostCells.toLocaleString('en-US')} cells can be loaded at most.`,
    { context: { rows, columns }, suggestion: 'Send a sample of the rows, or only the columns that are needed.' },
  );
}

/**
 * The configuration of a form. The environment is the operator's, and names no profile for those who send forms.
 * @throws {ServiceProblem} 413 for one that is too long
 * @throws {ConfigValidationError} with all that is wrong in it
 */
export async function readJobConfig(text: string, profile: string | undefined): Promise<PipelineConfig> {
  assertShortConfig(text);
  return parseConfigText(text, 'config', { profile: profile ?? null });
}

/**
 * Loads the table of a form, where its attributes have few groups.
 * @throws {DataValidationError} for a table that is too large, or an attribute of too many groups
 */
export async function loadJobTable(path: string, { sensitive, intersections }: PipelineConfig): Promise<Table> {
  await assertLoadable(path);
  await assertFewGroups(path, [...sensitive.map((name) => [name]), ...intersections], MAX_GROUPS);
  return loadData(path, { labels: sensitive });
}

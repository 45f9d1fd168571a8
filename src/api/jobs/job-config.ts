import { stat } from 'node:fs/promises';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertFewGroups } from '../../io/assert-few-groups.ts';
import { tableSize } from '../../io/load-data.ts';
import { loadData } from '../../io/load-data.ts';
import { parseConfigText } from '../../pipeline/index.ts';
import { hasConfigColumns, labelColumns } from '../../pipeline/run-pipeline.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import type { Table } from '../../table/index.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import { MAX_GROUPS } from './job-bounds.ts';
import type { FormJob } from './job.ts';

/**
 * The maximum number of cells of a table that a job loads. Each cell takes 8 bytes, and the steps of a pipeline make
 * further copies.
 */
const MAX_CELLS = 500_000_000;

/**
 * The maximum size of a configuration. Real configurations are written by hand. Parsing time grows faster than the
 * length of the text.
 */
const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * The minimum number of bytes per cell of a text file. It shows without counting that a small file does not have too
 * many cells.
 */
const MIN_BYTES_A_CELL = 2;

/**
 * Checks the size of a table before it is loaded. A Parquet file of a few bytes may contain billions of rows.
 * @throws {DataValidationError} if it has too many cells
 */
export async function assertLoadable(path: string, maxCells: number = MAX_CELLS): Promise<void> {
  const isText = !path.endsWith('.parquet');
  if (isText && (await stat(path)).size <= MIN_BYTES_A_CELL * maxCells) return;
  const { rows, columns } = await tableSize(path);
  if (rows * columns <= maxCells) return;
  throw new DataValidationError(
    `The uploaded file has ${rows.toLocaleString('en-US')} rows of ${String(columns)} columns. At most ${maxCells.toLocaleString('en-US')} cells can be loaded.`,
    {
      code: 'data-too-large',
      context: { rows, columns },
      suggestion: 'Send a sample of the rows, or only the columns you need.',
    },
  );
}

/**
 * Reads the configuration of a form, loads its table, and checks the number of groups of its attributes. A profile that
 * the operator set in the environment of the service does not affect the configuration of a client.
 * @throws {ServiceProblem} 413 if the configuration is too long
 * @throws {ConfigValidationError} with all problems of the configuration
 * @throws {DataValidationError} if the table is too large or an attribute has too many groups
 */
export async function loadForm(
  { path, config: text }: FormJob,
  profile: string | undefined,
): Promise<{ readonly config: PipelineConfig; readonly table: Table }> {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CONFIG_BYTES) {
    const detail = `The configuration has ${bytes.toLocaleString('en-US')} bytes. At most ${MAX_CONFIG_BYTES.toLocaleString('en-US')} are allowed.`;
    throw fieldProblem(413, '/config', detail, 'Send a shorter configuration.');
  }
  const config = await parseConfigText(text, 'config', { profile: profile ?? null });
  const { sensitive, intersections } = config;
  await assertLoadable(path);
  await assertFewGroups(
    { paths: path, decimal: config.decimal },
    [...sensitive.map((name) => [name]), ...intersections],
    MAX_GROUPS,
  );
  const table = await loadData(path, { labels: labelColumns(config), decimal: config.decimal });
  // The error names the line of the column.
  if (!hasConfigColumns(config, table)) await parseConfigText(text, 'config', { profile: profile ?? null, columns: table.columnNames }); // prettier-ignore
  return { config, table };
}

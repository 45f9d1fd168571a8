import path from 'node:path';

import { writeFileAtomic } from '../../io/atomic-write.ts';
import { writeTableAs } from '../../io/write-table.ts';
import { withWeights } from '../../pipeline/pipeline-result.ts';
import type { Table } from '../../table/index.ts';

/** Writes transformed rows as Parquet and as CSV, with their weights if there are any. */
export async function writeData(folder: string, table: Table, weights: Float64Array | null): Promise<string[]> {
  const data = withWeights(table, weights);
  await writeTableAs(path.join(folder, 'data.parquet'), data, 'parquet');
  await writeTableAs(path.join(folder, 'data.csv'), data, 'csv');
  return ['data.parquet', 'data.csv'];
}

/** Writes a report in every available format. */
export async function writeReports(folder: string, markdown: string, html: string | undefined): Promise<string[]> {
  await writeFileAtomic(path.join(folder, 'report.md'), markdown);
  if (html === undefined) return ['report.md'];
  await writeFileAtomic(path.join(folder, 'report.html'), html);
  return ['report.md', 'report.html'];
}

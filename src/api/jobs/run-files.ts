import path from 'node:path';

import type { FileValidation } from '../../integration/measure-attributes.ts';
import { validationToMarkdown } from '../../integration/validation-report.ts';
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

/** Writes the report of a validation. */
export async function writeValidationReports(
  folder: string,
  validation: FileValidation,
  source: string,
): Promise<string[]> {
  const { validationToHtml } = await import('../../integration/validation-html.ts');
  return writeReports(folder, validationToMarkdown(validation, source), await validationToHtml(validation, source));
}

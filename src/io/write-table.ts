import path from 'node:path';

import { ValueError } from '../exceptions/index.ts';
import type { Table } from '../table/index.ts';
import type { DataFormat } from './data-file.ts';
import { writeCsv } from './write-csv.ts';
import { writeParquet } from './write-parquet.ts';

/** How a table is written in each form. */
const WRITERS: Readonly<Record<DataFormat, (target: string, table: Table) => Promise<void>>> = {
  csv: writeCsv,
  parquet: writeParquet,
};

/**
 * The form that a path's extension names: `.csv` or `.parquet`, in upper or lower case.
 * @throws {ValueError} for another extension
 */
export function tableFormat(target: string): DataFormat {
  const extension = path.extname(target).toLowerCase();
  const known = Object.keys(WRITERS) as DataFormat[];
  const format = known.find((name) => extension === `.${name}`);
  if (format !== undefined) return format;
  const required = known.map((name) => `.${name}`).join(' or ');
  throw new ValueError(`The path parameter must end in ${required}. Got '${target}' instead.`, {
    context: { parameter: 'path', value: target },
    suggestion: 'The extension names the form of the file.',
  });
}

/**
 * Writes a table in the form that the path's extension names: `.csv` or
 * `.parquet`, in upper or lower case. The file is whole or not there.
 * @throws {ValueError} for another extension
 * @throws {DataValidationError} for names that the form cannot hold, and where the place cannot be written
 * @throws {DependencyError} for Parquet, where DuckDB's binary is not installed
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { Table } from 'evenhand';
 * import { writeTable } from 'evenhand/io';
 *
 * await writeTable('wages.csv', Table.from({ wage: [7.5, null], sex: ['female', 'male'] }));
 * console.log(readFileSync('wages.csv', 'utf8').trimEnd());
 * // wage,sex
 * // 7.5,female
 * // ,male
 * ```
 */
export async function writeTable(target: string, table: Table): Promise<void> {
  await WRITERS[tableFormat(target)](target, table);
}

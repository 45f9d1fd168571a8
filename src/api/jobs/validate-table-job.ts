import path from 'node:path';

import { validateFile } from '../../integration/validate-file.ts';
import { validationToJson } from '../../integration/validation-report.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { parseValidateTable } from '../../schemas/validate-table.ts';
import { assertLoadable } from './assert-loadable.ts';
import { MOST_DRAWS, MOST_GROUPS } from './job-bounds.ts';
import type { JobContext, JobOutcome, ValidateTableJob } from './job.ts';
import { NAMES_FILE, type ReportNames } from './report-names.ts';
import { writeValidationReports } from './run-files.ts';

/** `POST /validate` with a table: its rows are counted, and only loaded for another backend than DuckDB. */
export async function runValidateTable(
  { path: table, options }: ValidateTableJob,
  { folder, signal }: JobContext,
): Promise<JobOutcome> {
  const request = parseValidateTable(options);
  if (request.backend !== 'duckdb') await assertLoadable(table);
  const validation = await validateFile(table, request, { mostGroups: MOST_GROUPS, mostDraws: MOST_DRAWS, signal });
  const body = JSON.stringify(validationToJson(validation));
  const [attribute = ''] = Object.keys(validation.attributes);
  const names: ReportNames = { source: 'the table of the request', attribute };
  // A report can be made of the result later, but for the levels of a control feature.
  if (request.control !== undefined) {
    return { body, files: await writeValidationReports(folder, validation, names.source) };
  }
  await writeFileAtomic(path.join(folder, NAMES_FILE), JSON.stringify(names));
  return { body, files: [NAMES_FILE] };
}

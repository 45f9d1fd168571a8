import { readFile } from 'node:fs/promises';

import { validateRows } from '../../integration/validate-rows.ts';
import { validationToJson } from '../../integration/validation-report.ts';
import { MOST_DRAWS, MOST_GROUPS } from './job-bounds.ts';
import type { JobContext, JobOutcome, ValidateRowsJob } from './job.ts';
import { ROWS_NAMES } from './report-names.ts';
import { readRowsBody } from './rows-body.ts';
import { writeValidationReports } from './run-files.ts';

/** `POST /validate` with arrays, from a file. */
export async function runValidateRows({ path, mostItems }: ValidateRowsJob, context: JobContext): Promise<JobOutcome> {
  const input = readRowsBody(await readFile(path), mostItems);
  const validation = await validateRows(input, {
    mostGroups: MOST_GROUPS,
    mostDraws: MOST_DRAWS,
    signal: context.signal,
  });
  const body = JSON.stringify(validationToJson(validation));
  // A report can be made of the result later, but for the levels of a control feature.
  const files =
    input.control === undefined ? [] : await writeValidationReports(context.folder, validation, ROWS_NAMES.source);
  return { body, files };
}

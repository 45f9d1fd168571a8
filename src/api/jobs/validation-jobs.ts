import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { FileValidation } from '../../integration/measure-attributes.ts';
import type { ValidateBounds } from '../../integration/validate-bounds.ts';
import { validateCounts, validateFile } from '../../integration/validate-file.ts';
import { validateRows } from '../../integration/validate-rows.ts';
import { validationFromJson, type ValidationJson } from '../../integration/validation-from-json.ts';
import { validationToHtml } from '../../integration/validation-html.ts';
import { validationToJson, validationToMarkdown } from '../../integration/validation-report.ts';
import { assertFewGroups } from '../../io/assert-few-groups.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { holdsCounts, parseValidateCounts, parseValidateTable } from '../../schemas/validate-table.ts';
import type { ValidateInput } from '../../schemas/validate-values.ts';
import { MAX_GROUPS, VALIDATION_BOUNDS } from './job-bounds.ts';
import { assertLoadable } from './job-config.ts';
import { type JobContext, type JobOf, type JobOutcome, NAMES_FILE, type ReportNames, ROWS_NAMES } from './job.ts';
import { readRowsBody } from './rows-body.ts';
import { writeReports } from './run-files.ts';

/** Runs `POST /validate` with arrays from a file. */
export async function runValidateRows(
  { path, maxItems }: JobOf<'validate-rows'>,
  { folder, signal }: JobContext,
): Promise<JobOutcome> {
  const input = readRowsBody(await readFile(path), maxItems);
  const validation = await validateRows(input, { ...VALIDATION_BOUNDS, signal });
  const body = JSON.stringify(validationToJson(validation));
  // The report can be created later from the result, except for its frames.
  const isComplete = input.control === undefined && input.measures === undefined;
  return { body, files: isComplete ? [] : await reportFiles(folder, validation, ROWS_NAMES.source) };
}

/**
 * Runs `POST /validate` with a table. Rows are counted in DuckDB. The rows are loaded into memory only if another
 * backend is used.
 */
export async function runValidateTable(
  job: JobOf<'validate-table'>,
  { folder, signal }: JobContext,
): Promise<JobOutcome> {
  const bounds = { ...VALIDATION_BOUNDS, signal };
  const isCounts = job.source === 'counts' || holdsCounts(job.options);
  const [request, validation] = await (isCounts ? measureCounts : measureRows)(job, bounds);
  const body = JSON.stringify(validationToJson(validation));
  const [attribute = ''] = Object.keys(validation.attributes);
  const names: ReportNames = { source: 'the table of the request', attribute };
  // The report can be created later from the result, except for its frames.
  if (request.control !== undefined || request.measures !== undefined) {
    return { body, files: await reportFiles(folder, validation, names.source) };
  }
  await writeFileAtomic(path.join(folder, NAMES_FILE), JSON.stringify(names));
  return { body, files: [NAMES_FILE] };
}

type Measured = readonly [request: Pick<ValidateInput, 'control' | 'measures'>, validation: FileValidation];

async function measureRows(
  { path, options, source }: JobOf<'validate-table'>,
  bounds: ValidateBounds,
): Promise<Measured> {
  const request = parseValidateTable(options, source === 'form' ? 'form' : 'query');
  if (request.backend !== 'duckdb') await assertLoadable(path);
  return [request, await validateFile(path, request, bounds)];
}

async function measureCounts(
  { path, options, source }: JobOf<'validate-table'>,
  bounds: ValidateBounds,
): Promise<Measured> {
  const request = parseValidateCounts(options, source === 'counts' ? 'form' : 'query');
  await assertLoadable(path);
  await assertFewGroups({ paths: path }, request.attributes, MAX_GROUPS);
  return [request, await validateCounts(path, request, bounds)];
}

async function reportFiles(folder: string, validation: FileValidation, source: string): Promise<string[]> {
  return writeReports(folder, validationToMarkdown(validation, source), await validationToHtml(validation, source));
}

/** Creates the report of a validation. Charts and long tables would block an event loop for too long. */
export async function runValidationReport({ form, names, result }: JobOf<'validation-report'>): Promise<JobOutcome> {
  const json = JSON.parse(result) as ValidationJson & { readonly run_id: string };
  const validation = validationFromJson(json, names.attribute);
  const text =
    form === 'markdown'
      ? validationToMarkdown(validation, names.source)
      : await validationToHtml(validation, names.source, { settings: { run: json.run_id } });
  return { body: JSON.stringify(text), files: [] };
}

import { validationToHtml } from '../../integration/validation-html.ts';
import { validationFromJson, type ValidationJson } from '../../integration/validation-from-json.ts';
import { validationToMarkdown } from '../../integration/validation-report.ts';
import type { JobOutcome, ValidationReportJob } from './job.ts';

/** Makes the report of a validation; pictures and long tables take longer than others on an event loop should wait. */
export async function runValidationReport({ form, names, result }: ValidationReportJob): Promise<JobOutcome> {
  const json = JSON.parse(result) as ValidationJson & { readonly run_id: string };
  const validation = validationFromJson(json, names.attribute);
  const text =
    form === 'markdown'
      ? validationToMarkdown(validation, names.source)
      : await validationToHtml(validation, names.source, { settings: { run: json.run_id } });
  return { body: JSON.stringify(text), files: [] };
}

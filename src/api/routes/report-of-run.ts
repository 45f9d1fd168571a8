import { validationFromJson, type ValidationJson } from '../../integration/validation-from-json.ts';
import { validationToMarkdown } from '../../integration/validation-report.ts';
import { NAMES_FILE, type ReportNames, ROWS_NAMES } from '../jobs/report-names.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';

/** The forms of a report that people read. */
export const REPORT_FORMS = ['text/html', 'text/markdown'] as const;

/** One of {@link REPORT_FORMS}. */
export type ReportForm = (typeof REPORT_FORMS)[number];

/** A result up to so many characters is turned into Markdown at once. */
const MOST_TEXT = 32_768;

/**
 * The report of a run: the file that the run left, or for a validation made from its result.
 * @param readFile reads a file of the run
 * @returns undefined where there is none
 */
export async function reportOf(
  { endpoint, files, body }: RunRecord,
  form: ReportForm,
  readFile: (name: string) => Promise<string>,
  runs: Runs,
): Promise<string | undefined> {
  const file = form === 'text/html' ? 'report.html' : 'report.md';
  if (files.includes(file)) return readFile(file);
  if (endpoint !== '/validate' || body === null) return undefined;
  const names = files.includes(NAMES_FILE) ? (JSON.parse(await readFile(NAMES_FILE)) as ReportNames) : ROWS_NAMES;
  if (form === 'text/markdown' && body.length <= MOST_TEXT) {
    return validationToMarkdown(validationFromJson(JSON.parse(body) as ValidationJson, names.attribute), names.source);
  }
  // Pictures take longer than others on this event loop should wait.
  const kind = form === 'text/html' ? 'html' : 'markdown';
  const report = await runs.work({ kind: 'validation-report', form: kind, names, result: body });
  return JSON.parse(report.body) as string;
}

import { appendFileSync } from 'node:fs';

import type { GateReport } from '../document/gate-report.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import { flagName } from './option-parsers.ts';
import { warn } from './output.ts';

/**
 * Writes the gate results of a run as JUnit XML, if a file was requested. In a GitHub Actions workflow, also appends
 * them to the summary of the step. A problem with the summary never makes the run fail.
 */
export async function writeGateReports(report: GateReport, junit: string | undefined): Promise<void> {
  const summary = process.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (junit === undefined && summary === '') return;
  const { gateReportToJunit, gateReportToSummary } = await import('../document/gate-report.ts');
  if (junit !== undefined) {
    const { writeFileAtomic } = await import('../io/atomic-write.ts');
    await writeFileAtomic(junit, gateReportToJunit(report));
  }
  if (summary === '' || report.passed === null) return;
  try {
    // The step may have written a line without a line break at the end.
    appendFileSync(summary, `\n${gateReportToSummary(report)}`);
  } catch (error) {
    warn(`The summary could not be appended to ${summary}, the file in GITHUB_STEP_SUMMARY: ${String(error)}`);
  }
}

/** The options that are not reported: options without effect on the result, and URLs, which may contain secrets. */
const NOT_SETTINGS = new Set(['json', 'quiet', 'verbose', 'out', 'junit', 'webhook']);

/** Returns the given options by name, so that a report shows how to reproduce its results. */
export function settingsOf(options: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]: [string, unknown]) =>
      NOT_SETTINGS.has(name) ? [] : [[flagName(name), settingText(value)]],
    ),
  );
}

/** Formats the value of an option. The columns of an intersection are joined by commas, repeated values by semicolons. */
function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('; ');
  // Files that were found carry the paths that were given.
  if (isFiles(value)) return [value.paths].flat().join('; ');
  return value === true ? 'yes' : String(value);
}

function isFiles(value: unknown): value is Pick<FoundFiles, 'paths'> {
  return typeof value === 'object' && value !== null && 'paths' in value;
}

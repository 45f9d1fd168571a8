import { appendFileSync } from 'node:fs';

import type { ChartedMeasure } from '../charts/group-values-chart.ts';
import type { GateReport } from '../document/gate-report.ts';
import { flagName } from './option-parsers.ts';
import { warn } from './output.ts';
import { isInput, resultOptions } from './provenance.ts';

/**
 * Writes the gate results of a run as JUnit XML, if a file was requested. In a GitHub Actions workflow, also appends
 * them to the summary of the step. A problem with the summary never makes the run fail.
 * @param plotsOf returns the values by group that the summary draws
 */
export async function writeGateReports(
  report: GateReport,
  junit: string | undefined,
  plotsOf?: () => Promise<readonly ChartedMeasure[]>,
): Promise<void> {
  const summary = process.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (junit === undefined && summary === '') return;
  const { gateReportToJunit, gateReportToSummary } = await import('../document/gate-report.ts');
  if (junit !== undefined) {
    const { writeFileAtomic } = await import('../io/atomic-write.ts');
    await writeFileAtomic(junit, gateReportToJunit(report));
  }
  if (summary === '' || report.passed === null) return;
  const plots = await plotsOf?.();
  try {
    // The step may have written a line without a line break at the end.
    appendFileSync(summary, `\n${gateReportToSummary({ ...report, plots })}`);
  } catch (error) {
    warn(`The summary could not be appended to ${summary}, the file in GITHUB_STEP_SUMMARY: ${String(error)}`);
  }
}

/** Returns the options that determine the result, by name, so that a report shows how to reproduce it. */
export function settingsOf(options: object): Record<string, string> {
  return Object.fromEntries(resultOptions(options).map(([name, value]) => [flagName(name), settingText(value)]));
}

/** Formats the value of an option. The columns of an intersection are joined by commas, repeated values by semicolons. */
function settingText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('; ');
  // Files that were found carry the paths that were given.
  if (isInput(value)) return [value.paths].flat().join('; ');
  return value === true ? 'yes' : String(value);
}

import { appendFileSync, closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';

import type { ChartedMeasure } from '../charts/group-values-chart.ts';
import type { GateReport } from '../document/gate-report.ts';
import { flagName } from './option-parsers.ts';
import { warn } from './output.ts';
import { isInput, resultOptions } from './provenance.ts';

/**
 * Writes the gate results of a run as JUnit XML, if a file was requested. In a GitHub Actions workflow, also appends
 * them to the summary of the step. A problem with the summary never makes the run fail.
 * @param reportOf returns the gate results, if they are written
 * @param plotsOf returns the values by group that the summary draws
 */
export async function writeGateReports(
  reportOf: () => GateReport | Promise<GateReport>,
  junit: string | undefined,
  plotsOf?: () => Promise<readonly ChartedMeasure[]>,
): Promise<void> {
  const summary = process.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (junit === undefined && summary === '') return;
  const { gateReportToJunit, gateReportToSummary } = await import('../document/gate-report.ts');
  const report = await reportOf();
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

/**
 * Removes the JUnit file of an earlier run before the arguments are read. Otherwise, a run that does not reach its
 * gates would leave the verdict of the earlier run. Files that are not reports of this program are kept.
 */
export function removeEarlierJunit(args: readonly string[]): void {
  const junit = junitOf(args);
  if (junit !== undefined && isJunit(junit)) rmSync(junit, { force: true });
}

/** Writes a JUnit file with one error, if a file was requested, for a run that ended before its gates. */
export async function writeErrorJunit(
  args: readonly string[],
  error: { readonly name: string; readonly message: string },
): Promise<void> {
  // prettier-ignore
  const junit = junitOf(args);
  if (junit === undefined || existsSync(junit)) return;
  const { gateReportToJunit } = await import('../document/gate-report.ts');
  const { writeFileAtomic } = await import('../io/atomic-write.ts');
  const failed = {
    attribute: 'run',
    name: 'the run reached its gates',
    status: 'undefined' as const,
    message: error.message,
    errorType: error.name,
  };
  const command = `evenhand ${args.find((text) => !text.startsWith('-')) ?? ''}`;
  try {
    await writeFileAtomic(junit, gateReportToJunit({ command, passed: false, cases: [failed], settings: {} }));
  } catch {
    // The error itself may be that this file cannot be written.
  }
}

/** Returns the path of `--junit`. The arguments are not parsed yet, because they may be the error. */
function junitOf(args: readonly string[]): string | undefined {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  const joined = options.find((text) => text.startsWith('--junit='));
  const path = joined?.slice('--junit='.length) ?? options[options.indexOf('--junit') + 1];
  return (joined === undefined && !options.includes('--junit')) || path === '' ? undefined : path;
}

function isJunit(path: string): boolean {
  const start = Buffer.alloc(200);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, start);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return /^<\?xml[^>]*>\s*<testsuites name="evenhand /.test(start.toString('latin1'));
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

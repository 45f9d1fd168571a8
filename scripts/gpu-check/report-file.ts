import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { hidePaths } from './hide-paths.ts';
import type { GpuReport } from './report.ts';

/** The file of a growing report. */
export interface ReportFile {
  /** Writes the current report; returns its path. */
  readonly write: (report: GpuReport) => Promise<string>;
}

/**
 * Opens the file of a report. A more valuable existing report is not overwritten: a measurement by a report that is not
 * one, or a report with the loop by one without it. In that case the report is written next to it as
 * `NAME.partial.json`. Files that this run wrote to another path before are removed.
 * @param positionOf returns the path of a report
 */
export function openReportFile(positionOf: (report: GpuReport) => string): ReportFile {
  let written: string | undefined;
  return {
    write: async (report) => {
      const wanted = positionOf(report);
      const location = worthOfFile(wanted) > worthOf(report) ? besides(wanted) : wanted;
      await writeFileAtomic(location, `${JSON.stringify(hidePaths(report), undefined, 2)}\n`);
      if (written !== undefined && written !== location) rmSync(written, { force: true });
      written = location;
      return location;
    },
  };
}

/** Returns how much a report may be used for. */
function worthOf({ is_measurement: isMeasurement, parts }: Pick<GpuReport, 'is_measurement' | 'parts'>): number {
  if (!isMeasurement) return 0;
  return parts.peer?.figures?.loop ? 2 : 1;
}

/** Returns the same for a file; 0 if it does not exist or is not a report. */
function worthOfFile(file: string): number {
  try {
    // A device or a pipe would block.
    return statSync(file).isFile() ? worthOf(JSON.parse(readFileSync(file, 'utf8')) as GpuReport) : 0;
  } catch {
    return 0;
  }
}

function besides(file: string): string {
  const { dir, name } = path.parse(file);
  return path.join(dir, `${name}.partial.json`);
}

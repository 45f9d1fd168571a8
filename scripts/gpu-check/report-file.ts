import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { writeFileAtomic } from '../../src/io/atomic-write.ts';
import { hidePaths } from './hide-paths.ts';
import type { GpuReport } from './report.ts';

/** Where a report goes as it grows. */
export interface ReportFile {
  /** Writes what is known by now; returns where. */
  readonly write: (report: GpuReport) => Promise<string>;
}

/**
 * Keeps a report in a file. What stands there and tells more, a measurement where this is none or one with the loop
 * where this has none, is left as it is: the report then goes beside it, as `NAME.partial.json`. What this run wrote
 * elsewhere before is removed.
 * @param placeOf where a report belongs
 */
export function openReportFile(placeOf: (report: GpuReport) => string): ReportFile {
  let written: string | undefined;
  return {
    write: async (report) => {
      const wanted = placeOf(report);
      const place = worthOfFile(wanted) > worthOf(report) ? besides(wanted) : wanted;
      await writeFileAtomic(place, `${JSON.stringify(hidePaths(report), undefined, 2)}\n`);
      if (written !== undefined && written !== place) rmSync(written, { force: true });
      written = place;
      return place;
    },
  };
}

/** How much a report may be quoted for. */
function worthOf({ is_measurement: isMeasurement, parts }: Pick<GpuReport, 'is_measurement' | 'parts'>): number {
  if (!isMeasurement) return 0;
  return parts.peer?.figures?.loop ? 2 : 1;
}

/** The same of a file; 0 where it is no report, or not there. */
function worthOfFile(file: string): number {
  try {
    // A device or a pipe would wait for something to read.
    return statSync(file).isFile() ? worthOf(JSON.parse(readFileSync(file, 'utf8')) as GpuReport) : 0;
  } catch {
    return 0;
  }
}

function besides(file: string): string {
  const { dir, name } = path.parse(file);
  return path.join(dir, `${name}.partial.json`);
}

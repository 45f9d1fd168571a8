import type { Chart } from '../../charts/chart.ts';
import { DependencyError } from '../../exceptions/index.ts';
import { type Html, trusted } from '../../internal/html.ts';
import type { ReportEntry } from './report-entries.ts';

/** Pictures by the metric that they belong to, or why there are none. */
export interface Drawn {
  readonly pictures: ReadonlyMap<ReportEntry, readonly Html[]>;
  readonly problem: string | undefined;
}

/** Draws every chart; where the package that draws is missing, none. */
export async function drawAll(
  entries: readonly ReportEntry[],
  draw: (chart: Chart) => Promise<string>,
): Promise<Drawn> {
  const pictures = new Map<ReportEntry, Html[]>();
  try {
    for (const entry of entries) {
      const own: Html[] = [];
      for (const chart of entry.charts) own.push(trusted(await draw(chart)));
      pictures.set(entry, own);
    }
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const next = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return { pictures: new Map(), problem: `This report has tables and no pictures: ${error.message}${next}` };
  }
  return { pictures, problem: undefined };
}

import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { DetectorReport } from './detector-report.ts';

/** How a report is written, by extension. */
const FORMS: Readonly<Record<string, (report: DetectorReport) => string | Promise<string>>> = {
  '.md': (report) => report.toMarkdown(),
  '.json': (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  '.html': async (report) => {
    const { reportToHtml } = await import('./report-html.ts');
    return reportToHtml(report);
  },
};

/**
 * Writes what the detectors found: Markdown, JSON, or a page that works alone,
 * with the heat map of associations where the package that draws is installed.
 * @param savePath ends in .md, .json or .html; missing folders are made
 * @throws {DataValidationError} for any other extension, and where the path cannot be written
 */
export async function writeDetectorReport(report: DetectorReport, savePath: string): Promise<void> {
  await writeFileAtomic(savePath, await formOf(savePath)(report));
}

/**
 * Checks before long work that a report can be written in the form that a path asks for.
 * @throws {DataValidationError} for an extension that is not known
 */
export function assertReportPath(savePath: string): void {
  formOf(savePath);
}

function formOf(savePath: string): (report: DetectorReport) => string | Promise<string> {
  const extension = path.extname(savePath).toLowerCase();
  const form = Object.hasOwn(FORMS, extension) ? FORMS[extension] : undefined;
  if (form !== undefined) return form;
  throw new DataValidationError(`A report cannot be written as '${savePath}': its extension is '${extension}'.`, {
    context: { path: savePath },
    suggestion: 'End the name in .md, .json or .html.',
  });
}

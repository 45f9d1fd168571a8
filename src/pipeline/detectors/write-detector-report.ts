import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import type { DetectorReport } from './detector-report.ts';

/** The formats of a report, by extension. */
const FORMS: Readonly<Record<string, (report: DetectorReport) => string | Promise<string>>> = {
  '.md': (report) => report.toMarkdown(),
  '.json': (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  '.html': async (report) => {
    const { reportToHtml } = await import('./report-html.ts');
    return reportToHtml(report);
  },
};

/**
 * Writes the detectors' report as Markdown, JSON, or a self-contained page. The page includes the heat map of
 * associations if the package for charts is installed.
 * @param savePath ends in .md, .json or .html; missing folders are created
 * @throws {DataValidationError} if the path has another extension or cannot be written
 */
export async function writeDetectorReport(report: DetectorReport, savePath: string): Promise<void> {
  await writeFileAtomic(savePath, await formOf(savePath)(report));
}

/**
 * Checks that the extension of a report's path is supported. Call this function before long work.
 * @throws {DataValidationError} if the extension is not supported
 */
export function assertReportPath(savePath: string): void {
  formOf(savePath);
}

function formOf(savePath: string): (report: DetectorReport) => string | Promise<string> {
  const extension = path.extname(savePath).toLowerCase();
  const form = Object.hasOwn(FORMS, extension) ? FORMS[extension] : undefined;
  if (form !== undefined) return form;
  throw new DataValidationError(`A report cannot be written as '${savePath}': its extension is '${extension}'.`, {
    code: 'unwritable-file',
    context: { path: savePath },
    suggestion: 'End the name in .md, .json or .html.',
  });
}

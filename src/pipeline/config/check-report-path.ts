import { posix, win32 } from 'node:path';

import { escapeControls, hasControls } from '../../io/config-text/config-problem.ts';
import type { PathProblem } from '../../io/config-text/path-problem.ts';

/**
 * Checks that the report's path stays below the current folder, since a configuration may come from a third party.
 * Both kinds of separators count on every system.
 */
export function checkReportPath(index: string | undefined): PathProblem[] {
  if (index === undefined) return [];
  if (hasControls(index)) {
    return [problem('of one line, without control characters', index, 'Take that character out.')];
  }
  const isElsewhere =
    posix.isAbsolute(index) || win32.isAbsolute(index) || /^[a-z]:/i.test(index) || index.split(/[\\/]/).includes('..');
  return isElsewhere
    ? [problem("below the current folder, relative and without '..'", index, 'For example: data-report.md.')]
    : [];
}

function problem(required: string, index: string, suggestion: string): PathProblem {
  const message = `report_out: must be a path ${required}; got '${escapeControls(index)}'`;
  return { path: ['report_out'], at: 'value', message, suggestion };
}

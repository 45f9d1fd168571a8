import { posix, win32 } from 'node:path';

import { escapeControls, hasControls } from '../../io/config-text/config-problem.ts';
import type { PathProblem } from '../../io/config-text/path-problem.ts';

/**
 * Checks that the report's path stays below the current folder, since a configuration may come from a third party.
 * Both kinds of separators count on every system.
 */
export function checkReportPath(location: string | undefined): PathProblem[] {
  if (location === undefined) return [];
  if (hasControls(location)) {
    return [problem('of one line, without control characters', location, 'Take that character out.')];
  }
  const isElsewhere =
    posix.isAbsolute(location) ||
    win32.isAbsolute(location) ||
    /^[a-z]:/i.test(location) ||
    location.split(/[\\/]/).includes('..');
  return isElsewhere
    ? [problem("below the current folder, relative and without '..'", location, 'For example: data-report.md.')]
    : [];
}

function problem(required: string, location: string, suggestion: string): PathProblem {
  const message = `report_out: must be a path ${required}; got '${escapeControls(location)}'`;
  return { path: ['report_out'], at: 'value', message, suggestion };
}

import { posix, win32 } from 'node:path';

import { escapeControls, hasControls } from '../../io/config-text/config-fault.ts';
import type { PathFault } from '../../io/config-text/path-fault.ts';

/**
 * Checks that the report's path stays below the current folder, since a configuration may come from a third party.
 * Both kinds of separators count on every system.
 */
export function checkReportPath(place: string | undefined): PathFault[] {
  if (place === undefined) return [];
  if (hasControls(place)) {
    return [fault('of one line, without control characters', place, 'Take that character out.')];
  }
  const isElsewhere =
    posix.isAbsolute(place) || win32.isAbsolute(place) || /^[a-z]:/i.test(place) || place.split(/[\\/]/).includes('..');
  return isElsewhere
    ? [fault("below the current folder, relative and without '..'", place, 'For example: data-report.md.')]
    : [];
}

function fault(required: string, place: string, suggestion: string): PathFault {
  const message = `report_out: must be a path ${required}; got '${escapeControls(place)}'`;
  return { path: ['report_out'], at: 'value', message, suggestion };
}

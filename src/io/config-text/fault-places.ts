import type { YamlPlaces } from '../read-yaml.ts';
import { type ConfigFault, escapeControls } from './config-fault.ts';
import type { Wording } from './describe-issue.ts';
import { findInText, formatPath, type PathFault, valueAt } from './path-fault.ts';

/** The maximum length of a value in messages. */
const LONGEST = 60;

/** Returns a function that gives paths and values as they are written in the source text. */
export function wordingOf(root: unknown, places: YamlPlaces): Wording {
  return (path) => {
    const { written, source } = findInText(root, path, places, 'value');
    return { key: formatPath(written), given: describeValue(valueAt(root, path), source) };
  };
}

/** Adds the position in the text to an error. */
export function placeFault(fault: PathFault, root: unknown, places: YamlPlaces, file: string | null): ConfigFault {
  const { place: found, written } = findInText(root, fault.path, places, fault.at);
  const place = fault.place ?? found;
  return {
    file,
    line: place?.line ?? null,
    column: place?.column ?? null,
    key: formatPath(written),
    message: fault.message,
    suggestion: fault.suggestion,
  };
}

/** Describes a value in a few words. */
export function describeValue(value: unknown, source?: string): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'string') return `'${shorten(escapeControls(value))}'`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${String(value.length)}`;
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'number' || typeof value === 'boolean'
    ? shorten(source ?? String(value))
    : `a ${typeof value}`;
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

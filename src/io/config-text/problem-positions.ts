import type { YamlPositions } from '../read-yaml.ts';
import { type ConfigProblem, escapeControls } from './config-problem.ts';
import type { Wording } from './describe-issue.ts';
import { valueAt } from '../../internal/values.ts';
import { findInText, formatPath, type PathProblem } from './path-problem.ts';

/** The maximum length of a value in messages. */
const LONGEST = 60;

/** Returns a function that gives paths and values as they are written in the source text. */
export function wordingOf(root: unknown, positions: YamlPositions): Wording {
  return (path) => {
    const { written, source } = findInText(root, path, positions, 'value');
    return { key: formatPath(written), given: describeValue(valueAt(root, path), source) };
  };
}

/** Adds the position in the text to an error. */
export function positionProblem(
  problem: PathProblem,
  root: unknown,
  positions: YamlPositions,
  file: string | null,
): ConfigProblem {
  const { index: found, written } = findInText(root, problem.path, positions, problem.at);
  const position = problem.index ?? found;
  return {
    file,
    line: position?.line ?? null,
    column: position?.column ?? null,
    key: formatPath(written),
    message: problem.message,
    suggestion: problem.suggestion,
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

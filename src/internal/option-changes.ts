import { isMapping } from './values.ts';

/**
 * Describes each option that changed between two runs, as in "alpha was 0.05 and is 0.01". Nested fields of an option
 * are described separately. Options are compared as JSON preserves them.
 */
export function optionChanges(before: object, now: object): string[] {
  const [old, present] = [before, now].map(plainOf) as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(present)])].flatMap((name) => {
    const [was, is] = [old[name], present[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (isMapping(was) && isMapping(is)) return optionChanges(was, is);
    return [`${name} was ${textOf(was)} and is ${textOf(is)}`];
  });
}

function textOf(value: unknown): string {
  return value === undefined ? 'not given' : JSON.stringify(value);
}

/** Returns a copy of the value as JSON preserves it, without undefined properties. */
function plainOf(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

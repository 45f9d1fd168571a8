import { ValueError } from '../../exceptions/index.ts';

/** Matches one step of a path: .name, [0], ['name'] or ["name"]. */
const STEP = /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/uy;

/**
 * Parses a JSON path such as `$.choices[0]['final answer']` into its keys and indices. Only the root `$`, names and
 * indices are supported, so that a path always selects at most one value.
 * @throws {ValueError} if the path contains anything else
 */
export function parseJsonPath(text: string): readonly (string | number)[] {
  const parts: (string | number)[] = [];
  let at = text.startsWith('$') ? 1 : 0;
  while (at > 0 && at < text.length) {
    STEP.lastIndex = at;
    const step = STEP.exec(text);
    if (step === null) break;
    const [all, name, index, single, double] = step;
    const key = name ?? (single ?? double)?.replaceAll(/\\(.)/gu, '$1');
    parts.push(key ?? Number(index));
    at += all.length;
  }
  if (at === text.length && at > 0) return Object.freeze(parts);
  throw new ValueError(`'${text}' is not a JSON path: character ${String(at + 1)} is not a step.`, {
    context: { parameter: 'json_path', received: text, position: at + 1 },
    suggestion: "Start with $ and continue with .name, ['name'] or [0], for example $.scores[0].value.",
  });
}

/** Returns the value at a path. Returns undefined if there is no such value. Inherited properties are not values. */
export function valueAtPath(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, part) => {
    const isReadable =
      typeof inner === 'object' &&
      inner !== null &&
      (typeof part === 'number') === Array.isArray(inner) &&
      Object.hasOwn(inner, part);
    return isReadable ? (inner as Readonly<Record<string | number, unknown>>)[part] : undefined;
  }, value);
}

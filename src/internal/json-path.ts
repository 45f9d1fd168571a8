import { ValueError } from '../exceptions/index.ts';

/** A step of a path: a key of an object, or an index of a list. */
type PathStep = string | number;

/** Matches one step at the current position: `.name`, `['name']`, `["name"]` or `[0]`. */
const STEP =
  /\.([\p{L}_][\p{L}\p{N}_-]*)|\[(0|[1-9]\d{0,8})\]|\['((?:[^'\\]|\\['\\])*)'\]|\["((?:[^"\\]|\\["\\])*)"\]/uy;

/**
 * Parses a JSON path such as `$.choices[0].message.content`. The path starts with `$`, the complete value. Each step is
 * a key (`.name`, `['any name']` or `["any name"]`, in which `\` escapes a quote) or an index (`[0]`). Wildcards,
 * filters, slices and negative indices are not supported, because a path must lead to exactly one value.
 * @returns the keys and indices, in order; an empty list for `$`
 * @throws {ValueError} if the text is not such a path; the message and `context.position` contain the position of the
 * first invalid character, from 1
 * @see S. Gössner et al., JSONPath: Query Expressions for JSON, RFC 9535 (2024)
 */
export function parseJsonPath(text: string): readonly PathStep[] {
  if (!text.startsWith('$')) throw invalid(text, 0, 'a path starts with $');
  const steps: PathStep[] = [];
  let position = 1;
  while (position < text.length) {
    STEP.lastIndex = position;
    const found = STEP.exec(text);
    if (found === null) throw invalid(text, position, "expected .name, ['name'] or [0]");
    const [step, name, index, single, double] = found;
    steps.push(index === undefined ? (name ?? unescaped(single ?? double ?? '')) : Number(index));
    position += step.length;
  }
  return Object.freeze(steps);
}

function unescaped(quoted: string): string {
  return quoted.replaceAll(/\\(.)/gu, '$1');
}

function invalid(text: string, position: number, reason: string): ValueError {
  const shown = JSON.stringify(text.slice(0, 80));
  const [character] = /^./su.exec(text.slice(position)) ?? [];
  const found = character === undefined ? 'the end of the text' : `'${character}'`;
  return new ValueError(
    `The JSON path ${shown} is invalid at character ${String(position + 1)}: ${reason}. Found ${found}.`,
    {
      context: { path: text.slice(0, 80), position: position + 1 },
      suggestion: "Write a path such as $.choices[0].message.content or $['my key'].",
    },
  );
}

/**
 * Returns the value at a path from {@link parseJsonPath}; undefined if the path does not exist. Only keys of the value
 * itself count: `$.constructor` does not exist in `{}`. A key step does not read a list, and an index step does not
 * read an object.
 */
export function valueAtPath(value: unknown, path: readonly PathStep[]): unknown {
  return path.reduce<unknown>((current, step) => {
    if (typeof current !== 'object' || current === null) return undefined;
    if (Array.isArray(current) !== (typeof step === 'number')) return undefined;
    return Object.hasOwn(current, step) ? (current as Record<PathStep, unknown>)[step] : undefined;
  }, value);
}

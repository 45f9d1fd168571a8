import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { importOptional } from '../internal/optional.ts';

/** The names that every object has without being given them. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * The same option, with a space after every text that is the name of an
 * inherited property; at the end of a text a space is not seen.
 *
 * The renderer keeps the widths of texts in a plain object by the text itself
 * (zrender 6.1, core/LRU). A label `__proto__` there finds Object.prototype,
 * takes it for an entry and writes to it, for the whole process; `constructor`
 * gets no width.
 */
export function withoutInheritedNames<T>(value: T): T {
  if (typeof value === 'string') return (INHERITED.has(value) ? `${value} ` : value) as T;
  if (Array.isArray(value)) return value.map(withoutInheritedNames) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, withoutInheritedNames(part as unknown)]),
  ) as T;
}

/**
 * ECharts as one script for a page, in a form that cannot end the script
 * element that it stands in, nor be changed by the page's parser.
 * @throws {DependencyError} where echarts is not installed
 */
export async function readEchartsScript(): Promise<string> {
  const bytes = await importOptional('echarts', 'to draw plots', () =>
    readFile(createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js')),
  );
  return decodeUtf8(bytes, 'The script of ECharts')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('</script', '<\\/script')
    .replaceAll('<!--', '<\\!--');
}

/** Data as JSON or JavaScript that cannot end the script element it stands in. */
export function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

import { readFile } from 'node:fs/promises';

import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { builtFile } from '../internal/packages.ts';

/** The names of properties that every object inherits. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Returns the same option with an invisible space after every text that is the name of an inherited property.
 *
 * The renderer caches the widths of texts in a plain object by the text itself (zrender 6.1, core/LRU). For the label
 * `__proto__` it finds Object.prototype, treats it as an entry and modifies it for the whole process; `constructor`
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
 * Returns the used parts of ECharts as one script for a page. The script cannot end its script element, and the HTML
 * parser does not change it.
 */
export async function readEchartsScript(): Promise<string> {
  return decodeUtf8(await readFile(builtFile('vendor/echarts-page.js')), 'The script of ECharts')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('</script', '<\\/script')
    .replaceAll('<!--', '<\\!--');
}

/** Returns data as JavaScript that cannot end its script element. */
export function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

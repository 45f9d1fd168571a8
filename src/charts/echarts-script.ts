import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { importOptional } from '../internal/optional.ts';

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

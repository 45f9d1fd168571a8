import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { importOptional } from '../internal/optional.ts';

/**
 * ECharts as one script for a page, in a form that cannot end the script
 * element that it stands in, nor be changed by the page's parser.
 * @throws {DependencyError} where echarts is not installed
 */
export async function readEchartsScript(): Promise<string> {
  const script = await importOptional('echarts', 'to draw plots', () =>
    readFile(createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js'), 'utf8'),
  );
  return script.replaceAll(/\r\n?/g, '\n').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

/** Data as JSON or JavaScript that cannot end the script element it stands in. */
export function toScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

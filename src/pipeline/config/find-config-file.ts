import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const PLACE = path.join('.evenhand', 'config.yml');

/**
 * The configuration that holds for a folder: `EVENHAND_CONFIG_PATH` where it is
 * set (whether or not there is a file), else the first `.evenhand/config.yml`
 * in the folder and those above it, else the one in the home folder.
 * @param start the folder to begin in; the current one where it is left out
 * @returns its path, or undefined where there is none
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { findConfigFile } from 'evenhand/pipeline';
 *
 * mkdirSync('.evenhand', { recursive: true });
 * writeFileSync('.evenhand/config.yml', 'sensitive: [sex]');
 * console.log(findConfigFile()?.endsWith('config.yml'));
 * // true
 * ```
 */
export function findConfigFile(start = '.'): string | undefined {
  const named = process.env['EVENHAND_CONFIG_PATH'];
  if (named !== undefined && named !== '') return named;
  return [...foldersUp(path.resolve(start)), homedir()].map((folder) => path.join(folder, PLACE)).find(existsSync);
}

function foldersUp(folder: string): string[] {
  const above = path.dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

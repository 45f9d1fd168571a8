import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { type ConfigDialect, faultsError } from '../../io/config-text/config-fault.ts';
import { type ConfigText, openConfigText, readConfigFile, wholeFault } from '../../io/config-text/open-config-text.ts';
import { KEY_ALIASES } from '../../schemas/pipeline/pipeline-document.ts';

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

/** How configurations of pipelines are read, and spoken of. */
export const PIPELINE_DIALECT: ConfigDialect = {
  aliases: KEY_ALIASES,
  // A label that is written as a number keeps the form in which it is written.
  textKeys: ['positive_label', 'na_values'],
  beginning: 'Start with the sensitive attributes, as in sensitive: [sex].',
  insteadOfMerging: 'Write the keys out, or use profiles.',
  listing: "Every key is listed by 'evenhand config schema'.",
};

/**
 * Reads a configuration file.
 * @param path the file; one is looked for where it is left out
 * @throws {ConfigValidationError} where there is none, or it is no YAML
 */
export async function openConfigFile(path?: string): Promise<ConfigText> {
  const file = path ?? findConfigFile();
  if (file === undefined) {
    const problem = 'there is no configuration file: no .evenhand/config.yml here or above';
    const suggestion = 'Name one with --config or EVENHAND_CONFIG_PATH.';
    throw faultsError([wholeFault(null, problem, suggestion)], PIPELINE_DIALECT);
  }
  return openConfigText(await readConfigFile(file, PIPELINE_DIALECT), file, PIPELINE_DIALECT);
}

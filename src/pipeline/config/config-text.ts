import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

import { type ConfigDialect, problemsError } from '../../io/config-text/config-problem.ts';
import { type ConfigText, openConfigText, readConfigFile, fileProblem } from '../../io/config-text/open-config-text.ts';
import { KEY_ALIASES } from '../../schemas/pipeline/pipeline-document.ts';

const PLACE = path.join('.evenhand', 'config.yml');

/**
 * Finds the configuration file that is used in a folder. `EVENHAND_CONFIG_PATH` takes precedence if it is set, even if
 * the file does not exist. Otherwise, the function returns the first `.evenhand/config.yml` in the folder, its parent
 * folders and the home folder.
 * @param start the folder in which the search begins; the current folder if omitted
 * @returns the path of the file, or undefined if no file is found
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

/** How pipeline configurations are parsed: settings for the parser, and texts for messages. */
export const PIPELINE_DIALECT: ConfigDialect = {
  aliases: KEY_ALIASES,
  // For these keys, a value that looks like a number keeps its written form.
  textKeys: ['positive_label', 'na_values'],
  beginning: 'Start with the sensitive attributes, as in sensitive: [sex].',
  insteadOfMerging: 'Write the keys out, or use profiles.',
  listing: "Every key is listed by 'evenhand config schema'.",
};

/**
 * Reads a configuration file.
 * @param path the file; the default search is used if omitted
 * @throws {ConfigValidationError} if there is no file, or if the file is not valid YAML
 */
export async function openConfigFile(path?: string): Promise<ConfigText> {
  const file = path ?? findConfigFile();
  if (file === undefined) {
    const problem = 'no configuration file was found: there is no .evenhand/config.yml in this folder or above it';
    const suggestion = 'Specify a file with --config or EVENHAND_CONFIG_PATH.';
    throw problemsError([fileProblem(null, problem, suggestion)], PIPELINE_DIALECT);
  }
  return openConfigText(await readConfigFile(file, PIPELINE_DIALECT), file, PIPELINE_DIALECT);
}

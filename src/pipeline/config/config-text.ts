import { readTextFile } from '../../io/read-text-file.ts';
import { readYaml } from '../../io/read-yaml.ts';
import type { TextPlace, YamlPlaces } from '../../io/yaml-document.ts';
import { type ConfigFault, faultsError } from './config-fault.ts';
import { findConfigFile } from './find-config-file.ts';

/** A configuration's text as data, with the places of its parts. */
export interface ConfigText {
  readonly file: string;
  readonly value: unknown;
  readonly places: YamlPlaces;
  /** Where it begins. */
  readonly start: TextPlace;
}

/** A configuration is written by hand; a larger file is something else. */
const LARGEST_BYTES = 2 ** 20;

/** A label that is written as a number keeps the form in which it is written. */
const TEXT_KEYS = ['positive_label'];

const EXAMPLES = 'Start with the sensitive attributes, as in sensitive: [sex].';

/**
 * Reads a configuration file.
 * @param path the file; one is looked for where it is left out
 * @throws {ConfigValidationError} where there is none, or it is no YAML
 */
export async function openConfigFile(path?: string): Promise<ConfigText> {
  const file = path ?? findConfigFile();
  if (file === undefined) {
    const suggestion = 'Name one with --config or EVENHAND_CONFIG_PATH.';
    throw faultsError([
      wholeFault(null, 'there is no configuration file: no .evenhand/config.yml here or above', suggestion),
    ]);
  }
  const read = await readTextFile(file, LARGEST_BYTES);
  if (read.text === null) throw faultsError([wholeFault(file, read.problem, read.suggestion)], read.cause);
  return openConfigText(read.text, file);
}

/**
 * Reads a configuration's text.
 * @throws {ConfigValidationError} where it is no YAML, or empty
 */
export async function openConfigText(text: string, file: string): Promise<ConfigText> {
  const { value, places, faults } = await readYaml(text, { textKeys: TEXT_KEYS });
  const start = { line: 1, column: 1 };
  if (faults.length > 0) throw faultsError(faults.map((fault) => ({ file, key: '', ...fault })));
  if (value === null) throw faultsError([{ ...wholeFault(file, 'the file is empty', EXAMPLES), ...start }]);
  return { file, value, places, start: (typeof value === 'object' ? places.get(value)?.at : undefined) ?? start };
}

/** A fault of a file, or of there being none. */
function wholeFault(file: string | null, message: string, suggestion: string): ConfigFault {
  return { file, line: null, column: null, key: '', message, suggestion };
}

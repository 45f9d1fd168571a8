import { readTextFile } from '../read-text-file.ts';
import { readYaml, type TextPlace, type YamlPlaces } from '../read-yaml.ts';
import { type ConfigDialect, type ConfigFault, faultsError } from './config-fault.ts';
import { describeValue } from './fault-places.ts';

/** The parsed text of a configuration, with the positions of its parts. */
export interface ConfigText {
  readonly file: string;
  readonly value: unknown;
  readonly places: YamlPlaces;
  /** The position of its beginning. */
  readonly start: TextPlace;
}

/** The maximum size of a configuration file; a larger file is probably not a configuration. */
const LARGEST_BYTES = 2 ** 20;

/**
 * Reads the text of a configuration file.
 * @throws {ConfigValidationError} if the file does not exist, or is not text
 */
export async function readConfigFile(file: string, dialect: ConfigDialect): Promise<string> {
  const read = await readTextFile(file, LARGEST_BYTES);
  if (read.text === null) throw faultsError([wholeFault(file, read.problem, read.suggestion)], dialect, read.cause);
  return read.text;
}

/**
 * Parses the text of a configuration.
 * @throws {ConfigValidationError} if it is not YAML, or is empty
 */
export async function openConfigText(text: string, file: string, dialect: ConfigDialect): Promise<ConfigText> {
  const { value, places, faults } = await readYaml(text, { textKeys: dialect.textKeys });
  const start = { line: 1, column: 1 };
  if (faults.length > 0) throw faultsError(faults.map((fault) => ({ file, key: '', ...fault })), dialect); // prettier-ignore
  if (value === null) {
    throw faultsError([{ ...wholeFault(file, 'the file is empty', dialect.beginning), ...start }], dialect);
  }
  return { file, value, places, start: (typeof value === 'object' ? places.get(value)?.at : undefined) ?? start };
}

/** Returns an error about a complete file, without a position. */
export function wholeFault(file: string | null, message: string, suggestion: string): ConfigFault {
  return { file, line: null, column: null, key: '', message, suggestion };
}

/** Returns the error for a configuration that is not a mapping. */
export function notMapping(
  root: unknown,
  start: TextPlace | null,
  file: string | null,
  { beginning }: ConfigDialect,
): ConfigFault {
  const message = `a configuration must be a mapping of keys; got ${describeValue(root)}`;
  return { ...wholeFault(file, message, beginning), line: start?.line ?? null, column: start?.column ?? null };
}

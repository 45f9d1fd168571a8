import { readTextFile } from '../read-text-file.ts';
import { readYaml, type TextPlace, type YamlPlaces } from '../read-yaml.ts';
import { type ConfigDialect, type ConfigFault, faultsError } from './config-fault.ts';
import { describeValue } from './fault-places.ts';

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

/**
 * The text of a configuration file.
 * @throws {ConfigValidationError} where there is none, or it is no text
 */
export async function readConfigFile(file: string, dialect: ConfigDialect): Promise<string> {
  const read = await readTextFile(file, LARGEST_BYTES);
  if (read.text === null) throw faultsError([wholeFault(file, read.problem, read.suggestion)], dialect, read.cause);
  return read.text;
}

/**
 * Reads a configuration's text.
 * @throws {ConfigValidationError} where it is no YAML, or empty
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

/** A fault of a file, or of there being none. */
export function wholeFault(file: string | null, message: string, suggestion: string): ConfigFault {
  return { file, line: null, column: null, key: '', message, suggestion };
}

/** The fault of a configuration that is no mapping. */
export function notMapping(
  root: unknown,
  start: TextPlace | null,
  file: string | null,
  { beginning }: ConfigDialect,
): ConfigFault {
  const message = `a configuration must be a mapping of keys; got ${describeValue(root)}`;
  return { ...wholeFault(file, message, beginning), line: start?.line ?? null, column: start?.column ?? null };
}

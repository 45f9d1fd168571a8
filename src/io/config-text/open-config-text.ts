import { readTextFile } from '../read-text-file.ts';
import { readYaml, type TextPosition, type YamlPositions } from '../read-yaml.ts';
import { type ConfigDialect, type ConfigProblem, problemsError } from './config-problem.ts';
import { describeValue } from './path-problem.ts';

/** The parsed text of a configuration, with the positions of its parts. */
export interface ConfigText {
  readonly file: string;
  readonly value: unknown;
  readonly indices: YamlPositions;
  /** The position at which the configuration begins. */
  readonly start: TextPosition;
}

/** The maximum size of a configuration file; a larger file is probably not a configuration. */
const LARGEST_BYTES = 2 ** 20;

/**
 * Reads the text of a configuration file.
 * @throws {ConfigValidationError} if the file does not exist, or is not text
 */
export async function readConfigFile(file: string, dialect: ConfigDialect): Promise<string> {
  const read = await readTextFile(file, LARGEST_BYTES);
  if (read.text === null) throw problemsError([fileProblem(file, read.problem, read.suggestion)], dialect, read.cause);
  return read.text;
}

/**
 * Parses the text of a configuration.
 * @throws {ConfigValidationError} if the text is not YAML, or is empty
 */
export async function openConfigText(text: string, file: string, dialect: ConfigDialect): Promise<ConfigText> {
  const { value, indices: positions, faults: problems } = await readYaml(text, { textKeys: dialect.textKeys });
  const start = { line: 1, column: 1 };
  if (problems.length > 0) throw problemsError(problems.map((problem) => ({ file, key: '', ...problem })), dialect); // prettier-ignore
  if (value === null) {
    throw problemsError([{ ...fileProblem(file, 'the file is empty', dialect.beginning), ...start }], dialect);
  }
  return {
    file,
    value,
    indices: positions,
    start: (typeof value === 'object' ? positions.get(value)?.at : undefined) ?? start,
  };
}

/** Returns an error about a complete file, without a position. */
export function fileProblem(file: string | null, message: string, suggestion: string): ConfigProblem {
  return { file, line: null, column: null, key: '', message, suggestion };
}

/** Returns the error for a configuration that is not a mapping. */
export function notMapping(
  root: unknown,
  start: TextPosition | null,
  file: string | null,
  { beginning }: ConfigDialect,
): ConfigProblem {
  const message = `a configuration must be a mapping of keys; got ${describeValue(root)}`;
  return { ...fileProblem(file, message, beginning), line: start?.line ?? null, column: start?.column ?? null };
}

import { ConfigValidationError } from '../../exceptions/index.ts';

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns whether a text has line ends or other control characters, which break tables and logs. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Escapes control characters and characters that change the text direction, so that they do not affect a terminal. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** An error in a configuration. */
export interface ConfigProblem {
  /** The file, or the name of the configuration; null if the configuration has no name. */
  readonly file: string | null;
  /** The line, from 1; null if the configuration does not come from text. */
  readonly line: number | null;
  readonly column: number | null;
  /** The path of the invalid key, such as `pipeline[0].params.max_weight`; '' for the complete configuration. */
  readonly key: string;
  /** The error message: what was expected, and what was found. */
  readonly message: string;
  readonly suggestion: string;
}

/** Formats an error as one line: `config.yml:7:3: unknown key 'sensitve'. Did you mean 'sensitive'?` */
export function describeConfigProblem({ file, line, column, message, suggestion }: ConfigProblem): string {
  const location = [file, line, column].filter((part) => part !== null).join(':');
  const reported = `${location === '' ? '' : `${location}: `}${message}. ${suggestion}`;
  return escapeControls(reported.replaceAll(/\s+/g, ' ').trim());
}

/** The maximum number of errors shown. */
const MAX_SHOWN = 50;

/** Returns a line for each error, up to a maximum, and a line with the number of the others. */
export function problemLines(problems: readonly ConfigProblem[], most = MAX_SHOWN): string[] {
  const more = problems.length > most ? [`and ${String(problems.length - most)} more errors.`] : [];
  return [...problems.slice(0, most).map(describeConfigProblem), ...more];
}

/** Sorts errors in the order of the text. */
export function inTextOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/**
 * Combines all errors of a configuration into one exception. The message has one line for each error, in the order of
 * the text.
 */
export function problemsError(
  problems: readonly ConfigProblem[],
  { listing }: ConfigDialect,
  cause?: unknown,
): ConfigValidationError {
  const sorted = inTextOrder(problems);
  return new ConfigValidationError(problemLines(sorted).join('\n'), {
    context: { file: sorted[0]?.file ?? null, faults: Object.freeze(sorted.map((problem) => Object.freeze(problem))) },
    // Each line has its own suggestion. This suggestion applies to all lines.
    ...(sorted.some(({ key }) => key !== '') ? { suggestion: listing } : {}),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The properties of one kind of configuration: texts for messages, and rules for reading keys. */
export interface ConfigDialect {
  /** A map from alternative names of keys to the standard names. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Keys whose values are read as text, exactly as written: 1.0 stays '1.0'. */
  readonly textKeys: readonly string[];
  /** The suggestion for an empty file. */
  readonly beginning: string;
  /** The suggestion for a merge key. */
  readonly insteadOfMerging: string;
  /** A sentence that says where all keys are listed. */
  readonly listing: string;
}

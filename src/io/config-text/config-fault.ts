import { ConfigValidationError } from '../../exceptions/index.ts';

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Whether a text has line ends or other control characters, which break tables and logs. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** A text with its control characters, and those that turn the direction of writing, written out: a terminal obeys none. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** One thing that is wrong with a configuration. */
export interface ConfigFault {
  /** The file, or what the configuration was called; null where it has no name. */
  readonly file: string | null;
  /** From 1; null where the configuration is no text. */
  readonly line: number | null;
  readonly column: number | null;
  /** The key at fault with those around it, as `pipeline[0].params.max_weight`; '' for the whole. */
  readonly key: string;
  /** What was required, and what came. */
  readonly message: string;
  readonly suggestion: string;
}

/** A fault as one line: `config.yml:7:3: unknown key 'sensitve'. Did you mean 'sensitive'?` */
export function describeFault({ file, line, column, message, suggestion }: ConfigFault): string {
  const place = [file, line, column].filter((part) => part !== null).join(':');
  const told = `${place === '' ? '' : `${place}: `}${message}. ${suggestion}`;
  return escapeControls(told.replaceAll(/\s+/g, ' ').trim());
}

/** Faults shown at most; who wrote a configuration mends the first ones first. */
const MAX_SHOWN = 50;

/** Faults in the order of the text. */
export function inTextOrder(faults: readonly ConfigFault[]): ConfigFault[] {
  return [...faults].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** All faults of a configuration as one error, a line each, in the order of the text. */
export function faultsError(
  faults: readonly ConfigFault[],
  { listing }: ConfigDialect,
  cause?: unknown,
): ConfigValidationError {
  const sorted = inTextOrder(faults);
  const lines = sorted.slice(0, MAX_SHOWN).map(describeFault);
  const more = sorted.length > MAX_SHOWN ? [`and ${String(sorted.length - MAX_SHOWN)} more faults.`] : [];
  return new ConfigValidationError([...lines, ...more].join('\n'), {
    context: { file: sorted[0]?.file ?? null, faults: Object.freeze(sorted.map((fault) => Object.freeze(fault))) },
    // Each line says what to do about it; this is for all of them.
    ...(sorted.some(({ key }) => key !== '') ? { suggestion: listing } : {}),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What one kind of configuration has that others do not: what messages say of it, and how its keys are read. */
export interface ConfigDialect {
  /** Other names of keys, and what they stand for. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Keys whose scalars are their text, as they are written: 1.0 stays '1.0'. */
  readonly textKeys: readonly string[];
  /** How a file begins, for who has an empty one. */
  readonly beginning: string;
  /** What to do instead of merging keys. */
  readonly insteadOfMerging: string;
  /** Where every key is listed. */
  readonly listing: string;
}

import { formatCount } from '../internal/format.ts';
import type { InputFile } from '../io/checksum.ts';

/** The origin of a report: its date, its input files and its command. */
export interface Provenance {
  readonly date: Date;
  /** The command that creates the report again; see {@link shellCommand}. */
  readonly command: string;
  readonly inputs: readonly InputFile[];
  /** The number of rows that were read; undefined if the number is not known. */
  readonly rows?: number | undefined;
}

/** Returns the provenance as pairs of a name and a value, for the end of a report. */
export function provenanceLines({ date, inputs, rows }: Provenance): [name: string, value: string][] {
  return [
    ['Date', `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`],
    ...inputs.map(({ path, bytes, sha256 }): [string, string] => [
      `SHA-256 of ${path}`,
      sha256 === null ? 'none: it is not a regular file' : `${sha256} (${formatCount(bytes ?? 0)} bytes)`,
    ]),
    ...(rows === undefined ? [] : [['Rows read', formatCount(rows)] satisfies [string, string]]),
  ];
}

/** Returns the sentence that follows the provenance in an HTML page. */
export function reproducibleSentence(provenance: Provenance | undefined): string {
  const date = provenance === undefined ? '' : ', except for the date';
  return `The same data, version and options reproduce this page byte for byte${date}.`;
}

/**
 * Matches arguments that a shell reads literally, so that they need no quotes. An argument that starts with `~` or `=`
 * is quoted too.
 */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * Matches characters that a terminal does not show: control and format characters, line separators, and unpaired
 * surrogates.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Returns the command line for arguments of `evenhand`, quoted for a POSIX shell, on one line. An argument with
 * invisible characters is quoted as `$'…'`, a form that bash, zsh and POSIX.1-2024 support.
 */
export function shellCommand(args: readonly string[]): string {
  return ['evenhand', ...args.map(quoteArgument)].join(' ');
}

function quoteArgument(argument: string): string {
  if (PLAIN.test(argument)) return argument;
  if (argument.search(UNSHOWN) < 0) return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = argument
    .replaceAll(/[\\']/g, String.raw`\$&`)
    .replaceAll(UNSHOWN, (character) =>
      Array.from(Buffer.from(character), (byte) => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `$'${escaped}'`;
}

import { formatCount } from '../internal/format.ts';
import { VERSION } from '../internal/version.ts';
import type { InputFile } from '../io/checksum.ts';
import { isRemote } from '../schemas/data-source.ts';

/** The origin of a report: its date, its input files and its command. */
export interface Provenance {
  readonly date: Date;
  /** The command that creates the report again; see {@link shellCommand}. */
  readonly command: string;
  /** The options that determine the result, by name, without the input files. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly inputs: readonly InputFile[];
  /** The number of rows that were read; undefined if the number is not known. */
  readonly rows?: number | undefined;
  /**
   * What differs from the report if the command is repeated, besides the date.
   * @defaultValue nothing
   */
  readonly varies?: string | undefined;
}

/** Where a result in JSON comes from. It has no date, so that the same data and options give the same JSON. */
export interface ReportManifest extends Pick<Provenance, 'command' | 'options' | 'inputs'> {
  /** The version of evenhand. */
  readonly evenhand: string;
  /** The number of rows that were read; null if it is not known. */
  readonly rows: number | null;
}

/** Returns provenance for JSON. */
export function manifestOf({ command, options, inputs, rows }: Provenance): ReportManifest {
  return { evenhand: VERSION, command, options, inputs, rows: rows ?? null };
}

/** Returns a result in JSON with its manifest at the end, if its provenance is known. */
export function withManifest<Body extends object>(
  body: Body,
  provenance: Provenance | undefined,
): Body & { readonly manifest?: ReportManifest } {
  return provenance === undefined ? body : { ...body, manifest: manifestOf(provenance) };
}

/** Returns the provenance as pairs of a name and a value, for the end of a report. */
export function provenanceLines({ date, inputs, rows }: Provenance): [name: string, value: string][] {
  return [
    ['Date', `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`],
    ...inputs.map(({ path, bytes, sha256 }): [string, string] => [
      `SHA-256 of ${path}`,
      sha256 === null
        ? isRemote(path)
          ? 'not computed: the file is not on this computer'
          : 'none: it is not a regular file'
        : `${sha256} (${formatCount(bytes ?? 0)} bytes)`,
    ]),
    ...(rows === undefined ? [] : [['Rows read', formatCount(rows)] satisfies [string, string]]),
  ];
}

/** Returns the sentence that follows the provenance in an HTML page. */
export function reproducibleSentence(provenance: Provenance | undefined): string {
  const { varies } = provenance ?? {};
  const date = provenance === undefined ? '' : `, except for the date${varies === undefined ? '' : ` and ${varies}`}`;
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
 * characters that do not print is quoted as `$'…'`, which bash, zsh and POSIX.1-2024 read.
 * @param environment variables that are set for the command
 */
export function shellCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quoteArgument(value)}`);
  return [...variables, 'evenhand', ...args.map(quoteArgument)].join(' ');
}

/** Quotes an argument for a POSIX shell, if it needs quotes. */
export function quoteArgument(argument: string): string {
  if (PLAIN.test(argument)) return argument;
  if (argument.search(UNSHOWN) < 0) return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = argument
    .replaceAll(/[\\']/g, String.raw`\$&`)
    .replaceAll(UNSHOWN, (character) =>
      Array.from(
        new TextEncoder().encode(character),
        (byte) => String.raw`\x${byte.toString(16).padStart(2, '0')}`,
      ).join(''),
    );
  return `$'${escaped}'`;
}

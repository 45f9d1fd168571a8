import { fstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';

import type { Provenance } from '../document/provenance.ts';
import type { ReportDocument } from '../document/report-document.ts';
import { ConfigValidationError } from '../exceptions/index.ts';
import type { TableFormat } from '../io/write-table.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import type { Table } from '../table/index.ts';

/**
 * Checks that output paths do not overlap. Otherwise one result could overwrite another.
 * @throws {ConfigValidationError} if two paths are the same, or one is inside the other
 */
function assertDistinct(paths: readonly string[]): void {
  const indices = paths.map(realPath);
  for (const [index, position] of indices.entries()) {
    const clash = indices.findIndex((other, at) => at !== index && holds(position, other));
    if (clash < 0) continue;
    throw new ConfigValidationError(`The outputs '${paths[index] ?? ''}' and '${paths[clash] ?? ''}' overlap.`, {
      context: { paths },
      suggestion: 'Give each output its own path, not inside another.',
    });
  }
}

/**
 * Checks that the shell did not take the `>` of a gate such as `precision_ratio>=0.8` for a redirection. The command
 * would then run without the gate, write its output to a file named `=0.8`, and exit with 0.
 * @param metrics the values of `--metric`
 * @throws {ConfigValidationError} if stdout is a file in this folder whose name is a number, with or without `=`
 */
export function assertGateReceived(metrics: readonly string[]): void {
  const name = metrics.length === 0 ? undefined : findRedirectedNumber();
  if (name === undefined) return;
  const gate = `${metrics.at(-1) ?? ''}>${name}`;
  throw new ConfigValidationError(
    `The shell did not pass on '>${name}': it sent the output to the file '${name}', so the gate would not be checked.`,
    {
      context: { parameter: 'metric', value: gate },
      suggestion: `Put the gate in quotes, as in --metric '${gate}', and remove the file '${name}'.`,
    },
  );
}

/** Returns the name of the file that stdout is, if the file is in this folder and its name is a number. */
function findRedirectedNumber(): string | undefined {
  try {
    const output = fstatSync(1);
    if (!output.isFile()) return undefined;
    const names = readdirSync('.').filter((name) => /^=?-?(?:\d+\.?\d*|\.\d+)$/.test(name));
    return names.find((name) => {
      const { dev, ino } = statSync(name);
      return dev === output.dev && ino === output.ino;
    });
  } catch {
    // A closed stdout or an unreadable folder is not a redirection.
    return undefined;
  }
}

/** An input: a path, or the files of a data set; undefined if the input is not given. */
type Input = string | FoundFiles | undefined;

/**
 * Checks that no output overwrites an input file or replaces a folder that contains an input file.
 * @throws {ConfigValidationError} if an output would replace an input; the message names both
 */
function assertInputsKept(outputs: readonly string[], inputs: readonly Input[]): void {
  if (outputs.length === 0) return;
  const paths = inputs.flatMap((input) => {
    if (typeof input === 'object') return input.files.map(({ path }) => path);
    return input ?? [];
  });
  const locations = paths.map(realPath);
  for (const output of outputs) {
    const place = realPath(output);
    const input = paths[locations.findIndex((location) => holds(place, location))];
    if (input === undefined || output === '') continue;
    throw new ConfigValidationError(`The output '${output}' would replace the input '${input}'.`, {
      context: { output, input },
      suggestion: 'Choose another path for the output.',
    });
  }
}

/**
 * Checks before the work starts that all outputs can be written, so that a bad path does not lose the result.
 * @param files paths of output files; undefined if an output is not requested
 * @param inputs paths of input files, which no output must replace
 * @param folders paths of output folders
 */
export async function assertOutputs(
  files: readonly (string | undefined)[],
  inputs: readonly Input[],
  folders: readonly (string | undefined)[] = [],
): Promise<void> {
  const { assertFileWritable } = await import('../io/atomic-write.ts');
  const outputs = [...files, ...folders].filter((path) => path !== undefined);
  assertDistinct(outputs);
  assertInputsKept(outputs, inputs);
  for (const path of files) if (path !== undefined) await assertFileWritable(path);
}

/**
 * Checks that the extension of a file does not belong to another format.
 * @throws {ConfigValidationError} if the extension belongs to another format; the message names the option
 */
export function assertExtension(option: string, path: string | undefined, form: 'Markdown' | 'JSON'): void {
  if (path === undefined) return;
  const own = form === 'JSON' ? '.json' : '.md';
  const extension = extname(path).toLowerCase();
  if (extension === own || !KNOWN_EXTENSIONS.includes(extension)) return;
  throw new ConfigValidationError(`${option} writes ${form}, but '${path}' ends in ${extension}.`, {
    context: { option, path },
    suggestion: `End the name in ${own}.`,
  });
}

/**
 * Returns the format in which a table is written, from the extension of the path. The format is CSV for a path without
 * an extension, for example /dev/stdout.
 * @throws {ConfigValidationError} if the extension is not supported; the message names the option
 */
export async function outputTableFormat(option: string, path: string): Promise<TableFormat> {
  const { findTableFormat, TABLE_EXTENSIONS } = await import('../io/write-table.ts');
  const format = extname(path) === '' ? 'csv' : findTableFormat(path);
  if (format !== undefined) return format;
  throw new ConfigValidationError(`${option} must end in ${TABLE_EXTENSIONS}. Got '${path}' instead.`, {
    context: { option, path },
    suggestion: 'The extension determines the format of the file.',
  });
}

/** Extensions that belong to a format. */
const KNOWN_EXTENSIONS = '.csv .gz .htm .html .json .md .parquet .pdf .png .svg .tsv .yaml .yml'.split(' ');

function holds(location: string, other: string): boolean {
  return other === location || other.startsWith(location.endsWith(sep) ? location : location + sep);
}

/**
 * Resolves the symbolic links in the existing part of a path. The path of a device or pipe stays unchanged, because
 * writing to it replaces no file.
 */
export function realPath(path: string): string {
  const location = resolve(path);
  try {
    const found = statSync(location);
    return found.isFile() || found.isDirectory() ? realpathSync.native(location) : location;
  } catch {
    const folder = dirname(location);
    return folder === location ? location : join(realPath(folder), basename(location));
  }
}

/** The formats of a report, by their extensions. */
type ReportForm = 'md' | 'json' | 'html';

/** The renderers of a report by format. Only the requested formats are rendered. */
interface ReportForms extends Readonly<Record<ReportForm, () => string | Promise<string>>> {
  /** Returns the report as a table, if it can be written as one. */
  readonly table?: () => Table | Promise<Table>;
}

/** Options of {@link reportWriter}. */
interface ReportWriterOptions {
  /**
   * Whether the report can be written as a table, in the formats of `writeTable`.
   * @defaultValue false
   */
  readonly takesTables?: boolean;
  /**
   * Whether texts that a spreadsheet would run as formulas are written unchanged.
   * @defaultValue false
   */
  readonly raw?: boolean | undefined;
}

/** Returns the renderers of a report that says where it comes from; `body` is the report as JSON. */
export function reportForms(report: ReportDocument, body: object, provenance: Provenance | undefined): ReportForms {
  const document = { ...report, provenance };
  return {
    md: async () => (await import('../document/document-to-markdown.ts')).documentToMarkdown(document),
    html: async () => (await import('../document/document-to-html.ts')).documentToHtml(document),
    json: () => `${JSON.stringify(body, undefined, 2)}\n`,
  };
}

/** Writes a report in each format that has a path. */
export async function writeForms(
  forms: ReportForms,
  paths: Readonly<Partial<Record<ReportForm, string | undefined>>>,
): Promise<void> {
  const { writeFileAtomic } = await import('../io/atomic-write.ts');
  for (const [form, path] of Object.entries(paths) as [ReportForm, string | undefined][]) {
    if (path !== undefined) await writeFileAtomic(path, await forms[form]());
  }
}

/**
 * Checks the extensions of reports before the work starts. {@link assertOutputs} checks their paths.
 * @param out the paths of the reports, one for each format
 * @returns a function that writes each report in the format of its extension; undefined if no report is requested
 * @throws {DataValidationError} if an extension is not supported
 */
export async function reportWriter(
  out: readonly string[] | undefined,
  { takesTables = false, raw }: ReportWriterOptions = {},
): Promise<((forms: ReportForms) => Promise<void>) | undefined> {
  if (out === undefined) return undefined;
  const [{ writeFileAtomic }, { findTableFormat, TABLE_EXTENSIONS, writeTableAs }, { DataValidationError }] =
    await Promise.all([
      import('../io/atomic-write.ts'),
      import('../io/write-table.ts'),
      import('../exceptions/index.ts'),
    ]);
  const reports = out.map((path) => {
    const form = /\.(md|json|html)$/i.exec(path)?.[1]?.toLowerCase() as ReportForm | undefined;
    const table = takesTables ? findTableFormat(path) : undefined;
    if (form !== undefined || table !== undefined) return { path, form, table };
    throw new DataValidationError(`A report cannot be written as '${path}'.`, {
      code: 'unwritable-file',
      context: { path },
      suggestion: `End the name in ${takesTables ? `.html, .md, .json, ${TABLE_EXTENSIONS}` : '.html, .md or .json'}.`,
    });
  });
  return async (forms) => {
    for (const { path, form, table } of reports) {
      if (form !== undefined) await writeFileAtomic(path, await forms[form]());
      else if (table !== undefined && forms.table !== undefined)
        await writeTableAs(path, await forms.table(), table, { raw });
    }
  };
}

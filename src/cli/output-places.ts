import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';

import { ConfigValidationError } from '../exceptions/index.ts';
import type { TableFormat } from '../io/write-table.ts';

/**
 * Checks that several outputs have places of their own: two results at one
 * place, or one inside another, would undo each other.
 * @throws {ConfigValidationError} naming the two
 */
export function assertApart(paths: readonly string[]): void {
  const places = paths.map(realPlace);
  for (const [index, place] of places.entries()) {
    const clash = places.findIndex((other, at) => at !== index && holds(place, other));
    if (clash < 0) continue;
    throw new ConfigValidationError(
      `The outputs '${paths[index] ?? ''}' and '${paths[clash] ?? ''}' are in each other's place.`,
      { context: { paths }, suggestion: 'Name a place of its own for each.' },
    );
  }
}

/**
 * Checks that no output is written over a file that is read, or is a folder
 * that would be replaced with such a file in it.
 * @throws {ConfigValidationError} naming the two
 */
export function assertInputsKept(outputs: readonly string[], inputs: readonly (string | undefined)[]): void {
  for (const output of outputs) {
    const input = inputs.find((path) => path !== undefined && holds(realPlace(output), realPlace(path)));
    if (input === undefined || output === '') continue;
    throw new ConfigValidationError(`The output '${output}' would replace the input '${input}'.`, {
      context: { output, input },
      suggestion: 'Name another place for the output.',
    });
  }
}

/**
 * Checks that a file of one form is not called by the extension of another.
 * @throws {ConfigValidationError} naming the option
 */
export function assertExtension(option: string, path: string, form: 'Markdown' | 'JSON'): void {
  const own = form === 'JSON' ? '.json' : '.md';
  const extension = extname(path).toLowerCase();
  if (extension === own || !KNOWN_EXTENSIONS.includes(extension)) return;
  throw new ConfigValidationError(`${option} writes ${form}, which '${path}' does not say.`, {
    context: { option, path },
    suggestion: `End the name in ${own}.`,
  });
}

/**
 * The form in which a table is written: that of the path's extension. A path
 * without one, such as /dev/stdout, gets CSV.
 * @throws {ConfigValidationError} for another extension, naming the option
 */
export async function outputTableFormat(option: string, path: string): Promise<TableFormat> {
  const { findTableFormat, TABLE_EXTENSIONS } = await import('../io/write-table.ts');
  const format = extname(path) === '' ? 'csv' : findTableFormat(path);
  if (format !== undefined) return format;
  throw new ConfigValidationError(`${option} must end in ${TABLE_EXTENSIONS}. Got '${path}' instead.`, {
    context: { option, path },
    suggestion: 'The extension names the form of the file.',
  });
}

/** Whether two paths lead to one place, through links too. */
export function isSamePlace(one: string, other: string): boolean {
  return realPlace(one) === realPlace(other);
}

/** Extensions that promise a form. */
const KNOWN_EXTENSIONS = '.csv .gz .htm .html .json .md .parquet .pdf .png .svg .tsv .yaml .yml'.split(' ');

function holds(place: string, other: string): boolean {
  return other === place || other.startsWith(place.endsWith(sep) ? place : place + sep);
}

/** A path without links, as far as it exists. A device or pipe stays as it is called: nothing there is replaced. */
function realPlace(path: string): string {
  const place = resolve(path);
  try {
    const found = statSync(place);
    return found.isFile() || found.isDirectory() ? realpathSync.native(place) : place;
  } catch {
    const folder = dirname(place);
    return folder === place ? place : join(realPlace(folder), basename(place));
  }
}

/** The forms of a report, each made only where it is asked for. */
type ReportForms = Readonly<Record<'md' | 'json' | 'html', () => string | Promise<string>>>;

/**
 * Checks before the work that a report can be written, so that its result is not lost to a bad path.
 * @param inputs files that are read, which it must not replace
 * @returns what writes it, in the form of its extension; undefined where none is asked for
 * @throws {DataValidationError} for another extension, or a place that cannot be written
 */
export async function reportWriter(
  out: string | undefined,
  inputs: readonly (string | undefined)[] = [],
): Promise<((forms: ReportForms) => Promise<void>) | undefined> {
  if (out === undefined) return undefined;
  const [{ assertFileWritable, writeFileAtomic }, { DataValidationError }] = await Promise.all([
    import('../io/atomic-write.ts'),
    import('../exceptions/index.ts'),
  ]);
  const form = /\.(md|json|html)$/i.exec(out)?.[1]?.toLowerCase() as keyof ReportForms | undefined;
  if (form === undefined) {
    throw new DataValidationError(`A report cannot be written as '${out}'.`, {
      code: 'unwritable-file',
      context: { path: out },
      suggestion: 'End the name in .html, .md or .json.',
    });
  }
  assertInputsKept([out], inputs);
  await assertFileWritable(out);
  return async (forms) => writeFileAtomic(out, await forms[form]());
}

/** Markdown reads well on a terminal but for its bold marks and escapes. */
export function terminalText(markdown: string): string {
  return markdown
    .replaceAll(/(?<!\\)\*\*/g, '')
    .replaceAll(/\\([\\`*_|<>[\]~&#+=.)-])/g, '$1')
    .trimEnd();
}

import { FairnessToolkitError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import { csvHeader, repeatedIdentifier, type RepeatedIdentifier, splitFields } from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';

/** The bytes at the start of a file that are read. */
const START_BYTES = 512 * 1024;

const LINE_FEED = 10;

/**
 * Finds columns that look like identifiers with several rows each, in the first rows of a CSV file. Rows of one person are
 * usually not independent.
 * @param used the columns whose role is known
 * @returns an empty list if the file is not CSV, or cannot be read
 */
export async function findRepeatedIdentifiers(
  { files }: FoundFiles,
  used: ReadonlySet<string>,
): Promise<readonly RepeatedIdentifier[]> {
  const [file] = files;
  if (file === undefined) return [];
  try {
    const isGzipped = file.path.endsWith('.gz');
    const bytes = await readStart(file.path, isGzipped, START_BYTES);
    const isWhole = bytes.length < START_BYTES;
    // The start may end within a line, and within a character.
    const text = decodeUtf8(isWhole ? bytes : bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1), file.path);
    if (formatOf(isGzipped ? file.path.slice(0, -3) : file.path, text.slice(0, 4)) !== 'csv') return [];
    return identifiersIn(file.path, text, used);
  } catch (error) {
    // A file that cannot be read is an error elsewhere; this is only advice.
    if (FairnessToolkitError.isInstance(error) || (error instanceof Error && 'code' in error)) return [];
    throw error;
  }
}

function identifiersIn(title: string, text: string, used: ReadonlySet<string>): readonly RepeatedIdentifier[] {
  const { names, delimiter, lineEnd } = csvHeader(title, text);
  const rows = text
    .split(lineEnd)
    .slice(1)
    .filter((line) => line !== '');
  const values = names.map(() => new Map<string, number>());
  for (const line of rows) {
    splitFields(line, delimiter).forEach((value, column) => {
      if (value !== '') values[column]?.set(value, (values[column].get(value) ?? 0) + 1);
    });
  }
  return names.flatMap((name, column) => {
    const found = used.has(name) ? undefined : repeatedIdentifier(name, values[column] as Map<string, number>);
    return found === undefined ? [] : [found];
  });
}

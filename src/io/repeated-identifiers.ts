import { FairnessToolkitError } from '../exceptions/index.ts';
import { decodeUtf8 } from '../internal/decode-utf8.ts';
import type { FoundFiles } from '../schemas/data-source.ts';
import { csvHeader, splitFields } from '../table/index.ts';
import { readStart } from './csv-header.ts';
import { formatOf } from './data-format.ts';

/** A column whose values look like the names of people or things that have several rows each. */
export interface RepeatedIdentifier {
  readonly name: string;
  /** The mean number of rows of a value, in the rows that were read. */
  readonly meanCount: number;
}

/** The bytes at the start of a file that are read. */
const START_BYTES = 512 * 1024;

const LINE_FEED = 10;

/** Names of columns that usually say to whom or to what a row belongs. */
const IDENTIFIER_NAME =
  /(^|[^a-z])(id|ids|uuid|guid|person|user|customer|client|patient|applicant|candidate|employee|student|pupil|household|family|school|hospital|session|account|participant|subject)([^a-z]|$)|[a-z](Id|ID)$/i;

/** Names of columns whose numbers say to whom a row belongs: an identifier, or nothing but the name of a unit. */
const NUMBERED_NAME =
  /(^|[^a-z])(id|ids|uuid|guid|key|code|number|no|nr)([^a-z]|$)|[a-z](Id|ID)$|^(person|user|customer|client|patient|applicant|candidate|employee|student|pupil|household|family|school|hospital|session|account|participant|subject)s?$/i;

/** Matches numbers with points or commas. */
const NUMBER = /^\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*$/i;

/** The smallest mean number of rows of a value, and the smallest number of different values. */
const MIN_MEAN_COUNT = 1.5;
const MIN_VALUES = 10;
/** Without a telling name: the smallest number of different texts, and of different texts for each row. */
const MIN_TEXTS = 50;
const MIN_TEXT_SHARE = 0.05;

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
  return names.flatMap((name, column): RepeatedIdentifier[] => {
    const counts = values[column] as Map<string, number>;
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const meanCount = total / counts.size;
    if (used.has(name) || !(meanCount >= MIN_MEAN_COUNT)) return [];
    const areTexts = ![...counts.keys()].every((value) => NUMBER.test(value));
    // Numbers such as the age of a patient, or amounts, repeat too, but belong to no one.
    const isNamed = IDENTIFIER_NAME.test(name) && (areTexts || isNumbering(name, [...counts.keys()]));
    const isIdentifier = isNamed
      ? counts.size >= MIN_VALUES
      : areTexts && counts.size >= Math.max(MIN_TEXTS, MIN_TEXT_SHARE * total);
    return isIdentifier ? [{ name, meanCount }] : [];
  });
}

/** Returns whether numbers are numbers of people or things: integers in a column with such a name. */
function isNumbering(name: string, values: readonly string[]): boolean {
  return NUMBERED_NAME.test(name) && values.every((value) => Number.isInteger(Number(value)));
}

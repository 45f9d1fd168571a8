import { decodeUtf8 } from '../internal/decode-utf8.ts';
import { parseObject } from '../internal/values.ts';
import { columnToArray, takeRows } from './column.ts';
import { csvHeader, splitFields } from './csv-reader.ts';
import { MISSING_TEXTS } from './missing-values.ts';
import type { Table } from './table.ts';

/** A column whose values look like the names of people or things that have several rows each. */
export interface RepeatedIdentifier {
  readonly name: string;
  /** The mean number of rows of a value. */
  readonly meanCount: number;
  /** Whether the name of the column says that the values are identifiers, and not, for example, cities of patients. */
  readonly isNamed: boolean;
}

const IDS = 'ids?|uuid|guid';

/** People and things with several rows each, in English, German, French and Spanish. */
const UNITS = [
  'person|user|customer|client|patient|applicant|candidate|employee|student|pupil|household|family|school|hospital|session|account|participant|subject',
  'kunde|kunden|kundennummer|bewerber|antragsteller|mitarbeiter|schüler|haushalt|schule|krankenhaus|konto|teilnehmer',
  'personne|candidat|demandeur|employé|élève|ménage|école|hôpital|compte',
  'persona|cliente|paciente|candidato|solicitante|empleado|alumno|hogar|escuela|cuenta',
].join('|');

/** Names of columns that usually say to whom or to what a row belongs. */
const UNIT_IN_NAME = wordOf(`${IDS}|${UNITS}`);

/** Names of columns of numbers that say to whom a row belongs: the name of an identifier, or only the name of a unit. */
const NUMBER_IN_NAME = wordOf(`${IDS}|key|code|number|no|nr`);
const UNIT_NAME = new RegExp(`^(${UNITS})s?$`, 'i');

/** Matches applicantId, but not paid. */
const CAMEL_CASE_ID = /[a-z](?:Id|ID)$/;

/** Matches numbers with points or commas, and percentages. */
const NUMBER = /^\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*%?\s*$/i;

/** Matches numbers with a fraction that is not 0, and percentages. */
const FRACTION = /^\s*[-+]?\d*(?:[.,]\d*[1-9]\d*|[\d.,]*\d[.,]?\s*%)\s*$/;

/** Matches dates, with or without a time, and times. */
const DATE_OR_TIME = /^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2}:\d{2})(?![-\d])/;

/** The smallest mean number of rows of a value, and the smallest number of different values. */
const MIN_MEAN_COUNT = 1.5;
const MIN_VALUES = 10;
/** Without a telling name: the smallest number of different texts, and of different texts for each row. */
const MIN_TEXTS = 50;
const MIN_TEXT_SHARE = 0.05;
/** The maximum length of an identifier. The patterns take quadratic time for long numbers. */
const MAX_LENGTH = 200;

/**
 * Returns a column if its values look like identifiers with several rows each. Rows of one person are usually not
 * independent.
 * @param counts the number of rows of each value. Texts that often mean a missing value are ignored
 */
export function repeatedIdentifier(name: string, counts: ReadonlyMap<string, number>): RepeatedIdentifier | undefined {
  const known = [...counts].filter(([value]) => !MISSING_TEXTS.includes(value));
  const values = known.map(([value]) => value);
  const total = known.reduce((sum, [, count]) => sum + count, 0);
  const meanCount = total / values.length;
  if (!(meanCount >= MIN_MEAN_COUNT) || values.some(({ length }) => length > MAX_LENGTH)) return undefined;
  // Rounded scores and percentages repeat too, and may stand beside other texts, such as 'unknown'.
  if (areMostly(values, FRACTION) || areMostly(values, DATE_OR_TIME)) return undefined;
  // Texts such as 'k. A.' among numbers mean a missing value.
  const areTexts = !areMostly(values, NUMBER);
  const isNamed = namesIdentifiers(name);
  // Numbers such as the age of a patient, or amounts, repeat too, but belong to no one.
  const isTelling = areTexts
    ? UNIT_IN_NAME.test(name) || CAMEL_CASE_ID.test(name)
    : isNamed && values.every((value) => !NUMBER.test(value) || Number.isInteger(Number(value)));
  const isIdentifier = isTelling
    ? values.length >= MIN_VALUES
    : areTexts && values.length >= Math.max(MIN_TEXTS, MIN_TEXT_SHARE * total);
  return isIdentifier ? { name, meanCount, isNamed } : undefined;
}

/** The number of bytes at the start of a CSV file in which identifiers are searched. */
export const IDENTIFIER_BYTES = 512 * 1024;

const LINE_FEED = 10;

/** Rows at the start of a file as texts. */
export interface FirstRows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The decimal separator of numbers. */
  readonly decimal: '.' | ',' | undefined;
  /** Whether the names are the first line of a text file. */
  readonly hasLineOfNames: boolean;
}

/**
 * Finds columns that look like identifiers with several rows each.
 * @param used the columns whose role is known
 */
export function repeatedIdentifiersIn(
  { names, rows }: FirstRows,
  used: ReadonlySet<string>,
): readonly RepeatedIdentifier[] {
  return names.flatMap((name, column) => {
    const found = used.has(name) ? undefined : repeatedIdentifier(name, countsOf(rows, column));
    return found === undefined ? [] : [found];
  });
}

/** The smallest share of rows that repeat an identifier. */
const MIN_REPEATED_SHARE = 0.01;

/** Finds columns of identifiers by their names, in which fewer rows repeat a value than in a repeated identifier. */
export function partlyRepeatedIn(
  { names, rows }: FirstRows,
  used: ReadonlySet<string>,
): readonly { readonly name: string; readonly repeated: number }[] {
  return names.flatMap((name, column) => {
    if (used.has(name) || !namesIdentifiers(name)) return [];
    const counts = countsOf(rows, column);
    const known = [...counts].filter(([value]) => !MISSING_TEXTS.includes(value));
    const total = known.reduce((sum, [, count]) => sum + count, 0);
    const repeated = total - known.length;
    const isPart = repeated >= MIN_REPEATED_SHARE * total && total < MIN_MEAN_COUNT * known.length;
    return repeated > 0 && isPart ? [{ name, repeated }] : [];
  });
}

/** Counts the rows of each value of a column. */
function countsOf(rows: FirstRows['rows'], column: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const value = row[column];
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/**
 * Returns the rows at the start of a CSV file as texts.
 * @param title the name of the file in errors
 * @param start the first {@link IDENTIFIER_BYTES} bytes, decompressed
 * @throws {DataValidationError} if the bytes are not UTF-8, or have no header
 */
export function firstRowsOf(title: string, start: Uint8Array, decimal: FirstRows['decimal']): FirstRows {
  const text = completeLines(title, start);
  const { names, delimiter, lineEnd } = csvHeader(title, text, decimal);
  const lines = text.split(lineEnd).slice(1);
  const rows = lines.filter((line) => line !== '').map((line) => splitFields(line, delimiter));
  return { names, rows, decimal, hasLineOfNames: true };
}

/** Returns the text of the complete lines at the start of a file, which may end within a line, and within a character. */
function completeLines(title: string, start: Uint8Array): string {
  const isComplete = start.length < IDENTIFIER_BYTES;
  return decodeUtf8(isComplete ? start : start.subarray(0, start.lastIndexOf(LINE_FEED) + 1), title);
}

/**
 * Returns the rows at the start of a file with one JSON object per line as texts. A missing value is an empty text.
 * @param start the first {@link IDENTIFIER_BYTES} bytes, decompressed
 * @returns undefined if a line is no object, which is an error elsewhere
 */
export function firstObjectsOf(title: string, start: Uint8Array): FirstRows | undefined {
  const lines = completeLines(title, start)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const objects = lines.map(parseObject);
  if (!objects.every((object) => object !== undefined)) return undefined;
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const textOf = (value: unknown): string => (value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)); // prettier-ignore
  const rows = objects.map((object) => names.map((name) => textOf(object[name])));
  return { names, rows, decimal: undefined, hasLineOfNames: false };
}

/** The maximum number of rows of a table in which identifiers are searched. */
const MAX_TABLE_ROWS = 10_000;

/** Returns the first rows of columns of a table as texts. A missing value is an empty text. */
export function firstRowsOfTable(table: Table, names: readonly string[]): FirstRows {
  const rows = Int32Array.from({ length: Math.min(table.rowCount, MAX_TABLE_ROWS) }, (_, row) => row);
  const columns = names.map((name) => columnToArray(takeRows(table.column(name), rows)));
  const texts = Array.from(rows, (row) => columns.map((values) => String(values[row] ?? '')));
  return { names, rows: texts, decimal: undefined, hasLineOfNames: false };
}

/** Returns whether the name of a column says that its numbers are those of people or things. */
export function namesIdentifiers(name: string): boolean {
  return CAMEL_CASE_ID.test(name) || UNIT_NAME.test(name) || (UNIT_IN_NAME.test(name) && NUMBER_IN_NAME.test(name));
}

function areMostly(values: readonly string[], pattern: RegExp): boolean {
  return values.filter((value) => pattern.test(value)).length > values.length / 2;
}

function wordOf(words: string): RegExp {
  return new RegExp(`(^|[^a-z])(${words})([^a-z]|$)`, 'i');
}

import { canonicalLabel } from '../internal/label-text.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import type { Column } from './column.ts';
import { withPoints } from './decimal-commas.ts';
import { sortLabels } from './encode-labels.ts';

/** How the texts of a column are read. */
export interface TextColumnOptions {
  /**
   * The decimal separator of numbers.
   * @defaultValue '.'
   */
  readonly decimal?: '.' | ',' | undefined;
  /**
   * Whether texts are kept, even if there are many different numbers. A column that turned out to hold other texts too
   * is read again with this option.
   * @defaultValue false
   */
  readonly keepsTexts?: boolean | undefined;
}

/** The number of different texts above which a column of numbers keeps only its numbers. */
const MAX_TEXTS = 20_000;

/**
 * Collects the texts of a column, as they are written in a text file, and gives the column that DuckDB reads: numbers if
 * every text is a number, otherwise labels. An empty text is a missing value.
 */
export class TextColumn {
  /** Whether the column must be read again with `keepsTexts`, because a text followed after only numbers were kept. */
  hasLostText = false;
  readonly #options: TextColumnOptions;
  readonly #codeOf = new Map<string, number>([['', -1]]);
  readonly #texts: string[] = [];
  #codes = new Int32Array(1024);
  #numbers: Float64Array<ArrayBuffer> | undefined;
  #length = 0;

  constructor(options: TextColumnOptions = {}) {
    this.#options = options;
  }

  /** Adds the text of the next row. */
  add(text: string): void {
    if (this.#numbers !== undefined) {
      this.#addNumber(text, this.#numbers);
      return;
    }
    let code = this.#codeOf.get(text);
    if (code === undefined) {
      code = this.#texts.length;
      this.#codeOf.set(text, code);
      this.#texts.push(text);
    }
    const row = this.#length++;
    if (row === this.#codes.length) {
      const codes = new Int32Array(2 * row);
      codes.set(this.#codes);
      this.#codes = codes;
    }
    this.#codes[row] = code;
    if (code === MAX_TEXTS) this.#dropTexts();
  }

  /** Keeps only numbers from now on, if all texts are numbers that need no texts. */
  #dropTexts(): void {
    if (this.#options.keepsTexts === true) return;
    const numberOf = this.#texts.map((text) => this.#numberOf(text));
    if (numberOf.includes(undefined) || this.#texts.some((text) => CODED.test(text))) return;
    const numbers = new Float64Array(this.#codes.length);
    for (let row = 0; row < this.#length; row++) numbers[row] = numberOf[this.#codes[row] as number] ?? NaN;
    this.#numbers = numbers;
    this.#codeOf.clear();
    this.#codes = new Int32Array();
  }

  #addNumber(text: string, numbers: Float64Array<ArrayBuffer>): void {
    const value = text === '' ? NaN : this.#numberOf(text);
    if (value === undefined || CODED.test(text)) this.hasLostText = true;
    const row = this.#length++;
    if (row === numbers.length) {
      this.#numbers = new Float64Array(2 * row);
      this.#numbers.set(numbers);
      this.#numbers[row] = value ?? NaN;
    } else numbers[row] = value ?? NaN;
  }

  #numberOf(text: string): number | undefined {
    return numberOfCell(text, this.#options.decimal);
  }

  /** Whether the column can be read as group names; otherwise it must be read again with `keepsTexts`. */
  get hasTexts(): boolean {
    return this.#numbers === undefined;
  }

  /**
   * Returns the column.
   * @param name the name of the column in errors
   * @param isLabel whether the column names groups. Such a column keeps its texts if a conversion to numbers would change
   *   a label
   * @throws {DataValidationError} if numbers have decimal commas, and a number contains a point
   */
  finish(name: string, isLabel = false): Column {
    if (this.#numbers !== undefined) return { kind: 'numeric', values: this.#numbers.slice(0, this.#length) };
    const codes = this.#codes.slice(0, this.#length);
    const { decimal = '.' } = this.#options;
    const texts = this.#texts;
    const numbers = texts.map((text) => this.#numberOf(text));
    const areNumbers = texts.length > 0 && !numbers.includes(undefined) && !isMixed(texts);
    if (areNumbers && !(isLabel && texts.some(changesAsNumber))) {
      return { kind: 'numeric', values: Float64Array.from(codes, (code) => numbers[code] ?? NaN) };
    }
    const column = labelsOf(codes, texts, (text) => areNumbers && isNan(text));
    return decimal === ',' && !isLabel ? withPoints(name, column) : column;
  }
}

/** Returns a column of labels, without the marks for spreadsheets. */
function labelsOf(codes: Int32Array, texts: readonly string[], isMissing: (text: string) => boolean): Column {
  const codeOfLabel = new Map<string, number>();
  const codeOfText = texts.map((text) => {
    if (isMissing(text)) return -1;
    const label = unmarkCell(text);
    const code = codeOfLabel.get(label) ?? codeOfLabel.size;
    codeOfLabel.set(label, code);
    return code;
  });
  return sortLabels(
    codes.map((code) => codeOfText[code] ?? -1),
    [...codeOfLabel.keys()],
  );
}

const SHORTEST_LOSSY = 16;

/** Matches numbers whose label does not change if they are read as float64. */
const PLAIN_NUMBER = /^[ \t]*-?(?:0|[1-9]\d*)?(?:\.\d*)?[ \t]*$/;

/** Returns whether the label of a number changes if it is read as float64. NaN means a missing value. */
function changesAsNumber(text: string): boolean {
  if (isNan(text) || (text.length < SHORTEST_LOSSY && PLAIN_NUMBER.test(text))) return false;
  return canonicalLabel(text) !== String(Number(text));
}

function isNan(text: string): boolean {
  return text.trim().toLowerCase() === 'nan';
}

/** Matches an integer that DuckDB recognises in text files: without a plus sign and leading zeros. */
const INTEGER = /^[ \t\n\v\f\r]*(?:-\d+|0|[1-9]\d*)[ \t\n\v\f\r]*$/;

/** Matches a decimal number that DuckDB recognises in text files. No white space may follow. */
const FRACTION = /^[ \t\n\v\f\r]*(?:-\d+|0|[1-9]\d*|-?(?=\.\d))(?:\.\d*)?(?:[eE][+-]?\d+)?$/;

/** Matches integers that DuckDB recognises only if a column has no fractions: hexadecimal and binary digits. */
const CODED = /^0(?:x[\da-f]{1,15}|b[01]{1,63})$/i;

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', NaN],
  ['-nan', NaN],
  ['inf', Infinity],
  ['infinity', Infinity],
  ['-inf', -Infinity],
  ['-infinity', -Infinity],
]);

/**
 * Returns the number in a cell of a text file, by the rules of DuckDB; undefined if the cell contains another text.
 * @param decimal with a comma, a number that contains a point is not a number
 */
export function numberOfCell(cell: string, decimal: '.' | ',' = '.'): number | undefined {
  if (decimal === ',' && cell.includes('.')) return undefined;
  const number = decimal === ',' ? cell.replace(',', '.') : cell;
  if (FRACTION.test(number) || INTEGER.test(number) || CODED.test(number)) {
    const value = Number(number);
    return value === 0 ? 0 : value;
  }
  return SPECIAL.get(number.trimStart().toLowerCase());
}

/** Returns whether a column of numbers mixes digits of another base with fractions, which makes it a column of texts. */
function isMixed(texts: readonly string[]): boolean {
  return texts.some((text) => CODED.test(text)) && !texts.every((text) => CODED.test(text) || INTEGER.test(text));
}

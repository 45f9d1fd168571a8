import { losesDigits } from './label-text.ts';

/** A problem in a JSON text that `JSON.parse` does not report. */
export interface JsonProblem {
  /** The JSON pointer of the value with the problem. */
  readonly pointer: string;
  /** The description of the problem. It follows the pointer in a sentence. */
  readonly reason: string;
  readonly suggestion: string;
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** An object or array that the parser has entered but not yet left. */
interface Frame {
  /** The keys seen so far; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** The key of the current value. */
  key: string;
  /** The index of the current value. */
  index: number;
}

const [QUOTE, COMMA, MINUS, COLON, BACKSLASH] = [0x22, 0x2c, 0x2d, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The minimum number of characters of a number that may lose digits as a float64. A shorter number without an exponent
 * has at most 15 digits, and float64 can represent it exactly.
 */
const SHORTEST_LOSSY = 16;

/**
 * Finds data that `JSON.parse` would silently change. The first case is a duplicate key in an object: `JSON.parse`
 * would keep only the last value. The second case is a number with too many digits for float64 that is a group label or
 * an id: two labels could become equal. The text is read once, in O(characters).
 * @param text a JSON text that `JSON.parse` has accepted
 * @param labelKeys the top-level keys whose numbers are labels or ids
 * @returns the first problem, or undefined if there is none
 */
export function findJsonProblem(text: string, labelKeys: ReadonlySet<string> = NO_KEYS): JsonProblem | undefined {
  const frames: Frame[] = [];
  let top: Frame | undefined;
  let isLabel = false;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      const end = endOfString(text, position);
      if (top?.keys !== undefined && isKey(text, end)) {
        const key = readKey(text, position, end);
        top.key = key;
        if (frames.length === 1) isLabel = labelKeys.has(key);
        if (top.keys.has(key)) return repeatedKey(frames);
        top.keys.add(key);
      }
      position = end;
    } else if (code === COMMA) {
      if (top?.keys === undefined && top !== undefined) top.index++;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      top = { keys: code === OPEN_OBJECT ? new Set() : undefined, key: '', index: 0 };
      frames.push(top);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      frames.pop();
      top = frames.at(-1);
    } else if (code === MINUS || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, position);
      if (isLabel && mayLose(text, position, end) && losesDigits(text.slice(position, end))) {
        return roundedNumber(frames, text.slice(position, end));
      }
      position = end - 1;
    }
  }
  return undefined;
}

/**
 * Returns whether brackets in a text are nested deeper than allowed. The text does not need to be valid JSON. The time
 * is O(characters), and less for a text with few brackets.
 */
export function isNestedDeeper(text: string, maxDepth: number): boolean {
  if (!['[', '{'].some((bracket) => occursOften(text, bracket, maxDepth / 2))) return false;
  let depth = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) position = endOfString(text, position);
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++;
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

function occursOften(text: string, character: string, count: number): boolean {
  let position = -1;
  for (let found = 0; found <= count; found++) {
    position = text.indexOf(character, position + 1);
    if (position === -1) return false;
  }
  return true;
}

/**
 * Parses JSON and rejects duplicate keys. `JSON.parse` would keep only the last value of a duplicate key.
 * @throws {SyntaxError} if the text is not JSON, or an object has a duplicate key
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const problem = findJsonProblem(text);
  if (problem === undefined) return value;
  throw new SyntaxError(`${problem.pointer} ${problem.reason}`, { cause: problem });
}

/**
 * Returns why {@link parseStrictJson} rejected a text: the message about a duplicate key, or `otherwise` for other
 * errors.
 */
export function jsonReason(error: unknown, otherwise: string): string {
  return error instanceof SyntaxError && error.cause !== undefined ? error.message : otherwise;
}

/** Returns the index of the quotation mark that ends a string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** Returns whether a colon follows a string, so that the string is a key. */
function isKey(text: string, end: number): boolean {
  let next = end + 1;
  while (text.charCodeAt(next) <= 0x20) next++;
  return text.charCodeAt(next) === COLON;
}

function readKey(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end);
  return key.includes('\\') ? (JSON.parse(text.slice(start, end + 1)) as string) : key;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (;;) {
    const code = text.charCodeAt(end);
    // The characters of a number: digits, and . + - e E
    const isPart = (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === MINUS;
    if (!isPart && code !== 0x65 && code !== 0x45) return end;
    end++;
  }
}

function mayLose(text: string, start: number, end: number): boolean {
  return end - start >= SHORTEST_LOSSY || /[eE]/.test(text.slice(start, end));
}

function pointerOf(frames: readonly Frame[]): string {
  const parts = frames.map(({ keys, key, index }) => (keys === undefined ? String(index) : key));
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function repeatedKey(frames: readonly Frame[]): JsonProblem {
  return {
    pointer: pointerOf(frames),
    reason: 'occurs twice, so that one of its values would be ignored',
    suggestion: 'Send each key once.',
  };
}

function roundedNumber(frames: readonly Frame[], number: string): JsonProblem {
  return {
    pointer: pointerOf(frames),
    reason: `is the number ${number.slice(0, 60)}, which is a group label or an id and has more digits than a JSON number keeps`,
    suggestion: `Send it as text: "${number.slice(0, 60)}".`,
  };
}
